package files

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "file")
	if err := WriteBytes(path, []byte("first")); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err := Write(path, func(w io.Writer) error {
		if _, err := w.Write([]byte("half")); err != nil {
			return err
		}
		return broken
	})
	if !errors.Is(err, broken) {
		t.Errorf("writing ended with %v, want %v", err, broken)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "first" {
		t.Errorf("after a write that failed the file has %q (%v)", got, err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("the folder has %v (%v), want the file only", left, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("the file is %v (%v)", info, err)
	}
	if err := WriteBytes(filepath.Join(path, "below a file"), nil); err == nil {
		t.Error("a file below a file was written")
	}
}
