// Package store keeps the states of a site by their content, in a folder that only the
// owner may read:
//
//	objects/ab/cdef…   a text, or the files of one folder, compressed with zstd
//	states/0007.json   the state of run 7, which names its objects
//	index              size, times and digest of each file at the latest snapshot
//	key                the key of the digests of secrets; it never leaves the folder
//	allowed            the files that the user let into the ledger, one a line
//
// A text that many states have is kept once. Nothing of this folder is committed or sent:
// package ledger writes what may be seen by others.
package store

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/day/work/state"
)

// A Store is an open folder. Its methods may be called from several goroutines.
type Store struct {
	dir string
	key []byte
	enc *zstd.Encoder
	dec *zstd.Decoder

	mu   sync.Mutex
	have map[string]bool // objects that are known to be on the disk
}

// Open opens a store, and makes its folder.
func Open(dir string) (*Store, error) {
	for _, d := range []string{dir, filepath.Join(dir, "objects"), filepath.Join(dir, "states")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, fmt.Errorf("making the store of states: %w", err)
		}
	}
	s := &Store{dir: dir, have: map[string]bool{}}
	var err error
	if s.enc, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1)); err != nil {
		return nil, fmt.Errorf("opening the store of states: %w", err)
	}
	if s.dec, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(256<<20)); err != nil {
		return nil, fmt.Errorf("opening the store of states: %w", err)
	}
	if s.key, err = s.secretKey(); err != nil {
		return nil, err
	}
	return s, nil
}

// Dir is the folder of the store.
func (s *Store) Dir() string { return s.dir }

// secretKey reads or makes the key of keyed digests.
func (s *Store) secretKey() ([]byte, error) {
	name := filepath.Join(s.dir, "key")
	key, err := os.ReadFile(name)
	if err == nil && len(key) >= 32 {
		return key, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the key of digests: %w", err)
	}
	key = make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return nil, fmt.Errorf("making the key of digests: %w", err)
	}
	return key, writeWhole(name, key)
}

// Keyed is the digest of a secret: without the key of this store, no guess of the secret
// can be tested against it.
func (s *Store) Keyed(value []byte) string {
	mac := hmac.New(sha256.New, s.key)
	mac.Write(value)
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// Put keeps a content and returns its id.
func (s *Store) Put(content []byte) (string, error) {
	id := state.Sum(content)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.have[id] {
		return id, nil
	}
	name := s.objectPath(id)
	if _, err := os.Stat(name); err == nil {
		s.have[id] = true
		return id, nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return "", fmt.Errorf("keeping a text: %w", err)
	}
	if err := writeWhole(name, s.enc.EncodeAll(content, nil)); err != nil {
		return "", err
	}
	s.have[id] = true
	return id, nil
}

// Get returns the content of an id. A damaged object is an error.
func (s *Store) Get(id string) ([]byte, error) {
	if len(id) != 2*sha256.Size {
		return nil, fmt.Errorf("reading text %q: it is no id", id)
	}
	packed, err := os.ReadFile(s.objectPath(id))
	if err != nil {
		return nil, fmt.Errorf("reading a text of a state: %w", err)
	}
	s.mu.Lock()
	content, err := s.dec.DecodeAll(packed, nil)
	s.mu.Unlock()
	if err == nil && state.Sum(content) != id {
		err = errors.New("its content is not that of its name")
	}
	if err != nil {
		return nil, fmt.Errorf("reading text %s of a state: %w", id[:12], err)
	}
	return content, nil
}

func (s *Store) objectPath(id string) string { return filepath.Join(s.dir, "objects", id[:2], id[2:]) }

// A keptHost is a host as a state's file has it: what is large and seldom changes is in
// objects of its own.
type keptHost struct {
	state.Host
	Folders  map[string]string `json:"folders"` // ids of lists of files, by folder
	Packed   string            `json:"packed_packages,omitempty"`
	Tuned    string            `json:"packed_sysctl,omitempty"`
	Settings map[string]string `json:"settings,omitempty"` // ids of variables and tables, by service
}

// kept is the form of a State in its file.
type kept struct {
	state.State
	Hosts []keptHost `json:"hosts"`
}

// settings are the parts of a service that are an object of their own.
type settings struct {
	Variables map[string]state.Variable `json:"variables,omitempty"`
	Tables    map[string]string         `json:"tables,omitempty"`
	Originals map[string]string         `json:"originals,omitempty"`
}

// SaveState keeps a state under the number of its run.
func (s *Store) SaveState(st *state.State) error {
	k := kept{State: *st}
	for _, h := range st.Hosts {
		kh := keptHost{Host: h, Folders: map[string]string{}, Settings: map[string]string{}}
		folders := map[string][]state.File{}
		for _, f := range h.Files {
			folders[path.Dir(f.Path)] = append(folders[path.Dir(f.Path)], f)
		}
		var err error
		for dir, files := range folders {
			if kh.Folders[dir], err = s.putJSON(files); err != nil {
				return err
			}
		}
		if kh.Packed, err = s.putJSON(h.Packages); err != nil {
			return err
		}
		if kh.Tuned, err = s.putJSON(h.Sysctl); err != nil {
			return err
		}
		kh.Host.Packages, kh.Host.Sysctl = nil, nil
		kh.Host.Services = slices.Clone(h.Services)
		for i, svc := range kh.Host.Services {
			if len(svc.Variables)+len(svc.Tables)+len(svc.Originals) == 0 {
				continue
			}
			if kh.Settings[svc.Name], err = s.putJSON(settings{svc.Variables, svc.Tables, svc.Originals}); err != nil {
				return err
			}
			svc.Variables, svc.Tables, svc.Originals = nil, nil, nil
			kh.Host.Services[i] = svc
		}
		k.Hosts = append(k.Hosts, kh)
	}
	text, err := json.Marshal(k)
	if err != nil {
		return fmt.Errorf("keeping the state of run %d: %w", st.Run, err)
	}
	return writeWhole(s.statePath(st.Run), s.enc.EncodeAll(text, nil))
}

func (s *Store) putJSON(v any) (string, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("keeping a part of a state: %w", err)
	}
	return s.Put(text)
}

func (s *Store) getJSON(id string, v any) error {
	if id == "" {
		return nil
	}
	text, err := s.Get(id)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("reading a part of a state: %w", err)
	}
	return nil
}

func (s *Store) statePath(run iikanji.RunID) string {
	return filepath.Join(s.dir, "states", fmt.Sprintf("%04d.json.zst", run))
}

// LoadState reads the state of a run; the error for a run without one wraps
// fs.ErrNotExist.
func (s *Store) LoadState(run iikanji.RunID) (*state.State, error) {
	packed, err := os.ReadFile(s.statePath(run))
	if err != nil {
		return nil, fmt.Errorf("reading the state of run %d: %w", run, err)
	}
	s.mu.Lock()
	text, err := s.dec.DecodeAll(packed, nil)
	s.mu.Unlock()
	var k kept
	if err == nil {
		err = json.Unmarshal(text, &k)
	}
	if err == nil && k.Version > state.Version {
		err = fmt.Errorf("it has version %d, this program reads up to %d", k.Version, state.Version)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the state of run %d: %w", run, err)
	}
	st := k.State
	st.Hosts = nil
	for _, kh := range k.Hosts {
		h := kh.Host
		for _, id := range kh.Folders {
			var files []state.File
			if err := s.getJSON(id, &files); err != nil {
				return nil, err
			}
			h.Files = append(h.Files, files...)
		}
		slices.SortFunc(h.Files, func(a, b state.File) int { return strings.Compare(a.Path, b.Path) })
		if err := errors.Join(s.getJSON(kh.Packed, &h.Packages), s.getJSON(kh.Tuned, &h.Sysctl)); err != nil {
			return nil, err
		}
		for i := range h.Services {
			var set settings
			if err := s.getJSON(kh.Settings[h.Services[i].Name], &set); err != nil {
				return nil, err
			}
			h.Services[i].Variables, h.Services[i].Tables, h.Services[i].Originals = set.Variables, set.Tables, set.Originals
		}
		st.Hosts = append(st.Hosts, h)
	}
	return &st, nil
}

// SaveAside keeps further data of a run under a name.
func (s *Store) SaveAside(run iikanji.RunID, name string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("keeping the %s of run %d: %w", name, run, err)
	}
	return writeWhole(s.asidePath(run, name), s.enc.EncodeAll(text, nil))
}

// ReadAside reads them; the error wraps fs.ErrNotExist if there are none.
func (s *Store) ReadAside(run iikanji.RunID, name string, v any) error {
	packed, err := os.ReadFile(s.asidePath(run, name))
	if err != nil {
		return fmt.Errorf("reading the %s of run %d: %w", name, run, err)
	}
	s.mu.Lock()
	text, err := s.dec.DecodeAll(packed, nil)
	s.mu.Unlock()
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		return fmt.Errorf("reading the %s of run %d: %w", name, run, err)
	}
	return nil
}

func (s *Store) asidePath(run iikanji.RunID, name string) string {
	return filepath.Join(s.dir, "states", fmt.Sprintf("%04d.%s.zst", run, name))
}

// Runs lists the runs that have a state, ascending.
func (s *Store) Runs() ([]iikanji.RunID, error) {
	entries, err := os.ReadDir(filepath.Join(s.dir, "states"))
	if err != nil {
		return nil, fmt.Errorf("listing the states: %w", err)
	}
	var runs []iikanji.RunID
	for _, e := range entries {
		number, ok := strings.CutSuffix(e.Name(), ".json.zst")
		if n, err := strconv.Atoi(number); ok && err == nil {
			runs = append(runs, iikanji.RunID(n))
		}
	}
	slices.Sort(runs)
	return runs, nil
}

// ReadIndex reads the index of the latest snapshot into v; nothing if there is none or it
// is damaged: all files are then read again.
func (s *Store) ReadIndex(v any) {
	packed, err := os.ReadFile(filepath.Join(s.dir, "index"))
	if err != nil {
		return
	}
	s.mu.Lock()
	text, err := s.dec.DecodeAll(packed, nil)
	s.mu.Unlock()
	if err == nil {
		_ = json.Unmarshal(text, v) // a damaged index costs time only
	}
}

// SaveIndex replaces the index.
func (s *Store) SaveIndex(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("keeping the index of files: %w", err)
	}
	return writeWhole(filepath.Join(s.dir, "index"), s.enc.EncodeAll(text, nil))
}

// Allowed are the files that the user let into the ledger although they look like
// secrets, as "host:path" or a path of this machine.
func (s *Store) Allowed() (map[string]bool, error) {
	text, err := os.ReadFile(filepath.Join(s.dir, "allowed"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading which files may be committed: %w", err)
	}
	all := map[string]bool{}
	for line := range bytes.Lines(text) {
		if name := strings.TrimSpace(string(line)); name != "" {
			all[name] = true
		}
	}
	return all, nil
}

// Allow adds a file to Allowed.
func (s *Store) Allow(place string) error {
	if place == "" || strings.ContainsAny(place, "\n\r") {
		return fmt.Errorf("allowing %q: it is no path", place)
	}
	all, err := s.Allowed()
	if err != nil {
		return err
	}
	all[place] = true
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	return writeWhole(filepath.Join(s.dir, "allowed"), []byte(strings.Join(names, "\n")+"\n"))
}

// writeWhole writes a file at once, for the owner only.
func writeWhole(name string, content []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), ".new-*")
	if err != nil {
		return fmt.Errorf("writing %s: %w", filepath.Base(name), err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("writing %s: %w", filepath.Base(name), err), os.Remove(f.Name()))
		}
	}()
	if _, err = f.Write(content); err != nil {
		return errors.Join(err, f.Close())
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
