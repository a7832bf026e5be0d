package goapp

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// An Addition is what an app's module gets of ours: a package in a folder of its own, or
// files beside those of its main package.
type Addition struct {
	Folder string            // relative to the module, with slashes; "" for the package in the module's own folder
	Files  map[string][]byte // by name, without a folder
}

// ImportPath is the path by which the app imports the addition.
func (a Addition) ImportPath(module string) string { return path.Join(module, a.Folder) }

// In are the files by their paths, below a folder that is the module's or a copy of it.
func (a Addition) In(dir string) map[string][]byte {
	out := map[string][]byte{}
	for name, body := range a.Files {
		out[filepath.Join(dir, filepath.FromSlash(a.Folder), name)] = body
	}
	return out
}

// An OccupiedError is why an Addition has no place.
type OccupiedError struct{ Folder, File string }

func (e *OccupiedError) Error() string {
	if e.Folder == "" {
		return e.File + ": " + fs.ErrExist.Error()
	}
	return fmt.Sprintf("the folder %s holds %s, which is not of the package", e.Folder, e.File)
}

// Unwrap returns fs.ErrExist.
func (e *OccupiedError) Unwrap() error { return fs.ErrExist }

// Fits refuses a place by the names in its folder. A folder of its own may hold earlier
// versions of the addition's files and nothing else. Beside files of the app no name of the
// addition may be in use.
func (a Addition) Fits(there []string) error {
	for _, name := range there {
		if _, ours := a.Files[name]; ours == (a.Folder == "") {
			return &OccupiedError{a.Folder, name}
		}
	}
	return nil
}

// CopyFiles are the Go files at the top of a file system, by name, each with a text at
// its head. Tools leave files alone whose head says that they are generated.
func CopyFiles(from fs.FS, head string) (map[string][]byte, error) {
	out := map[string][]byte{}
	names, err := fs.Glob(from, "*.go")
	for _, name := range names {
		body, readErr := fs.ReadFile(from, name)
		if err = readErr; err != nil {
			break
		}
		out[name] = append([]byte(head), body...)
	}
	if err != nil {
		return nil, fmt.Errorf("copying a package: %w", err)
	}
	return out, nil
}

// JoinFiles is the same package as one file: a change has a step for each file. Each of
// its files has one block of imports at most.
func JoinFiles(from fs.FS, head string) ([]byte, error) {
	files, err := CopyFiles(from, "")
	if err != nil {
		return nil, err
	}
	var imports []string
	var doc, body bytes.Buffer
	name := ""
	for _, file := range slices.Sorted(maps.Keys(files)) {
		text, fset := files[file], token.NewFileSet()
		f, err := parser.ParseFile(fset, file, text, parser.ParseComments)
		if err != nil {
			return nil, fmt.Errorf("joining a package: %w", err)
		}
		at := func(p token.Pos) int { return fset.Position(p).Offset }
		if f.Doc != nil {
			doc.Write(text[at(f.Doc.Pos()):at(f.Doc.End())])
		}
		name = f.Name.Name
		rest := f.Name.End()
		for _, spec := range f.Imports {
			imports = append(imports, spec.Path.Value)
		}
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
				rest = g.End()
			}
		}
		body.Write(text[at(rest):])
	}
	slices.Sort(imports)
	out := head + doc.String() + "\npackage " + name + "\n\nimport (\n\t" + strings.Join(slices.Compact(imports), "\n\t") + "\n)\n" + body.String()
	return format.Source([]byte(out))
}
