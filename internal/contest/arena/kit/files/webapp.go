// Package files has what arenas need to ship files: the embedded folder files/
// under the names of the work folder, and files that are written whole.
package files

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Webapp is the folder files/ of an arena with the names of the work folder. Its
// names in the repository differ in two places. A folder with the source of a
// program begins with "_", as in "_go", so that the go command ignores it; it is
// shown without "_". Module files end in ".txt", because go:embed refuses a folder
// with a go.mod. Scripts (".sh") are executable.
type Webapp struct {
	repository fs.FS           // the folder files/
	hidden     map[string]bool // folders of the top that begin with "_", without it
}

var (
	_ fs.ReadFileFS = Webapp{}
	_ fs.ReadDirFS  = Webapp{}
	_ fs.StatFS     = Webapp{}
)

// NewWebapp returns the content of webapp/ in the work folder. embedded is what
// "go:embed all:files" embeds. It panics if there is no folder files/.
func NewWebapp(embedded fs.FS) Webapp {
	repository, err := fs.Sub(embedded, "files")
	if err != nil {
		panic("BUG: " + err.Error())
	}
	entries, err := fs.ReadDir(repository, ".")
	if err != nil {
		panic("BUG: " + err.Error())
	}
	hidden := map[string]bool{}
	for _, e := range entries {
		if rest, ok := strings.CutPrefix(e.Name(), "_"); ok && e.IsDir() {
			hidden[rest] = true
		}
	}
	return Webapp{repository, hidden}
}

// MustRead returns a file. It panics if there is none.
func (w Webapp) MustRead(name string) []byte {
	body, err := w.ReadFile(name)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return body
}

// stored converts a name of the work folder to a path in the repository.
func (w Webapp) stored(name string) string {
	dir, base := path.Split(name)
	if base == "go.mod" || base == "go.sum" {
		name = dir + base + ".txt"
	}
	if first, _, _ := strings.Cut(name, "/"); w.hidden[first] {
		name = "_" + name
	}
	return name
}

// shown returns the name in the work folder of an entry of the repository's folder
// dir.
func (w Webapp) shown(dir, base string) string {
	if rest, ok := strings.CutPrefix(base, "_"); ok && dir == "." && w.hidden[rest] {
		return rest
	}
	if base == "go.mod.txt" || base == "go.sum.txt" {
		return strings.TrimSuffix(base, ".txt")
	}
	return base
}

// Open opens a file or directory.
func (w Webapp) Open(name string) (fs.File, error) {
	if err := w.valid("open", name); err != nil {
		return nil, err
	}
	file, err := w.repository.Open(w.stored(name))
	if err != nil {
		return nil, named(err, name)
	}
	if dir, ok := file.(fs.ReadDirFile); ok {
		return renamedDir{dir, w, name}, nil
	}
	return renamedFile{file, w, name}, nil
}

// ReadFile returns a file's content.
func (w Webapp) ReadFile(name string) ([]byte, error) {
	if err := w.valid("read", name); err != nil {
		return nil, err
	}
	body, err := fs.ReadFile(w.repository, w.stored(name))
	return body, named(err, name)
}

// ReadDir lists a directory.
func (w Webapp) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := w.valid("readdir", name); err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(w.repository, w.stored(name))
	return w.rename(name, entries), named(err, name)
}

// Stat describes a file or directory.
func (w Webapp) Stat(name string) (fs.FileInfo, error) {
	if err := w.valid("stat", name); err != nil {
		return nil, err
	}
	info, err := fs.Stat(w.repository, w.stored(name))
	if err != nil {
		return nil, named(err, name)
	}
	return renamedInfo{info, path.Base(name)}, nil
}

// valid refuses invalid paths and the names that only the repository has.
func (w Webapp) valid(op, name string) error {
	if !fs.ValidPath(name) {
		return &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	first, _, _ := strings.Cut(name, "/")
	if rest, ok := strings.CutPrefix(first, "_"); ok && w.hidden[rest] {
		return &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	}
	return nil
}

// named replaces the path in an error of the repository by the requested name.
func named(err error, name string) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return &fs.PathError{Op: p.Op, Path: name, Err: p.Err}
	}
	return err
}

// rename converts the entries of a folder and sorts them by their new names, as
// fs.ReadDirFS requires.
func (w Webapp) rename(dir string, entries []fs.DirEntry) []fs.DirEntry {
	renamed := make([]fs.DirEntry, len(entries))
	for i, e := range entries {
		renamed[i] = renamedEntry{e, w.shown(dir, e.Name())}
	}
	slices.SortFunc(renamed, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return renamed
}

type renamedEntry struct {
	fs.DirEntry
	name string
}

func (e renamedEntry) Name() string   { return e.name }
func (e renamedEntry) String() string { return fs.FormatDirEntry(e) }

func (e renamedEntry) Info() (fs.FileInfo, error) {
	info, err := e.DirEntry.Info()
	if err != nil {
		return nil, err
	}
	return renamedInfo{info, e.name}, nil
}

type renamedInfo struct {
	fs.FileInfo
	name string
}

func (i renamedInfo) Name() string   { return i.name }
func (i renamedInfo) String() string { return fs.FormatFileInfo(i) }

// Mode makes scripts executable: embedded files have no such bit.
func (i renamedInfo) Mode() fs.FileMode {
	mode := i.FileInfo.Mode()
	if strings.HasSuffix(i.name, ".sh") {
		mode |= 0o111
	}
	return mode
}

type renamedFile struct {
	fs.File
	webapp Webapp
	name   string
}

func (f renamedFile) Stat() (fs.FileInfo, error) { return f.webapp.Stat(f.name) }

type renamedDir struct {
	fs.ReadDirFile
	webapp Webapp
	name   string
}

func (d renamedDir) Stat() (fs.FileInfo, error) { return d.webapp.Stat(d.name) }

func (d renamedDir) ReadDir(n int) ([]fs.DirEntry, error) {
	entries, err := d.ReadDirFile.ReadDir(n)
	return d.webapp.rename(d.name, entries), err
}
