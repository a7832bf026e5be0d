package stack

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena"
)

// layOnce lays out files and data in a folder as one start does.
func layOnce(t *testing.T, f folder, files fstest.MapFS, generated map[string]string) *manifest {
	t.Helper()
	a := &arena.Arena{Name: "tiny", Files: files, Services: []arena.Service{{Name: app, Engine: iikanji.EngineGo, Source: "go"}, {Name: nginx, Configs: []arena.Config{{Template: "nginx.conf"}}}},
		Generate: func(_ context.Context, webapp, data string) error {
			for name, text := range generated {
				path := filepath.Join(webapp, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					return err
				}
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					return err
				}
			}
			return os.WriteFile(filepath.Join(data, "copy"), []byte("copy"), 0o644)
		}}
	m, err := f.readManifest()
	must(t, err)
	must(t, f.layFiles(t.Context(), a, m))
	must(t, f.generate(t.Context(), a, m))
	must(t, f.writeManifest(m))
	return m
}

func mapFS(files map[string]string) fstest.MapFS {
	m := fstest.MapFS{}
	for name, text := range files {
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return m
}

// TestLaying is the history of one folder. Each step has the edits since the last
// start, the arena's files now, and the files expected after the start.
func TestLaying(t *testing.T) {
	f := folder{root: t.TempDir(), as: serviceAccount()}
	v1 := map[string]string{"go/main.go": "main 1", "go/isu.go": "isu 1", "sql/init.sh": "#!/bin/sh\n", "nginx.conf": "template", "public/a": "a"}
	v2 := map[string]string{"go/main.go": "main 2", "go/isu.go": "isu 2", "sql/init.sh": "#!/bin/sh\n", "public/b": "b"}
	for _, step := range []struct {
		name        string
		happens     func()
		files, data map[string]string
		want        map[string]string // "" means that the file is gone
		kept, stale []string
	}{
		{name: "first", files: v1, data: map[string]string{"sql/data.sql": "data 1"},
			want: map[string]string{"go/main.go": "main 1", "public/a": "a", "sql/data.sql": "data 1", "nginx.conf": ""}},
		{name: "same again", files: v1, data: map[string]string{"sql/data.sql": "data 1"},
			want: map[string]string{"go/main.go": "main 1"}},
		{name: "edits", happens: func() {
			put(t, f, "webapp/go/main.go", "mine")
			put(t, f, "webapp/go/new.go", "new")
			must(t, os.Remove(f.path("webapp/go/isu.go")))
			put(t, f, "webapp/public/a", "my a")
		}, files: v1, data: map[string]string{"sql/data.sql": "data 1"},
			want: map[string]string{"go/main.go": "mine", "go/new.go": "new", "go/isu.go": "", "public/a": "my a"},
			kept: []string{"webapp/go/isu.go", "webapp/go/main.go", "webapp/public/a"}},
		{name: "another version", files: v2, data: map[string]string{"sql/data.sql": "data 2"},
			want: map[string]string{"go/main.go": "mine", "go/isu.go": "", "public/a": "my a", "public/b": "b", "sql/data.sql": "data 2"},
			kept: []string{"webapp/go/isu.go", "webapp/go/main.go"}, stale: []string{"webapp/go/isu.go", "webapp/go/main.go"}},
		{name: "the edit became the version", happens: func() { put(t, f, "webapp/go/main.go", "main 2") }, files: v2,
			data: map[string]string{"sql/data.sql": "data 2"},
			want: map[string]string{"go/main.go": "main 2"}, kept: []string{"webapp/go/isu.go"}, stale: []string{"webapp/go/isu.go"}},
		{name: "less", files: map[string]string{"go/main.go": "main 3"}, data: nil,
			want: map[string]string{"go/main.go": "main 3", "public/b": "", "public/a": "my a", "sql/data.sql": "", "sql/init.sh": ""}},
		{name: "in the way", happens: func() { put(t, f, "webapp/public/c", "mine") }, files: map[string]string{"public/c": "theirs", "go/main.go": "main 3"},
			want: map[string]string{"public/c": "mine"}, kept: []string{"webapp/public/c"}, stale: []string{"webapp/public/c"}},
		{name: "removed as a whole", happens: func() { must(t, os.RemoveAll(f.path(webappDir))) }, files: v1,
			want: map[string]string{"go/main.go": "main 1", "go/isu.go": "isu 1", "go/new.go": ""}},
	} {
		if step.happens != nil {
			step.happens()
		}
		m := layOnce(t, f, mapFS(step.files), step.data)
		for name, text := range step.want {
			if b, _ := os.ReadFile(f.path(webappDir, name)); string(b) != text {
				t.Errorf("%s: %s is %q, want %q", step.name, name, b, text)
			}
		}
		slices.Sort(m.kept)
		slices.Sort(m.stale)
		if !slices.Equal(m.kept, step.kept) || !slices.Equal(m.stale, step.stale) {
			t.Errorf("%s: kept %v, want %v; stale %v, want %v", step.name, m.kept, step.kept, m.stale, step.stale)
		}
		if b, _ := os.ReadFile(f.path(dataDir, "copy")); string(b) != "copy" {
			t.Errorf("%s: the benchmarker's copy is %q", step.name, b)
		}
		mustExist(t, f.path(newDir), false)
	}
}

func put(t *testing.T, f folder, rel, text string) {
	t.Helper()
	must(t, os.WriteFile(f.path(rel), []byte(text), 0o644))
}

// TestLayingCrash loses the manifest after a file was laid out and before the
// manifest was written. A file with the wanted contents is not an edit.
func TestLayingCrash(t *testing.T) {
	f := folder{root: t.TempDir(), as: serviceAccount()}
	m := layOnce(t, f, mapFS(map[string]string{"go/main.go": "main 1"}), nil)
	before := maps.Clone(m.entries)
	layOnce(t, f, mapFS(map[string]string{"go/main.go": "main 2"}), nil)
	m.entries = before
	must(t, f.writeManifest(m))
	if m = layOnce(t, f, mapFS(map[string]string{"go/main.go": "main 2"}), nil); len(m.kept) > 0 {
		t.Errorf("kept: %v", m.kept)
	}
	must(t, os.Remove(f.path(manifestFile)))
	if m = layOnce(t, f, mapFS(map[string]string{"go/main.go": "main 2"}), nil); len(m.kept) > 0 {
		t.Errorf("kept: %v", m.kept)
	}
	if m = layOnce(t, f, mapFS(map[string]string{"go/main.go": "main 3"}), nil); len(m.kept) > 0 {
		t.Errorf("kept: %v", m.kept)
	}
}

// TestLayingModule checks that an arena's own module file is kept, and that an app
// without one gets a module file without dependencies.
func TestLayingModule(t *testing.T) {
	f := folder{root: t.TempDir(), as: serviceAccount()}
	layOnce(t, f, mapFS(map[string]string{"go/main.go": "package main"}), nil)
	mod, err := f.read(webappDir, "go", "go.mod")
	must(t, err)
	if !strings.HasPrefix(string(mod), "module tiny\n\ngo 1.") || strings.Contains(string(mod), "require") {
		t.Errorf("go.mod: %s", mod)
	}
	f = folder{root: t.TempDir(), as: serviceAccount()}
	layOnce(t, f, mapFS(map[string]string{"go/main.go": "package main", "go/go.mod": "module own\n"}), nil)
	if mod, _ := f.read(webappDir, "go", "go.mod"); string(mod) != "module own\n" {
		t.Errorf("go.mod: %s", mod)
	}
	mustExist(t, f.path(webappDir, "go", "go.sum"), false)
}

// TestModes asserts that scripts are executable, and that an app that runs as
// another user can write next to its files.
func TestModes(t *testing.T) {
	f := folder{root: t.TempDir(), as: serviceAccount()}
	layOnce(t, f, mapFS(map[string]string{"go/main.go": "package main", "sql/init.sh": "#!/bin/sh\n"}), nil)
	script, err := os.Stat(f.path(webappDir, "sql", "init.sh"))
	must(t, err)
	source, err := os.Stat(f.path(webappDir, "go", "main.go"))
	must(t, err)
	dir, err := os.Stat(f.path(webappDir, "go"))
	must(t, err)
	want := []os.FileMode{0o755, 0o644, 0o755 | os.ModeDir}
	if f.as.drop {
		want = []os.FileMode{0o775, 0o664, 0o775 | os.ModeDir | os.ModeSetgid}
	}
	if got := []os.FileMode{script.Mode(), source.Mode(), dir.Mode()}; !slices.Equal(got, want) {
		t.Errorf("modes %v, want %v", got, want)
	}
}
