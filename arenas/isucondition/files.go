package isucondition

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// repository holds files/ as it lies in the repository. Two things differ from
// the work folder, which looks as the contest's did: the app's folder is
// called isucondition here, because go install names a program after it, and
// its go.mod and go.sum end in .txt, because a folder with a go.mod would be
// another module and could not be embedded.
//
//go:embed files
var repository embed.FS

// files is the content of webapp/ in the work folder.
func files() fs.FS { return webappFS{} }

// webappFS shows repository under the names of the work folder.
type webappFS struct{}

var (
	_ fs.ReadFileFS = webappFS{}
	_ fs.ReadDirFS  = webappFS{}
	_ fs.StatFS     = webappFS{}
)

// stored is where a file of the work folder lies in the repository.
func stored(name string) string {
	dir, base := path.Split(name)
	if base == "go.mod" || base == "go.sum" {
		name = dir + base + ".txt"
	}
	if rest, ok := strings.CutPrefix(name+"/", "go/"); ok {
		name = "isucondition/" + rest
	}
	return path.Join("files", name)
}

// shown is the name in the work folder of a file of the repository's folder
// dir; a name that shows as none is "".
func shown(dir, base string) string {
	switch {
	case dir == "files" && base == "isucondition":
		return "go"
	case base == "go.mod.txt" || base == "go.sum.txt":
		return strings.TrimSuffix(base, ".txt")
	default:
		return base
	}
}

// Open opens a file or directory; the errors are those of package fs.
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

// Stat describes a file or directory; scripts are executable.
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

// valid refuses names that fs.FS refuses, and the repository's own names.
func valid(op, name string) error {
	if !fs.ValidPath(name) {
		return &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	if first, _, _ := strings.Cut(name, "/"); first == "isucondition" {
		return &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	}
	return nil
}

// named puts the name that was asked for into an error of the repository.
func named(err error, name string) error {
	if p, ok := err.(*fs.PathError); ok {
		return &fs.PathError{Op: p.Op, Path: name, Err: p.Err}
	}
	return err
}

// rename shows the entries of the repository's folder dir. Their order stays
// as it is: no two names change places.
func rename(dir string, entries []fs.DirEntry) []fs.DirEntry {
	renamed := make([]fs.DirEntry, len(entries))
	for i, e := range entries {
		renamed[i] = renamedEntry{e, shown(dir, e.Name())}
	}
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

// Mode lets scripts be executed, which embedding forgets.
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

// mustRead returns a file of the arena's own.
func mustRead(name string) []byte {
	body, err := webappFS{}.ReadFile(name)
	if err != nil {
		panic(fmt.Sprintf("BUG: %v", err))
	}
	return body
}
