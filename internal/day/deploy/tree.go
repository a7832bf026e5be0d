package deploy

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// A tree is a folder of source: its files by their relative paths. The content of a file is
// an object of a store.
type tree struct {
	Version int              `json:"version"`
	Files   map[string]entry `json:"files"`
}

type entry struct {
	Sum  string      `json:"sum,omitempty"`
	Mode os.FileMode `json:"mode,omitempty"`
	Link string      `json:"link,omitempty"` // target of a symbolic link
}

// Limits of a tree. What is larger is data, not source.
const (
	maxFile  = 4 << 20
	maxTree  = 256 << 20
	maxFiles = 20_000
)

// leftOut are folders that are made from the source, or are not of it.
var leftOut = []string{".git", ".hg", "node_modules", "vendor", "target", "__pycache__", ".venv", "venv", "local", ".bundle", "tmp", "log"}

// walk calls do for the files of a folder of source that count.
func walk(h host.Host, dir string, do func(rel string, info fs.FileInfo) error) error {
	n, size := 0, int64(0)
	err := h.Walk(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path == dir {
			return nil
		}
		if d.IsDir() {
			if slices.Contains(leftOut, d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() && info.Mode()&fs.ModeSymlink == 0 || info.Size() > maxFile {
			return nil
		}
		if n++; n > maxFiles {
			return fmt.Errorf("%s has more than %d files", dir, maxFiles)
		}
		if size += info.Size(); size > maxTree {
			return fmt.Errorf("%s has more than %d bytes in files of up to %d bytes", dir, maxTree, maxFile)
		}
		return do(strings.TrimPrefix(path, strings.TrimSuffix(dir, "/")+"/"), info)
	})
	if err != nil {
		return fmt.Errorf("reading the source: %w", err)
	}
	return nil
}

// A store keeps trees and programs in a folder of a host, by their digests.
type store struct {
	host host.Host
	dir  string
}

func (s *store) object(sum string) string { return filepath.Join(s.dir, "objects", sum) }

// put keeps a content.
func (s *store) put(body []byte) (string, error) {
	hash := sha256.Sum256(body)
	sum := hex.EncodeToString(hash[:])
	if b, err := s.host.Read(s.object(sum)); err == nil && sha256.Sum256(b) == hash {
		return sum, nil
	}
	return sum, s.host.Write(s.object(sum), body, 0o600)
}

// get reads a content, and refuses one that is damaged.
func (s *store) get(sum string) ([]byte, error) {
	b, err := s.host.Read(s.object(sum))
	if err != nil {
		return nil, fmt.Errorf("reading what was kept: %w", err)
	}
	if hash := sha256.Sum256(b); hex.EncodeToString(hash[:]) != sum {
		return nil, fmt.Errorf("what was kept in %s is damaged", s.object(sum))
	}
	return b, nil
}

// makeFolders makes the folder of the store.
func (s *store) makeFolders() error {
	for _, dir := range []string{filepath.Dir(s.dir), s.dir, filepath.Join(s.dir, "objects")} {
		if err := s.host.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("making the folder of deployments: %w", err)
		}
	}
	return nil
}

// take keeps a folder of source of a host as it is now.
func (s *store) take(from host.Host, dir string) (*tree, error) {
	t := &tree{Version: 1, Files: map[string]entry{}}
	err := walk(from, dir, func(rel string, info fs.FileInfo) error {
		path := filepath.Join(dir, rel)
		if info.Mode()&fs.ModeSymlink != 0 {
			to, err := from.Readlink(path)
			t.Files[rel] = entry{Link: to}
			return err
		}
		b, err := from.Read(path)
		if err != nil {
			return err
		}
		sum, err := s.put(b)
		t.Files[rel] = entry{Sum: sum, Mode: info.Mode().Perm()}
		return err
	})
	return t, err
}

// become makes the source what a tree is. Files that are not of the tree are removed: the
// caller has kept them. It returns the paths that it changed. No link is followed: the
// source's owner may not be the account that acts.
func (d *deployment) become(to *tree) (changed []string, err error) {
	for rel, e := range to.Files {
		if d.now.Files[rel] == e {
			continue
		}
		changed = append(changed, rel)
		if err := d.restore(d.root, rel, e); err != nil {
			return changed, err
		}
	}
	for rel := range d.now.Files {
		if _, kept := to.Files[rel]; !kept {
			changed = append(changed, rel)
			if err := d.o.Host.RemoveBeneath(d.root, filepath.Join(d.root, rel)); err != nil {
				return changed, fmt.Errorf("restoring the source: %w", err)
			}
		}
	}
	slices.Sort(changed)
	return changed, nil
}

// restore writes one file of a tree below a folder.
func (d *deployment) restore(root, rel string, e entry) error {
	h, path := d.o.Host, filepath.Join(root, rel)
	if err := d.mkdirs(filepath.Dir(path)); err != nil {
		return err
	}
	now, err := h.Lstat(path)
	if err == nil && (e.Link != "" || now.Mode()&fs.ModeSymlink != 0) {
		if err := h.Remove(path); err != nil {
			return fmt.Errorf("restoring the source: %w", err)
		}
	}
	if e.Link != "" {
		return h.Symlink(e.Link, path)
	}
	b, err := d.store.get(e.Sum)
	if err == nil {
		err = h.WriteBeneath(root, path, b, host.New{Perm: e.Mode, Owner: d.owner})
	}
	if err != nil {
		return fmt.Errorf("restoring the source: %w", err)
	}
	return nil
}

func (d *deployment) mkdirs(dir string) error {
	h := d.o.Host
	if _, err := h.Stat(dir); err == nil || filepath.Dir(dir) == dir {
		return nil
	}
	if err := d.mkdirs(filepath.Dir(dir)); err != nil {
		return err
	}
	err := h.Mkdir(dir, 0o755)
	if err == nil && d.owner != nil {
		err = h.Chown(dir, *d.owner)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("making a folder of the source: %w", err)
	}
	return nil
}

// A record is what is known of the deployments of a service.
type record struct {
	Version int    `json:"version"`
	Good    *tree  `json:"good,omitempty"`    // source of the last version that served
	Before  *tree  `json:"before,omitempty"`  // source of the one before the last deployment
	Failed  *tree  `json:"failed,omitempty"`  // source of the last version that did not
	Program string `json:"program,omitempty"` // digest of the program before the last deployment
	Lock    string `json:"lock,omitempty"`    // digest of the dependencies' file
	// Under is the deployment under way: a killed process leaves it.
	Under string `json:"under_way,omitempty"`
}

const recordFile = "deploy.json"

func (s *store) read() (r record, err error) {
	b, err := s.host.Read(filepath.Join(s.dir, recordFile))
	if errors.Is(err, fs.ErrNotExist) {
		return record{Version: 1}, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	if err == nil && r.Version > 1 {
		err = fmt.Errorf("it has version %d, this iikanji reads up to 1", r.Version)
	}
	if err != nil {
		return r, fmt.Errorf("reading %s: %w", filepath.Join(s.dir, recordFile), err)
	}
	return r, nil
}

// write keeps the record, and removes contents that neither it nor the present source names.
func (s *store) write(r record, now *tree) error {
	b, err := json.Marshal(r)
	if err == nil {
		err = s.host.Write(filepath.Join(s.dir, recordFile), append(b, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("keeping what was deployed: %w", err)
	}
	named := map[string]bool{r.Program: true}
	for _, t := range []*tree{r.Good, r.Before, r.Failed, now} {
		if t != nil {
			for _, e := range t.Files {
				named[e.Sum] = true
			}
		}
	}
	all, err := s.host.ReadDir(filepath.Join(s.dir, "objects"))
	if err != nil {
		return nil // nothing is kept yet
	}
	for _, d := range all {
		if !named[d.Name()] {
			_ = s.host.Remove(s.object(d.Name())) // the next deployment tries it again
		}
	}
	return nil
}
