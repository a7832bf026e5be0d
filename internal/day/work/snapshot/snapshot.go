// Package snapshot takes the state of a host: what a run there depends on.
//
//  1. files.go walks the folders with configuration and source and reads what size, times
//     or inode show as changed since the latest snapshot;
//  2. class.go decides how much of a file is kept: a key, a dump or an account file is
//     known by its digest only;
//  3. services.go reads what runs: programs, environments, when a configuration was
//     loaded, the variables and tables of databases;
//  4. machine.go reads kernel values, packages, units and the user's repositories.
//
// It changes nothing and runs before a load, never during one. What cannot be read is
// named in Host.Unread and is no error: half of a state is better than none.
package snapshot

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/day/work/state"
	"github.com/iikanji/iikanji/internal/day/work/store"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// A Service is a service of the host, as the site describes it.
type Service struct {
	Name   string
	Role   iikanji.Role
	Engine iikanji.Engine
	Config string // main configuration file
	DropIn string
	// EnvFile and ArgsFile are files of iikanji that the service is started with.
	EnvFile, ArgsFile string
	Source            string   // folder of an app's source
	Loads             []string // folders with SQL that initialize loads
	Files             []string // folders of SQLite files
	Originals         string   // folder of the files that initialize copies over them
	Schema            string
	Unit              string
	PIDs              []int
	DB                *sql.DB // nil for other services
}

// Options are what a snapshot is taken of.
type Options struct {
	Host host.Host
	Name string // of the host
	// Folders are taken whole, as /etc; nil takes Usual.
	Folders  []string
	Services []Service
	Now      func() time.Time
}

// Usual are the folders that every snapshot has.
var Usual = []string{"/etc", "/var/spool/cron"}

// Take takes the state of one host. The store has the content of files, and the index that
// tells which ones to read.
func Take(ctx context.Context, o Options, st *store.Store) (state.Host, error) {
	t := &taker{Options: o, ctx: ctx, store: st, out: state.Host{Name: o.Name, Unread: map[string]string{}}, seen: map[string]bool{}}
	t.loadIndex()
	began := o.Now()
	if err := t.services(); err != nil {
		return t.out, err
	}
	if err := t.files(); err != nil {
		return t.out, err
	}
	t.machine()
	if err := ctx.Err(); err != nil {
		return t.out, fmt.Errorf("taking the state of the host: %w", err)
	}
	if len(t.out.Unread) == 0 {
		t.out.Unread = nil
	}
	slices.SortFunc(t.out.Files, func(a, b state.File) int {
		switch {
		case a.Path < b.Path:
			return -1
		case a.Path > b.Path:
			return 1
		}
		return 0
	})
	return t.out, t.saveIndex(began)
}

// A taker is a snapshot under way.
type taker struct {
	Options
	ctx   context.Context
	store *store.Store
	out   state.Host
	seen  map[string]bool // paths that were taken or are being taken
	index index
	old   hostIndex
	next  hostIndex
	// extra are single files to take outside of the folders.
	extra []string
	read  int // files whose content was read
}

// An index has what is known of the files of each host, by its name.
type index map[string]hostIndex

type hostIndex struct {
	Files    map[string]indexed `json:"files"`
	Packages string             `json:"packages,omitempty"` // id of their versions
}

// An indexed is a file at the latest snapshot.
type indexed struct {
	Inode uint64      `json:"i,omitempty"`
	Class state.Class `json:"c"`
	SHA   string      `json:"s"`
	Size  int64       `json:"n"`
	Mod   int64       `json:"m"` // nanoseconds
	Chg   int64       `json:"g"`
	// Read is when the file was read. A file that changed shortly before may have changed
	// again within one step of the file system's clock.
	Read int64 `json:"r"`
}

// racy is the time within which a second change may leave a file's times as they are.
const racy = time.Second

func (t *taker) loadIndex() {
	t.index = index{}
	t.store.ReadIndex(&t.index)
	t.old = t.index[t.Name]
	t.next = hostIndex{Files: map[string]indexed{}}
}

func (t *taker) saveIndex(time.Time) error {
	t.index[t.Name] = t.next
	return t.store.SaveIndex(t.index)
}

// cannot notes what could not be read; a thing that does not exist is none.
func (t *taker) cannot(what string, err error) {
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return
	}
	t.out.Unread[what] = err.Error()
}

// values replaces the values of names that look like a secret's.
func (t *taker) keyed(values map[string]string) map[string]string {
	out := maps.Clone(values)
	for name, value := range out {
		if secretName.MatchString(name) {
			out[name] = "digest:" + t.store.Keyed([]byte(value))
		}
	}
	return out
}
