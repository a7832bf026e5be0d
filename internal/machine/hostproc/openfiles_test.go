package hostproc

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// TestOpenFiles finds the files that this process has open, with their modes.
func TestOpenFiles(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	read, write := filepath.Join(dir, "read"), filepath.Join(dir, "write")
	if err := os.WriteFile(read, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(read)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.Create(write)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	for _, pid := range []int{os.Getpid(), Self} {
		got, err := OpenFiles(host.Local{}, pid)
		if err != nil || !slices.Contains(got, OpenFile{read, false}) || !slices.Contains(got, OpenFile{write, true}) {
			t.Errorf("%d: %+v, %v", pid, got, err)
		}
	}
	if _, err := OpenFiles(host.Local{}, 1<<30); err == nil {
		t.Error("a process that does not exist has open files")
	}
}

func TestWrites(t *testing.T) {
	for text, want := range map[string]bool{"pos:\t0\nflags:\t02100000\n": false, "flags:\t02100001\n": true, "flags:\t02100002\n": true, "flags:\tx\n": true, "": true} {
		if writes(text) != want {
			t.Errorf("%q: %v, want %v", text, !want, want)
		}
	}
}
