package isucondition

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// appFolder is the folder of the app's source in the repository. The go command
// ignores folders that begin with "_", so the app is not part of this module.
const appFolder = "_go"

// repository holds files/ as it is in the repository. Its names differ from
// those of the work folder in two places. The app's folder is [appFolder]
// instead of "go". The app's go.mod and go.sum end in .txt, because go:embed
// refuses a folder with a go.mod.
//
//go:embed all:files
var repository embed.FS

//go:embed ladder
var ladder embed.FS

// rungs returns the files of the ladder.
func rungs() fs.FS {
	sub, err := fs.Sub(ladder, "ladder")
	if err != nil {
		panic(fmt.Sprintf("BUG: %v", err))
	}
	return sub
}

// files returns the content of webapp/ in the work folder.
func files() fs.FS { return webappFS{} }

// webappFS is the repository with the names of the work folder.
type webappFS struct{}

var (
	_ fs.ReadFileFS = webappFS{}
	_ fs.ReadDirFS  = webappFS{}
	_ fs.StatFS     = webappFS{}
)

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
func (webappFS) Open(name string) (fs.File, error) {
	if err := valid("open", name); err != nil {
		return nil, err
	}
	file, err := repository.Open(stored(name))
	if err != nil {
		return nil, named(err, name)
	}
	if dir, ok := file.(fs.ReadDirFile); ok {
		return renamedDir{dir, name}, nil
	}
	return renamedFile{file, name}, nil
}

// ReadFile returns a file's content.
func (webappFS) ReadFile(name string) ([]byte, error) {
	if err := valid("read", name); err != nil {
		return nil, err
	}
	body, err := repository.ReadFile(stored(name))
	return body, named(err, name)
}

// ReadDir lists a directory.
func (webappFS) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := valid("readdir", name); err != nil {
		return nil, err
	}
	entries, err := repository.ReadDir(stored(name))
	return rename(stored(name), entries), named(err, name)
}

// Stat describes a file or directory. Scripts are executable.
func (w webappFS) Stat(name string) (fs.FileInfo, error) {
	if err := valid("stat", name); err != nil {
		return nil, err
	}
	info, err := fs.Stat(repository, stored(name))
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
	name string
}

func (f renamedFile) Stat() (fs.FileInfo, error) { return webappFS{}.Stat(f.name) }

type renamedDir struct {
	fs.ReadDirFile
	name string
}

func (d renamedDir) Stat() (fs.FileInfo, error) { return webappFS{}.Stat(d.name) }

func (d renamedDir) ReadDir(n int) ([]fs.DirEntry, error) {
	entries, err := d.ReadDirFile.ReadDir(n)
	return rename(stored(d.name), entries), err
}

// mustRead returns an embedded file. It panics if there is none.
func mustRead(name string) []byte {
	body, err := webappFS{}.ReadFile(name)
	if err != nil {
		panic(fmt.Sprintf("BUG: %v", err))
	}
	return body
}
