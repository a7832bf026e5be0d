package change

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/goapp"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// A SourceCopy collects what a plan writes into a copy of a service's source, to make
// the edits of the source itself from it.
type SourceCopy struct {
	Source string // the folder of which there is a copy
	On     string // its host

	names         []string          // of the written files, relative to the folder, with slashes
	before, after map[string][]byte // their content; nil: no file
	folder        string            // the folder that the change makes; "" for none
}

// Write writes files, named by their paths in the copy in dir, that differ from those there.
func (c *SourceCopy) Write(h host.Host, dir string, files map[string][]byte) error {
	for path, body := range files {
		rel, err := filepath.Rel(dir, path)
		name := filepath.ToSlash(rel)
		if err != nil || LocalName(name) == "" {
			return fmt.Errorf("a rewrite of %s is outside the source", path)
		}
		old, err := h.Read(path)
		if errors.Is(err, fs.ErrNotExist) {
			old, err = nil, nil
		}
		if err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
		if old != nil && string(old) == string(body) {
			continue
		}
		if !slices.Contains(c.names, name) {
			if c.before == nil {
				c.before, c.after = map[string][]byte{}, map[string][]byte{}
			}
			c.names = append(c.names, name)
			c.before[name] = old
		}
		c.after[name] = body
		if err := h.Write(path, body, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Add puts an addition into the copy in dir. A folder with other files is left alone.
func (c *SourceCopy) Add(h host.Host, dir string, a goapp.Addition) error {
	folder := filepath.Join(dir, filepath.FromSlash(a.Folder))
	there, err := h.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		c.folder = a.Folder
		err = h.Mkdir(folder, 0o755)
	}
	if err != nil {
		return err
	}
	var names []string
	for _, f := range there {
		names = append(names, f.Name())
	}
	if err := a.Fits(names); err != nil {
		return err
	}
	return c.Write(h, dir, a.In(dir))
}

// Empty reports whether nothing was written.
func (c *SourceCopy) Empty() bool { return len(c.names) == 0 }

// Folder is the folder that the change makes, relative to the source; "" for none.
func (c *SourceCopy) Folder() string { return c.folder }

// InFolder reports whether a file of the source is in the folder that the change makes.
func (c *SourceCopy) InFolder(name string) bool {
	return c.folder != "" && strings.HasPrefix(name, c.folder+"/")
}

// Edits are the edits of the source, in the order of their names. It refuses a file that
// changed since the copy was made.
func (c *SourceCopy) Edits(s *Site) ([]Edit, error) {
	var edits []Edit
	for _, name := range slices.Sorted(slices.Values(c.names)) {
		path := filepath.Join(c.Source, filepath.FromSlash(name))
		old, err := s.ReadOld(c.On, path)
		if err != nil {
			return nil, err
		}
		if want := c.before[name]; string(want) != string(old) || (want == nil) != (old == nil) {
			return nil, fmt.Errorf("%s changed while its rewrite was planned", name)
		}
		if string(old) != string(c.after[name]) {
			edits = append(edits, Edit{Path: path, Old: old, New: c.after[name], Host: c.On, Folder: c.InFolder(name)})
		}
	}
	return edits, nil
}

// LocalName is a relative path with slashes in its shortest form, "" for one that leaves
// its folder or that has a part that begins with a dot.
func LocalName(path string) string {
	if !filepath.IsLocal(path) || filepath.ToSlash(filepath.Clean(path)) != path {
		return ""
	}
	if slices.ContainsFunc(strings.Split(path, "/"), func(p string) bool { return strings.HasPrefix(p, ".") }) {
		return ""
	}
	return path
}
