package change

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/iikanji/iikanji"
)

// TestFromSource: a change of source that several services are built from restarts all of
// them, both ways, and one of a program's own package that program alone.
func TestFromSource(t *testing.T) {
	root, elsewhere := t.TempDir(), t.TempDir()
	svc := func(source, pkg string) Service {
		return Service{Source: source, Package: pkg, Builds: true, Running: acting{}}
	}
	off := svc(root, "cmd/off")
	off.Running = nil
	late := svc(root, "cmd/late")
	late.EnableFile = filepath.Join(root, "on")
	s := &Site{Roots: []string{root, elsewhere}, Services: map[string]Service{"web": svc(root, "cmd/web"), "queue": svc(root, "cmd/queue"), "tool": off, "late": late,
		"other": svc(elsewhere, ""), "database": {Running: acting{}}}}
	for file, want := range map[string][]string{
		"store/db.go":        {"web", "queue"},
		"cmd/web/main.go":    {"web"},
		"cmd/web/sub/a.go":   {"web", "queue"},
		"cmd/queue/main.go":  {"web", "queue"}, // a patch may edit any file
		"../env/web.env":     {"web"},
		"sqlcache/plan.json": {"web", "queue"},
	} {
		c := &iikanji.Change{Kind: "patch", Target: "web", Says: "edit"}
		s.FromSource(c, Edit{Path: filepath.Join(root, file), Old: []byte("a"), New: []byte("b")})
		for _, ops := range [][]iikanji.Op{c.Do, c.Undo} {
			var got []string
			for _, op := range ops {
				if op.Verb == iikanji.Restart {
					got = append(got, op.Place)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s restarts %q, want %q", file, got, want)
			}
		}
		if err := Check(c); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	alone := &iikanji.Change{Kind: "appenv", Target: "database", Says: "edit"}
	if s.FromSource(alone, Edit{Path: filepath.Join(root, "x"), New: []byte("b")}); len(alone.Do) != 2 {
		t.Errorf("a service without a source: %+v", alone.Do)
	}
}
