// Package files has what arenas need to ship files: the embedded folder files/
// under the names of the work folder, and files that are written whole.
package files

import (
	"embed"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// appFolder is the folder of the app's source in the repository. The go command
// ignores folders that begin with "_", so the app is not part of this module.
const appFolder = "_go"

// Webapp is the folder files/ of an arena with the names of the work folder. Its
// names in the repository differ in two places. The app's folder is [appFolder]
// instead of "go". The app's go.mod and go.sum end in .txt, because go:embed
// refuses a folder with a go.mod.
type Webapp struct{ repository embed.FS }

var (
	_ fs.ReadFileFS = Webapp{}
	_ fs.ReadDirFS  = Webapp{}
	_ fs.StatFS     = Webapp{}
)

// NewWebapp returns the content of webapp/ in the work folder. The repository is
// what "go:embed all:files" embeds.
func NewWebapp(repository embed.FS) Webapp { return Webapp{repository} }

// stored converts a name of the work folder to a path in the repository.
func stored(name string) string {
	dir, base := path.Split(name)
	if base == "go.mod" || base == "go.sum" {
		name = dir + base + ".txt"
	}
	if rest, ok := strings.CutPrefix(name+"/", "go/"); ok {
		name = appFolder + "/" + rest
	}
	return path.Join("files", name)
}

// shown returns the name in the work folder of an entry of the repository's
// folder dir.
func shown(dir, base string) string {
	switch {
	case dir == "files" && base == appFolder:
		return "go"
	case base == "go.mod.txt" || base == "go.sum.txt":
		return strings.TrimSuffix(base, ".txt")
	default:
		return base
	}
}

// Open opens a file or directory.
func (w Webapp) Open(name string) (fs.File, error) {
	if err := valid("open", name); err != nil {
		return nil, err
	}
	file, err := w.repository.Open(stored(name))
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
	if err := valid("read", name); err != nil {
		return nil, err
	}
	body, err := w.repository.ReadFile(stored(name))
	return body, named(err, name)
}

// ReadDir lists a directory.
func (w Webapp) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := valid("readdir", name); err != nil {
		return nil, err
	}
	entries, err := w.repository.ReadDir(stored(name))
	return rename(stored(name), entries), named(err, name)
}

// Stat describes a file or directory. Scripts are executable.
func (w Webapp) Stat(name string) (fs.FileInfo, error) {
	if err := valid("stat", name); err != nil {
		return nil, err
	}
	info, err := fs.Stat(w.repository, stored(name))
	if err != nil {
		return nil, named(err, name)
	}
	return renamedInfo{info, path.Base(name)}, nil
}

// valid refuses invalid paths and the names that only the repository has.
func valid(op, name string) error {
	if !fs.ValidPath(name) {
		return &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	if first, _, _ := strings.Cut(name, "/"); first == appFolder {
		return &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	}
	return nil
}

// named replaces the path in an error of the repository by the requested name.
func named(err error, name string) error {
	if p, ok := err.(*fs.PathError); ok {
		return &fs.PathError{Op: p.Op, Path: name, Err: p.Err}
	}
	return err
}

// rename converts the entries of the repository's folder dir and sorts them by
// their new names, as fs.ReadDirFS requires.
func rename(dir string, entries []fs.DirEntry) []fs.DirEntry {
	renamed := make([]fs.DirEntry, len(entries))
	for i, e := range entries {
		renamed[i] = renamedEntry{e, shown(dir, e.Name())}
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
	in   Webapp
	name string
}

func (f renamedFile) Stat() (fs.FileInfo, error) { return f.in.Stat(f.name) }

type renamedDir struct {
	fs.ReadDirFile
	in   Webapp
	name string
}

func (d renamedDir) Stat() (fs.FileInfo, error) { return d.in.Stat(d.name) }

func (d renamedDir) ReadDir(n int) ([]fs.DirEntry, error) {
	entries, err := d.ReadDirFile.ReadDir(n)
	return rename(stored(d.name), entries), err
}

// MustRead returns an embedded file. It panics if there is none.
func (w Webapp) MustRead(name string) []byte {
	body, err := w.ReadFile(name)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return body
}
