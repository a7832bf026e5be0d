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

// An originalsTest is three originals in a folder, with their bytes.
type originalsTest struct {
	Originals
	t     *testing.T
	paths []string
	was   map[string]string
}

func newOriginalsTest(t *testing.T) *originalsTest {
	t.Helper()
	o := &originalsTest{t: t, was: map[string]string{}}
	o.Root = t.TempDir()
	o.Folder, o.Store = filepath.Join(o.Root, "initial"), filepath.Join(o.Root, ".kept", "1")
	if err := os.Mkdir(o.Folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"1.db", "2.db", "3.db"} {
		p := filepath.Join(o.Folder, name)
		if err := os.WriteFile(p, []byte("original "+name), 0o640); err != nil {
			t.Fatal(err)
		}
		o.paths, o.was[p] = append(o.paths, p), "original "+name
	}
	var err error
	if o.Files, err = Summed(t.Context(), o.Folder, o.paths); err != nil {
		t.Fatal(err)
	}
	return o
}

// alter is the alteration of a copy.
func (o *originalsTest) alter(_ context.Context, path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, " altered"...), 0o600)
}

// same checks that every original has its bytes and its mode, and that nothing is left.
func (o *originalsTest) same(what string) {
	o.t.Helper()
	for p, want := range o.was {
		b, err := os.ReadFile(p)
		if info, e := os.Stat(p); err != nil || e != nil || string(b) != want || info.Mode().Perm() != 0o640 {
			o.t.Errorf("%s: %s is %q, %v %v", what, p, b, err, e)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(o.Root, ".kept*")); len(left) > 0 {
		o.t.Errorf("%s: left behind: %q", what, left)
	}
}

// TestOriginals stops a replacement at each file: every name leads to a whole file, and
// Restore restores the bytes.
func TestOriginals(t *testing.T) {
	o := newOriginalsTest(t)
	stop := errors.New("stopped")
	for at := range 4 {
		n := 0
		err := o.Replace(t.Context(), func(ctx context.Context, path string) error {
			if n++; n > at {
				return stop
			}
			return o.alter(ctx, path)
		})
		if done := err == nil; done != (at == 3) {
			t.Fatalf("stopped before file %d: %v", at, err)
		}
		states, _, err := o.States(t.Context())
		if err != nil || !o.Unfinished() {
			t.Fatalf("stopped before file %d: unfinished %v, %v", at, o.Unfinished(), err)
		}
		for i, s := range states {
			if want := map[bool]State{true: Altered, false: Original}[i < at]; s != want {
				t.Errorf("stopped before file %d: state of file %d is %d", at, i, s)
			}
		}
		if at == 1 { // it goes on where it ended
			if err := o.Replace(t.Context(), o.alter); err != nil {
				t.Fatal(err)
			}
		}
		if err := o.Restore(t.Context()); err != nil {
			t.Fatal(err)
		}
		o.same("restored")
	}
	if err := o.Restore(t.Context()); err != nil || o.Unfinished() {
		t.Errorf("restoring twice: %v", err)
	}
}

// TestOriginalsEdited edits an altered copy by hand: it is not overwritten.
func TestOriginalsEdited(t *testing.T) {
	o := newOriginalsTest(t)
	if err := o.Replace(t.Context(), o.alter); err != nil {
		t.Fatal(err)
	}
	edited, err := os.ReadFile(o.paths[1])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(o.paths[1], []byte("by hand"), 0o640); err != nil {
		t.Fatal(err)
	}
	states, text, err := o.States(t.Context())
	if err != nil || !slices.Equal(states, []State{Altered, Foreign, Altered}) || !strings.Contains(text, "2.db ") {
		t.Errorf("an edited file: %v %s %v", states, text, err)
	}
	if err := o.Restore(t.Context()); !errors.Is(err, ErrForeign) {
		t.Errorf("restoring over an edit: %v", err)
	}
	if b, _ := os.ReadFile(o.paths[1]); string(b) != "by hand" {
		t.Errorf("the edit is %q", b)
	}
	if err := os.WriteFile(o.paths[1], edited, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := o.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	o.same("at the end")
}

// TestOriginalsLink puts a link to a file outside in the place of an original: it is not
// followed.
func TestOriginalsLink(t *testing.T) {
	o := newOriginalsTest(t)
	if err := os.Remove(o.paths[0]); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("original 1.db"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, o.paths[0]); err != nil {
		t.Fatal(err)
	}
	if err := o.Replace(t.Context(), o.alter); !errors.Is(err, ErrForeign) {
		t.Errorf("a link: %v", err)
	}
	if b, _ := os.ReadFile(outside); string(b) != "original 1.db" {
		t.Errorf("the file outside is %q", b)
	}
	if _, err := Summed(t.Context(), o.Folder, []string{outside}); err == nil {
		t.Error("a file outside of the folder was recorded")
	}
}
