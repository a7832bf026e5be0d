package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestWriteWhole: a file is replaced completely or not at all, and a device or
// a pipe is never replaced: root's --save /dev/null must not remove /dev/null.
func TestWriteWhole(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	text := func(s string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
	}
	want := func(name, text string, mode fs.FileMode) {
		t.Helper()
		info, err := os.Lstat(at(name))
		if err != nil || info.Mode().Type() != mode {
			t.Fatalf("%s: %v, %v, want %v", name, info, err, mode)
		}
		if mode == fs.ModeNamedPipe { // reading would wait for a writer
			return
		}
		if b, err := os.ReadFile(at(name)); err != nil || string(b) != text {
			t.Errorf("%s: %q, %v, want %q", name, b, err, text)
		}
	}
	if err := errors.Join(os.Symlink("file", at("link")), os.WriteFile(at("file"), []byte("old"), 0o600), unix.Mkfifo(at("pipe"), 0o600)); err != nil {
		t.Fatal(err)
	}

	full := errors.New("full")
	err := writeWhole(at("file"), func(w io.Writer) error { return errors.Join(text("half")(w), full) })
	if !errors.Is(err, full) {
		t.Errorf("error: %v", err)
	}
	want("file", "old", 0)
	if err := writeWhole(at("link"), text("new")); err != nil {
		t.Error(err)
	}
	want("link", "new", fs.ModeSymlink)
	want("file", "new", 0)

	read := make(chan string)
	go func() {
		b, _ := os.ReadFile(at("pipe"))
		read <- string(b)
	}()
	if err := writeWhole(at("pipe"), text("through")); err != nil {
		t.Fatal(err)
	}
	if got := <-read; got != "through" {
		t.Errorf("through the pipe: %q", got)
	}
	want("pipe", "", fs.ModeNamedPipe)

	if err := writeWhole(dir, text("x")); err == nil || !strings.Contains(err.Error(), "it is a directory") {
		t.Errorf("a folder: %v", err)
	}
	if err := writeWhole(at("no/file"), text("x")); err == nil || !strings.HasSuffix(err.Error(), "no/file: no such file or directory") {
		t.Errorf("a folder that is not there: %v", err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 3 {
		t.Errorf("left: %v, %v", left, err)
	}
}
