package host

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRemove(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time there is nothing to do
		if err := (Local{}).Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("still there: %v", err)
	}
	if err := (Local{}).Remove(dir); err == nil {
		t.Error("a folder was removed")
	}
}
