package ondemand

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

func remedy(target, run string) iikanji.Remedy {
	return iikanji.Remedy{Kind: "ondemand", Target: target, Args: map[string]string{"run": run}}
}

// siteIn is a site whose service queue runs while its enable file exists: a restart
// writes into a file what it finds. Service app always runs.
func siteIn(dir string) *change.Site {
	enable := filepath.Join(dir, "enabled", "queue")
	restart := func(context.Context) error {
		_, err := os.Stat(enable)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return os.WriteFile(filepath.Join(dir, "runs"), fmt.Appendln(nil, err == nil), 0o644)
	}
	return &change.Site{Roots: []string{dir}, Services: map[string]change.Service{
		"queue": {EnableFile: enable, Running: changetest.Running{OnRestart: restart}},
		"app":   {Running: changetest.Running{OnRestart: restart}},
	}}
}

// prepared makes the folder of a site whose service runs or not.
func prepared(t *testing.T, run string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "site") // a short name: the name of t.TempDir looks like a secret in a diff
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Mkdir(filepath.Join(dir, "enabled"), 0o755); err != nil {
		t.Fatal(err)
	}
	if run == "on" {
		if err := os.WriteFile(filepath.Join(dir, "enabled", "queue"), []byte("mebibytes = 7\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := siteIn(dir).Services["queue"].Running.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestStart starts the service, is killed at each step, and undoes it to the byte.
func TestStart(t *testing.T) {
	tier.Slow(t)
	conform(t, "off", "on", "true")
}

// TestEnd does the same with its end.
func TestEnd(t *testing.T) {
	tier.Slow(t)
	conform(t, "on", "off", "false")
}

func conform(t *testing.T, before, run, effect string) {
	dir := changetest.ChildDir()
	if dir == "" {
		dir = prepared(t, before)
	}
	changetest.Run(t, changetest.Case{
		Dir: dir, Open: siteIn,
		Policy:   iikanji.Policy{Allow: []iikanji.Promise{iikanji.Availability}},
		Remedies: map[string]iikanji.Remedy{run: remedy("queue", run)},
		Effects:  map[string]string{run: "runs: " + effect},
		State: func() (string, error) {
			tree, err := changetest.Tree(filepath.Join(dir, "enabled"))
			runs, err2 := os.ReadFile(filepath.Join(dir, "runs"))
			return fmt.Sprintf("%s\nruns: %s", tree, runs), errors.Join(err, err2)
		},
		Serves: func() error { return nil },
	})
}

// TestRefused checks remedies that cannot be planned.
func TestRefused(t *testing.T) {
	if changetest.ChildDir() != "" {
		return
	}
	site := siteIn(prepared(t, "off"))
	for _, r := range []iikanji.Remedy{remedy("app", "on"), remedy("none", "on"), remedy("queue", "perhaps"), {Kind: "ondemand", Target: "queue"}} {
		if c, err := change.Plan(t.Context(), site, r); err == nil {
			t.Errorf("%s %v is planned: %+v", r.Target, r.Args, c)
		}
	}
	if _, err := change.Plan(t.Context(), site, remedy("app", "on")); !errors.Is(err, errAlways) {
		t.Errorf("a service that always runs: %v", err)
	}
	if _, err := change.Plan(t.Context(), site, remedy("queue", "off")); !errors.Is(err, change.ErrNothing) {
		t.Errorf("a service that does not run is to end: %v", err)
	}
}

// TestWeakens: only the end of a service weakens a promise.
func TestWeakens(t *testing.T) {
	if changetest.ChildDir() != "" {
		return
	}
	for run, want := range map[string][]iikanji.Promise{"on": nil, "off": {iikanji.Availability}} {
		before := map[string]string{"on": "off", "off": "on"}[run]
		c, err := change.Plan(t.Context(), siteIn(prepared(t, before)), remedy("queue", run))
		if err != nil || !slices.Equal(c.Weakens, want) {
			t.Errorf("run = %s: %+v, %v", run, c, err)
		}
	}
}

// TestInForce compares the processes of the service with what was wanted.
func TestInForce(t *testing.T) {
	if changetest.ChildDir() != "" {
		return
	}
	for _, run := range []string{"on", "off"} {
		for _, pids := range [][]int{nil, {42}} {
			r := remedy("queue", run)
			site := siteIn(t.TempDir())
			svc := site.Services["queue"]
			svc.Running = changetest.Running{PIDs: func() []int { return pids }}
			site.Services["queue"] = svc
			err := site.ReadBack(t.Context(), &iikanji.Change{Kind: "ondemand", Target: "queue", Remedy: &r}, false)
			if wrong := (len(pids) > 0) != (run == "on"); (err != nil) != wrong {
				t.Errorf("run = %s with the processes %v: %v", run, pids, err)
			}
		}
	}
}
