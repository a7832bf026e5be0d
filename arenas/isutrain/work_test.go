package isutrain_test

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	_ "github.com/iikanji/iikanji/arenas/isutrain"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/contest/arena/arenatest/apptest"
	"github.com/iikanji/iikanji/internal/load/bench"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// checks runs the checks before the load, which send the same requests every time.
func checks(t *testing.T, site *apptest.Site) *iikanji.Run {
	t.Helper()
	sc, err := site.Stack.Arena().Scenario(arena.Options{Data: site.Stack.Data(), NoLoad: true, Clock: 10})
	if err != nil {
		t.Fatal(err)
	}
	run, err := bench.Run(t.Context(), sc, bench.Options{URL: site.URL(), Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// workOf is the work of the database in the checks, which must pass.
func workOf(t *testing.T, site *apptest.Site) apptest.Work {
	t.Helper()
	return site.WorkOf(t, func() {
		if run := checks(t, site); run.Outcome != iikanji.Passed {
			t.Fatalf("the checks %s: %v", run.Outcome, run.Reasons)
		}
	})
}

// TestWork: single changes, each alone beside the index on the timetable, save the statements or
// the rows that they are for; times say nothing on a busy machine. The trap works: an index on
// the trains, whose order the search shows, fails the checks, and they pass without it.
func TestWork(t *testing.T) {
	tier.Long(t, "it builds the app once for each change, and proves what the README has")
	site := apptest.Up(t, "isutrain")
	source := filepath.Join(site.Stack.Places().Webapp, "go")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	alter := func(statement string) {
		if _, err := site.DB.ExecContext(ctx, statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	untouched := workOf(t, site)
	alter("ALTER TABLE train_timetable_master ADD INDEX stop (date, train_class, train_name, station)")
	base := workOf(t, site)
	t.Logf("%-46s %7d SELECTs %9d rows", "untouched", untouched.Selects, untouched.Scanned)
	t.Logf("%-46s %7d SELECTs %9d rows", "index on the timetable", base.Selects, base.Scanned)
	if base.Scanned*4 > untouched.Scanned {
		t.Errorf("the index on the timetable leaves %d of %d rows", base.Scanned, untouched.Scanned)
	}
	for _, c := range []struct {
		change        string  // a rung, or an index as in "table (columns)"
		selects, rows float64 // the largest shares that may be left
	}{
		{"seat_reservations (reservation_id)", 1, 1},
		{"reservations (date, train_class, train_name)", 1, 1},
		{"seat_master (train_class, car_number)", 1, 0.4},
		{"06-seats-of-a-car-once.patch", 0.6, 1},
		{"07-free-seats-once.patch", 0.95, 0.85},
		{"08-masters-in-memory.patch", 0.8, 1},
	} {
		var undo func()
		if table, columns, ok := strings.Cut(c.change, " ("); ok {
			alter("ALTER TABLE " + table + " ADD INDEX w (" + columns)
			undo = func() { alter("ALTER TABLE " + table + " DROP INDEX w") }
		} else {
			undo = patched(ctx, t, source, c.change)
			if err := site.Stack.Rebuild(ctx, "app"); err != nil {
				t.Fatal(err)
			}
		}
		w := workOf(t, site)
		t.Logf("%-46s %7d SELECTs %9d rows", c.change, w.Selects, w.Scanned)
		if float64(w.Selects) > c.selects*float64(base.Selects) || float64(w.Scanned) > c.rows*float64(base.Scanned) {
			t.Errorf("%s leaves %d of %d SELECTs and %d of %d rows", c.change, w.Selects, base.Selects, w.Scanned, base.Scanned)
		}
		undo()
	}
	alter("ALTER TABLE train_master ADD INDEX trap (date, train_class, train_name)")
	trapped := checks(t, site)
	if trapped.Outcome != iikanji.Failed || !slices.ContainsFunc(trapped.Faults, func(f iikanji.Fault) bool { return f.Check == "search-trains" }) {
		t.Errorf("with an index on the trains the checks %s: %v", trapped.Outcome, trapped.Reasons)
	}
	alter("ALTER TABLE train_master DROP INDEX trap")
	workOf(t, site)
}

// patched applies a rung to the source, and returns what restores it.
func patched(ctx context.Context, t *testing.T, source, rung string) (restore func()) {
	t.Helper()
	was := map[string][]byte{}
	err := fs.WalkDir(os.DirFS(source), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".go") {
			was[path], err = os.ReadFile(filepath.Join(source, path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	file, err := filepath.Abs(filepath.Join("ladder", rung))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, "patch", "-p1", "--silent", "--no-backup-if-mismatch", "-i", file)
	cmd.Dir = source
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("patching: %v\n%s", err, out)
	}
	return func() {
		for path, text := range was {
			if err := os.WriteFile(filepath.Join(source, path), text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
