// Package state has the words of the work of a day: what a run depends on, as data.
//
// A State is taken at the begin of each run (package snapshot), kept by content
// (package store), compared by meaning (package difference), brought back (package
// work) and written down for the team (package ledger).
package state

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
)

// Version is the version of the JSON form of a State; readers refuse a larger one.
const Version = 1

// A State is all that a run depends on, on each host.
type State struct {
	Version     int                 `json:"version"`
	Run         iikanji.RunID       `json:"run,omitempty"`
	Ends        iikanji.RunID       `json:"ends,omitempty"` // first run of the search that left this state; Run is its last one
	At          time.Time           `json:"at"`
	Took        time.Duration       `json:"took_ns"`
	Who         string              `json:"who,omitempty"`
	Fingerprint iikanji.Fingerprint `json:"fingerprint"`
	Hosts       []Host              `json:"hosts"`
}

// Host returns the host of a name.
func (s *State) Host(name string) (*Host, bool) {
	for i := range s.Hosts {
		if s.Hosts[i].Name == name {
			return &s.Hosts[i], true
		}
	}
	return nil, false
}

// Server returns the host on which a service had its tables, and the service there: it may have
// moved between two states.
func (s *State) Server(name string) (*Host, *Service) {
	for i := range s.Hosts {
		if svc, ok := s.Hosts[i].Service(name); ok && svc.Tables != nil {
			return &s.Hosts[i], svc
		}
	}
	return nil, nil
}

// A Host is the part of a State on one machine.
type Host struct {
	Name     string            `json:"name"` // HostRef.Name; "" for this machine
	Machine  Machine           `json:"machine,omitzero"`
	Files    []File            `json:"-"` // sorted by path; a store keeps them by folder
	Services []Service         `json:"services"`
	Sysctl   map[string]string `json:"sysctl,omitempty"`   // by dotted name
	Packages map[string]string `json:"packages,omitempty"` // versions by name
	Units    map[string]Unit   `json:"units,omitempty"`    // of the services, where systemd runs
	Repos    []Repo            `json:"repos,omitempty"`    // the user's git repositories with source
	// Unread are the paths that could not be read, each with the reason.
	Unread map[string]string `json:"unread,omitempty"`
}

// A Machine is what a host is, whatever is on it.
type Machine struct {
	Identity string        `json:"identity,omitempty"` // of its SSH host key and its machine-id
	Kernel   string        `json:"kernel,omitempty"`
	Cores    int           `json:"cores,omitempty"`
	Memory   iikanji.Bytes `json:"memory,omitempty"`
}

// File returns the file of a path.
func (h *Host) File(path string) (File, bool) {
	i, ok := slices.BinarySearchFunc(h.Files, path, func(f File, p string) int {
		switch {
		case f.Path < p:
			return -1
		case f.Path > p:
			return 1
		}
		return 0
	})
	if !ok {
		return File{}, false
	}
	return h.Files[i], true
}

// Service returns the service of a name.
func (h *Host) Service(name string) (*Service, bool) {
	for i := range h.Services {
		if h.Services[i].Name == name {
			return &h.Services[i], true
		}
	}
	return nil, false
}

// A Class is how much of a file is kept.
type Class string

const (
	Text   Class = "text"   // the content, in the private store of its host
	Digest Class = "digest" // large or binary: the digest only
	Secret Class = "secret" // a key, a certificate, an account file, a dump: a keyed digest only
	Link   Class = "link"   // a symbolic link
	// Large is a file too large to be read at each run: size and time are its digest.
	Large Class = "large"
)

// A File is one file.
type File struct {
	Path  string `json:"path"`
	Class Class  `json:"class"`
	// SHA is the SHA-256 of the content, or of what stands for it; Target is where a link
	// leads.
	SHA      string    `json:"sha,omitempty"`
	Target   string    `json:"target,omitempty"`
	Size     int64     `json:"size"`
	Mode     uint32    `json:"mode"`            // the bits of chmod(2)
	Owner    string    `json:"owner,omitempty"` // "uid:gid"
	Modified time.Time `json:"modified"`
	// Changed is when the content, the name or the rights changed last: ctime. An
	// archive or rsync keeps Modified, and nobody can set Changed.
	Changed time.Time `json:"changed"`
}

// Same reports whether two files have the same content and rights.
func (f File) Same(g File) bool {
	return f.Class == g.Class && f.SHA == g.SHA && f.Target == g.Target && f.Mode == g.Mode && f.Owner == g.Owner
}

// A Service is what is known of one service.
type Service struct {
	Name   string         `json:"name"`
	Role   iikanji.Role   `json:"role"`
	Engine iikanji.Engine `json:"engine"`
	Config string         `json:"config,omitempty"`
	Source string         `json:"source,omitempty"` // folder of an app's source
	Loads  []string       `json:"loads,omitempty"`  // folders with the SQL that initialize loads
	Unit   string         `json:"unit,omitempty"`
	// Reads are the configuration files that the service reads, in its order; nil if that
	// is not known.
	Reads []string `json:"reads,omitempty"`
	// Program is that of the first root process; the zero value if none runs.
	Program Program `json:"program,omitzero"`
	// Started is when the oldest root process started, Loaded when the configuration
	// that is in force was read: of nginx, the start of its oldest worker that takes
	// requests.
	Started time.Time `json:"started,omitzero"`
	Loaded  time.Time `json:"loaded,omitzero"`
	// Env are keyed digests of the environment of the process, by name.
	Env map[string]string `json:"env,omitempty"`
	// EnvFiles are the files of which the environment comes.
	EnvFiles []string `json:"env_files,omitempty"`
	// Variables are the global variables of a database server.
	Variables map[string]Variable `json:"variables,omitempty"`
	// Tables are the definitions of the tables by "schema.table", or by
	// "FILE:table" in SQLite files.
	Tables map[string]string `json:"tables,omitempty"`
	// Created is when the server made each table; every ALTER makes it anew.
	Created map[string]time.Time `json:"created,omitempty"`
	// Originals are those of the files that initialize copies over the SQLite files.
	Originals map[string]string `json:"originals,omitempty"`
}

// Compiled reports whether the source of a service becomes a program by a build.
func (s *Service) Compiled() bool {
	switch s.Engine {
	case iikanji.EngineGo, "rust", "java", "scala", "kotlin", "c", "cpp":
		return true
	}
	return false
}

// A Program is the file that a process runs.
type Program struct {
	Path     string    `json:"path"`
	SHA      string    `json:"sha"`
	Modified time.Time `json:"modified"`
	Changed  time.Time `json:"changed"`
	// Replaced: the file on the disk is not the one that runs.
	Replaced bool `json:"replaced,omitempty"`
}

// A Variable is a global variable of a database server.
type Variable struct {
	Value string `json:"value"`
	// Origin is where the value comes from, in the server's words: compile-time, config,
	// sql …; "" if the server does not say it.
	Origin string `json:"origin,omitempty"`
}

// A Unit is what systemd says of a unit.
type Unit struct {
	Enabled string `json:"enabled,omitempty"` // enabled, disabled, static, masked …
	Active  string `json:"active,omitempty"`
	// Stale: its files changed and systemd has not read them again.
	Stale bool `json:"stale,omitempty"`
}

// A Repo is a git repository of the user. iikanji reads it and never writes to it.
type Repo struct {
	Dir    string `json:"dir"`
	Head   string `json:"head"`
	Branch string `json:"branch,omitempty"`
	// Dirty is the SHA-256 of the difference to HEAD; "" for none.
	Dirty string `json:"dirty,omitempty"`
}

// Fingerprinted fills in the fingerprint: it covers what a run depends on, and no time or
// process id.
func (s *State) Fingerprinted() error {
	sum := sha256.New()
	for _, h := range s.Hosts {
		fmt.Fprintf(sum, "host %q %q %q %d %d\n", h.Name, h.Machine.Identity, h.Machine.Kernel, h.Machine.Cores, h.Machine.Memory)
		for _, f := range h.Files {
			fmt.Fprintf(sum, "file %q %s %s %q %o %s\n", f.Path, f.Class, f.SHA, f.Target, f.Mode, f.Owner)
		}
		for _, svc := range h.Services {
			svc.Started, svc.Loaded, svc.Created = time.Time{}, time.Time{}, nil
			svc.Program = Program{Path: svc.Program.Path, SHA: svc.Program.SHA}
			text, err := json.Marshal(svc)
			if err != nil {
				return fmt.Errorf("encoding service %s: %w", svc.Name, err)
			}
			fmt.Fprintf(sum, "service %s\n", text)
		}
		for _, m := range []map[string]string{h.Sysctl, h.Packages} {
			for _, name := range slices.Sorted(maps.Keys(m)) {
				fmt.Fprintf(sum, "%q %q\n", name, m[name])
			}
		}
		for _, name := range slices.Sorted(maps.Keys(h.Units)) {
			fmt.Fprintf(sum, "unit %q %s\n", name, h.Units[name].Enabled)
		}
	}
	s.Fingerprint = iikanji.Fingerprint(hex.EncodeToString(sum.Sum(nil)))
	return nil
}

// InFiles reports whether a service is SQLite files.
func (s *Service) InFiles() bool { return s.Engine == iikanji.EngineSQLite }

// Sum is the digest of a content: its name in a store, and the fingerprint of a file.
func Sum(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
