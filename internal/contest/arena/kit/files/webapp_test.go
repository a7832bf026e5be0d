package files

import (
	"io/fs"
	"path/filepath"
	"testing"
	"testing/fstest"
)

// TestWebapp checks the names, the modes and the rules of package fs.
func TestWebapp(t *testing.T) {
	repository := fstest.MapFS{
		"files/_go/main.go":       {Data: []byte("package main")},
		"files/_go/go.mod.txt":    {Data: []byte("module x")},
		"files/_go/_x/go.sum.txt": {Data: []byte("sum")},
		"files/a/init.sh":         {Data: []byte("#!/bin/sh")},
		"files/_note.txt":         {Data: []byte("a file keeps its name")},
	}
	w := NewWebapp(repository)
	if err := fstest.TestFS(w, "go/main.go", "go/go.mod", "go/_x/go.sum", "a/init.sh", "_note.txt"); err != nil {
		t.Error(err)
	}
	if got := w.MustRead("go/go.mod"); string(got) != "module x" {
		t.Errorf("go.mod: %q", got)
	}
	for _, name := range []string{"_go", "_go/main.go", "go/none", "/go", "../files"} {
		if _, err := w.Open(name); err == nil {
			t.Errorf("%s opens", name)
		}
	}
	if err := fs.WalkDir(w, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil && (filepath.Ext(name) == ".sh") != (info.Mode()&0o111 != 0) {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}
