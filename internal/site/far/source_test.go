package far_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/livesite"
	"github.com/iikanji/iikanji/internal/site/target"
	"github.com/iikanji/iikanji/internal/site/targettest"
)

// errKilled ends a command between two steps, as kill -9 does: nothing is undone.
var errKilled = errors.New("killed")

// A killedAt are Hands of a process that is killed at a step: before or after an op.
type killedAt struct {
	change.Hands
	step int // of the two around each op; 0: none
	now  int
}

func (k *killedAt) reached() {
	if k.now++; k.now == k.step {
		panic(errKilled)
	}
}

// Perform implements change.Hands.
func (k *killedAt) Perform(ctx context.Context, op iikanji.Op) error {
	k.reached()
	err := k.Hands.Perform(ctx, op)
	k.reached()
	return err
}

// until does something until it is killed.
func until(do func() error) (killed bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			if r != errKilled {
				panic(r)
			}
			killed = true
		}
	}()
	return false, do()
}

// A farSource is a site whose app is on another machine, with its source.
type farSource struct {
	t       *testing.T
	file    *target.File
	hosts   livesite.Hosts
	dir     string // the work folder
	history *history.History
	of      string // folder of the source and the programs
}

// use opens the site as a command does.
func (f *farSource) use(do func(ctx context.Context, s *livesite.Subject, x *change.Executor) error) error {
	ctx, cancel := context.WithTimeout(f.t.Context(), 5*time.Minute)
	defer cancel()
	return livesite.Use(ctx, livesite.Options{File: f.file, Dir: f.dir, Hosts: f.hosts, Progress: func(line string) { f.t.Log(line) }}, func(ctx context.Context, s *livesite.Subject) error {
		policy := iikanji.Policy{Allow: []iikanji.Promise{iikanji.TestedOnly, iikanji.RowOrder, iikanji.Freshness, iikanji.Behaviour}}
		return do(ctx, s, &change.Executor{Hands: s.Site(), Journal: f.history, Policy: policy})
	})
}

// state is that of the source and the programs, to the byte.
func (f *farSource) state() string {
	f.t.Helper()
	var b strings.Builder
	for _, dir := range []string{"app", "bin"} {
		err := filepath.WalkDir(filepath.Join(f.of, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			text, err := os.ReadFile(path)
			fmt.Fprintf(&b, "%s %v %x\n", path, info.Mode(), sha256.Sum256(text))
			return err
		})
		if err != nil {
			f.t.Fatal(err)
		}
	}
	return b.String()
}

// rewritten: a lever rewrites the source of an app of another machine. The source is read and
// proven here, the program is built and put there, and the app is restarted. The undo restores
// source and program to the byte, also that of a command that is killed at any step.
func rewritten(t *testing.T, site *targettest.Site, file *target.File, hosts livesite.Hosts) {
	h, err := history.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	f := &farSource{t: t, file: file, hosts: hosts, dir: t.TempDir(), history: h, of: site.Dir}
	before := f.state()
	remedy := iikanji.Remedy{Kind: "gocode", Target: "ferry", Says: "one statement for all", Args: map[string]string{"levers": "APP205", "file": "main.go", "func": "harbour"}}
	var planned *iikanji.Change
	err = f.use(func(ctx context.Context, s *livesite.Subject, x *change.Executor) error {
		if planned, err = change.Plan(ctx, s.Site(), remedy); err != nil {
			return err
		}
		if err := h.AddChange(planned, change.Diff(planned)); err != nil {
			return err
		}
		pids := s.Groups()["ferry"]
		if err := x.Apply(ctx, planned.ID); err != nil {
			return err
		}
		if now := f.state(); now == before || fmt.Sprint(s.Groups()["ferry"]) == fmt.Sprint(pids) {
			t.Errorf("applied, the machine has\n%s\nprocess %v", now, s.Groups()["ferry"])
		}
		if err := s.AskSite(ctx); err != nil {
			t.Errorf("applied, the site does not answer: %v", err)
		}
		if err := x.Revert(ctx, planned.ID, "test"); err != nil {
			return err
		}
		if now := f.state(); now != before {
			t.Errorf("undone, the machine has\n%s\nwant\n%s", now, before)
		}
		return s.AskSite(ctx)
	})
	if err != nil {
		t.Fatal(err)
	}
	f.killed(planned, before)
}

// killed applies and reverts with a kill at a step, and recovers in another command: at each
// step in make soak, otherwise at some.
func (f *farSource) killed(planned *iikanji.Change, before string) {
	f.t.Helper()
	every := 8
	if tier.Soaking() {
		every = 1
	}
	for step := 2; ; step += every {
		c, killed := *planned, false
		if err := f.history.AddChange(&c, change.Diff(&c)); err != nil {
			f.t.Fatal(err)
		}
		err := f.use(func(ctx context.Context, s *livesite.Subject, x *change.Executor) (err error) {
			x.Hands = &killedAt{Hands: s.Site(), step: step}
			killed, err = until(func() error { return errors.Join(x.Apply(ctx, c.ID), x.Revert(ctx, c.ID, "test")) })
			return err
		})
		if err != nil {
			f.t.Fatalf("killed at step %d: %v", step, err)
		}
		err = f.use(func(ctx context.Context, s *livesite.Subject, x *change.Executor) error {
			if _, err := x.Recover(ctx); err != nil {
				return err
			}
			if now, err := f.history.LoadChange(c.ID); err == nil && now.Stage == iikanji.Applied { // killed between both
				return x.Revert(ctx, c.ID, "test")
			}
			return s.AskSite(ctx)
		})
		if err != nil {
			f.t.Fatalf("recovered from a kill at step %d: %v", step, err)
		}
		if now := f.state(); now != before {
			f.t.Fatalf("killed at step %d, the machine has\n%s\nwant\n%s", step, now, before)
		}
		if !killed {
			if step < 9 {
				f.t.Errorf("there were only %d steps", step)
			}
			return
		}
	}
}
