package sqlitefile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestOriginals stops a replacement at each file and at each of its steps, in both
// directions: every name leads to a whole file, and Restore restores the bytes.
func TestOriginals(t *testing.T) {
	root := t.TempDir()
	folder := filepath.Join(root, "initial")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	var paths []string
	was := map[string]string{}
	for _, name := range []string{"1.db", "2.db", "3.db"} {
		p := filepath.Join(folder, name)
		if err := os.WriteFile(p, []byte("original "+name), 0o640); err != nil {
			t.Fatal(err)
		}
		paths, was[p] = append(paths, p), "original "+name
	}
	sums, err := Summed(t.Context(), folder, paths)
	if err != nil {
		t.Fatal(err)
	}
	o := Originals{Root: root, Folder: folder, Store: filepath.Join(root, ".kept", "1"), Files: sums}
	append1 := func(_ context.Context, path string) error {
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(path, append(b, " altered"...), 0o600)
	}
	same := func(what string) {
		t.Helper()
		for p, want := range was {
			b, err := os.ReadFile(p)
			if info, e := os.Stat(p); err != nil || e != nil || string(b) != want || info.Mode().Perm() != 0o640 {
				t.Errorf("%s: %s is %q, %v %v", what, p, b, err, e)
			}
		}
		if left, _ := filepath.Glob(filepath.Join(root, ".kept*")); len(left) > 0 {
			t.Errorf("%s: left behind: %q", what, left)
		}
	}
	stop := errors.New("stopped")
	for at := range 4 {
		n := 0
		err := o.Replace(t.Context(), func(ctx context.Context, path string) error {
			if n++; n > at {
				return stop
			}
			return append1(ctx, path)
		})
		if done := err == nil; done != (at == 3) {
			t.Fatalf("stopped before file %d: %v", at, err)
		}
		states, _, err := o.States(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range states {
			if want := map[bool]State{true: Altered, false: Original}[i < at]; s != want {
				t.Errorf("stopped before file %d: state of file %d is %d", at, i, s)
			}
		}
		if at == 1 { // it goes on where it ended
			if err := o.Replace(t.Context(), append1); err != nil {
				t.Fatal(err)
			}
		}
		if err := o.Restore(t.Context()); err != nil {
			t.Fatal(err)
		}
		same("restored")
	}
	if err := o.Restore(t.Context()); err != nil {
		t.Errorf("restoring twice: %v", err)
	}

	if err := o.Replace(t.Context(), append1); err != nil {
		t.Fatal(err)
	}
	edited, _ := os.ReadFile(paths[1])
	if err := os.WriteFile(paths[1], []byte("by hand"), 0o640); err != nil {
		t.Fatal(err)
	}
	states, text, err := o.States(t.Context())
	if err != nil || !slices.Equal(states, []State{Altered, Foreign, Altered}) || !strings.Contains(text, "2.db ") {
		t.Errorf("an edited file: %v %s %v", states, text, err)
	}
	if err := o.Restore(t.Context()); !errors.Is(err, ErrForeign) {
		t.Errorf("restoring over an edit: %v", err)
	}
	if b, _ := os.ReadFile(paths[1]); string(b) != "by hand" {
		t.Errorf("the edit is %q", b)
	}
	if err := os.WriteFile(paths[1], edited, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := o.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	same("at the end")

	// A link out of the folder is not followed.
	if err := os.Remove(paths[0]); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("original 1.db"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, paths[0]); err != nil {
		t.Fatal(err)
	}
	if err := o.Replace(t.Context(), append1); !errors.Is(err, ErrForeign) {
		t.Errorf("a link: %v", err)
	}
	if b, _ := os.ReadFile(outside); string(b) != "original 1.db" {
		t.Errorf("the file outside is %q", b)
	}
	if _, err := Summed(t.Context(), folder, []string{outside}); err == nil {
		t.Error("a file outside of the folder was recorded")
	}
}
