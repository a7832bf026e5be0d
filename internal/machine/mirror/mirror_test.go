package mirror

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// write makes files below a folder; "" removes one.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		err := os.RemoveAll(path)
		if err == nil && text != "" {
			err = errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// listed are the files of a folder with their contents, a line each.
func listed(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		if d.IsDir() {
			fmt.Fprintf(&b, "%s/\n", rel)
			return nil
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(&b, "%s %s\n", rel, text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestSync: a mirror has the files of its source after each change of it: an edit, a new file,
// a removed one, a file in place of a folder and the other way. The program, hidden names and
// links are left out.
func TestSync(t *testing.T) {
	source, dir := t.TempDir(), filepath.Join(t.TempDir(), "deep", "copy")
	src := Source{Dir: source, Program: filepath.Join(source, "app")}
	if err := os.Symlink("/etc/passwd", filepath.Join(source, "link")); err != nil {
		t.Fatal(err)
	}
	write(t, source, map[string]string{"app": "program", ".git/HEAD": "ref", "node_modules/x.js": "x"})
	for _, step := range []struct {
		first, edit map[string]string
		want        string
	}{
		{nil, map[string]string{"main.go": "one", "db/db.go": "db"}, "db/\ndb/db.go db\nmain.go one\n"},
		{nil, map[string]string{"main.go": "two", "page.html": "page"}, "db/\ndb/db.go db\nmain.go two\npage.html page\n"},
		{nil, map[string]string{"db": "a file"}, "db a file\nmain.go two\npage.html page\n"},
		{map[string]string{"db": "", "page.html": "", "main.go": ""}, map[string]string{"main.go/x.go": "x"}, "main.go/\nmain.go/x.go x\n"},
		{nil, map[string]string{"main.go": ""}, ""},
	} {
		write(t, source, step.first)
		write(t, source, step.edit)
		if _, err := Sync(t.Context(), host.Local{}, src, dir); err != nil {
			t.Fatal(err)
		}
		if got := listed(t, dir); got != step.want {
			t.Errorf("%v: the copy has\n%s\nwant\n%s", step.edit, got, step.want)
		}
	}
	write(t, source, map[string]string{"main.go": "again"})
	write(t, dir, map[string]string{"main.go": "edited here", "more/of/it.go": "by hand"})
	if _, err := Sync(t.Context(), host.Local{}, src, dir); err != nil {
		t.Fatal(err)
	}
	if got := listed(t, dir); got != "main.go again\n" {
		t.Errorf("after edits of the copy it has\n%s", got)
	}
}

// TestParts: a source that is larger than one answer arrives in several. A large file, hidden
// names and links are left out and named.
func TestParts(t *testing.T) {
	source, dir := t.TempDir(), t.TempDir()
	large := strings.Repeat("x", mostFile)
	write(t, source, map[string]string{"a.bin": large, "b.bin": large, "c.bin": large, "d.go": "end", "larger.bin": large + "x", "dist/.vite/m.json": "{}",
		".git/HEAD": "ref", "bin/app": large + "program", "dist/node_modules/x.js": "x"})
	if err := os.Symlink("d.go", filepath.Join(source, "e.go")); err != nil {
		t.Fatal(err)
	}
	left, err := Sync(t.Context(), host.Local{}, Source{Dir: source, Program: filepath.Join(source, "bin", "app")}, dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []LeftOut{{"dist/.vite", true, false}, {"dist/node_modules", true, false}, {"e.go", false, true}, {"larger.bin", false, false}}
	if !slices.Equal(left, want) {
		t.Errorf("left out are %v, want %v", left, want)
	}
	for name, size := range map[string]int64{"a.bin": mostFile, "b.bin": mostFile, "c.bin": mostFile, "d.go": 3, "larger.bin": -1} {
		info, err := os.Stat(filepath.Join(dir, name))
		if size < 0 && !errors.Is(err, fs.ErrNotExist) || size >= 0 && (err != nil || info.Size() != size) {
			t.Errorf("%s: %v, want %d bytes", name, err, size)
		}
	}
}

// TestHostile: names and links that lead out of a mirror are refused: the names come from
// another machine.
func TestHostile(t *testing.T) {
	outside := t.TempDir()
	for _, name := range []string{"../x", "/etc/x", "a/../../x", "", "a//b", "link/x"} {
		dir := t.TempDir()
		if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
			t.Fatal(err)
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := take(root, answer{Names: []string{name}, Files: []file{{name, []byte("x")}}}, map[string]string{}); err == nil {
			t.Errorf("a file %q was written", name)
		}
		if err := root.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got := listed(t, outside); got != "" {
		t.Errorf("outside there is\n%s", got)
	}
}

// TestState: an edit changes the digest of the source and not that of the program, and a build
// the other one alone, also where the program lies in the source.
func TestState(t *testing.T) {
	source := t.TempDir()
	src := Source{Dir: source, Program: filepath.Join(source, "bin", "app")}
	state := func() State {
		t.Helper()
		is, err := StateOn(context.Background(), host.Local{}, src)
		if err != nil {
			t.Fatal(err)
		}
		return is
	}
	write(t, source, map[string]string{"main.go": "one"})
	none := state()
	write(t, source, map[string]string{"bin/app": "program of one"})
	first := state()
	write(t, source, map[string]string{"main.go": "two"})
	edited := state()
	write(t, source, map[string]string{"main.go": "one", "bin/app": "program of two"})
	built := state()
	if none.Program != "" || none.Source != first.Source || edited.Source == first.Source || edited.Program != first.Program || built.Source != first.Source || built.Program == first.Program {
		t.Errorf("%+v\n%+v\n%+v\n%+v", none, first, edited, built)
	}
	if _, err := StateOn(context.Background(), host.Local{}, Source{Dir: filepath.Join(source, "gone")}); err == nil {
		t.Error("a source that is gone has a state")
	}
}
