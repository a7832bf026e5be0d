package far_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/contest/lab"
	"github.com/iikanji/iikanji/internal/load/field"
	"github.com/iikanji/iikanji/internal/load/loader"
	"github.com/iikanji/iikanji/internal/machine/fleet"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/livesite"
)

const (
	stallHome  = "/home/stall"
	stallLines = `program = "/home/stall/stall"
[service.app]
source = "/home/stall/src"`
	// stallState prints what a change of the source may alter.
	stallState = "cd /home/stall; find . -printf '%p %y %m %u\\n' | sort; find . -type f | sort | xargs sha256sum; systemctl is-active shop"
)

// stallSource puts the stall onto the app's machine: source of an account, and a program that
// was built with other flags than iikanji's.
func stallSource(app *lab.Machine, unit string) error {
	source := app.Path(stallHome + "/src")
	for _, name := range []string{"main.go", "go.mod", "go.sum"} {
		from := filepath.Join("testdata", "stall", name)
		if name != "main.go" {
			from += ".txt"
		}
		text, err := os.ReadFile(from)
		if err == nil {
			err = app.Write(stallHome+"/src/"+name, string(text), 0o644)
		}
		if err != nil {
			return err
		}
	}
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s", "-o", app.Path(stallHome+"/stall"), ".")
	build.Dir = source
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=-mod=mod")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	if out, err := exec.Command("chown", "-R", "33:33", source).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	unit = strings.Replace(unit, "/usr/local/bin/shop shop", stallHome+"/stall", 1)
	return app.Write("/etc/systemd/system/shop.service", unit, 0o644)
}

// losing are Hands that kill the far end of a machine at one op of a verb: before it, or once
// it is done.
type losing struct {
	change.Hands
	t     *testing.T
	m     *lab.Machine
	verb  iikanji.Verb
	after bool
	done  bool
}

// Perform implements change.Hands.
func (l *losing) Perform(ctx context.Context, op iikanji.Op) error {
	now := op.Verb == l.verb && !l.done
	if now && !l.after {
		l.lose()
	}
	err := l.Hands.Perform(ctx, op)
	if now && l.after && err == nil {
		l.lose()
	}
	return err
}

func (l *losing) lose() {
	l.done = true
	if _, err := l.m.Run(context.Background(), "sh", "-c", `for p in /proc/[0-9]*; do case $(readlink $p/exe) in /run/iikanji/*) kill -9 ${p#/proc/};; esac; done`); err != nil {
		l.t.Error(err)
	}
}

// A stall is a mall whose app has its source on its machine.
type stall struct {
	*mall
	t       *testing.T
	history *history.History
	dir     string // the work folder
	before  string // state
}

func openStall(t *testing.T) *stall {
	t.Helper()
	s := &stall{mall: openMall(t, stallSource, stallLines), t: t, dir: t.TempDir()}
	var err error
	if s.history, err = history.Open(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.history.Close() })
	s.before = s.state()
	return s
}

// state is what a change of the source may alter on the app's machine.
func (s *stall) state() string {
	s.t.Helper()
	r, err := s.machines["app"].Run(s.t.Context(), "sh", "-c", stallState)
	if err != nil || r.Status != 0 {
		s.t.Fatalf("%v: %s", err, r.Output)
	}
	return r.Output
}

// same compares the state with that at the begin.
func (s *stall) same(when string) {
	s.t.Helper()
	if now := s.state(); now != s.before {
		s.t.Fatalf("%s: the machine has\n%s\nwant\n%s", when, now, s.before)
	}
}

// use does something in a command of its own.
func (s *stall) use(do func(ctx context.Context, on *livesite.Subject, x *change.Executor) error) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 10*time.Minute)
	defer cancel()
	say := func(line string) { s.t.Log(line) }
	f, err := fleet.Open(ctx, s.file, fleet.Options{Write: true, Progress: say})
	if err != nil {
		s.t.Fatal(err)
	}
	err = livesite.Use(ctx, livesite.Options{File: s.file, Dir: s.dir, Hosts: livesite.Hosts(f.Hosts()), Progress: say}, func(ctx context.Context, on *livesite.Subject) error {
		policy := iikanji.Policy{Allow: []iikanji.Promise{iikanji.TestedOnly, iikanji.RowOrder, iikanji.Freshness, iikanji.Behaviour}}
		return do(ctx, on, &change.Executor{Hands: on.Site(), Journal: s.history, Policy: policy})
	})
	if err = errors.Join(err, f.Close()); err != nil {
		s.t.Fatal(err)
	}
}

// try plans a remedy, loads the site with it, and undoes it.
func (s *stall) try(r iikanji.Remedy) (planned *iikanji.Change) {
	s.t.Helper()
	s.use(func(ctx context.Context, on *livesite.Subject, x *change.Executor) (err error) {
		if planned, err = change.Plan(ctx, on.Site(), r); err != nil {
			return err
		}
		s.t.Log(planned.Says)
		if err := errors.Join(s.history.AddChange(planned, change.Diff(planned)), x.Apply(ctx, planned.ID)); err != nil {
			return err
		}
		if s.state() == s.before {
			s.t.Errorf("%s: applied, nothing is changed", r.Says)
		}
		l := &loader.Command{Site: s.file.Site, URL: s.file.URL, Bench: s.file.Bench, Now: time.Now, AccessLog: on.AccessLog, Machine: on.Front()}
		fd := &field.Field{Subject: on, Loader: l, History: s.history, Now: time.Now}
		got, err := fd.Run(ctx, field.Spec{})
		if err != nil {
			return err
		}
		if got.Run.Outcome != iikanji.Passed || got.Run.Score == 0 {
			s.t.Errorf("%s: %v, score %v, %v", r.Says, got.Run.Outcome, got.Run.Score, got.Run.Reasons)
		}
		return x.Revert(ctx, planned.ID, "test")
	})
	s.same(r.Says + " undone")
	return planned
}

// cut applies and reverts a change with hands that end in the middle, and recovers in another
// command.
func (s *stall) cut(planned *iikanji.Change, how string, hands func(*change.Site) change.Hands) {
	s.t.Helper()
	c := *planned
	if err := s.history.AddChange(&c, change.Diff(&c)); err != nil {
		s.t.Fatal(err)
	}
	s.use(func(ctx context.Context, on *livesite.Subject, x *change.Executor) error {
		x.Hands = hands(on.Site())
		killed, err := until(func() error { return errors.Join(x.Apply(ctx, c.ID), x.Revert(ctx, c.ID, "test")) })
		s.t.Logf("%s: killed %v, %v", how, killed, err)
		return nil
	})
	s.use(func(ctx context.Context, on *livesite.Subject, x *change.Executor) error {
		_, err := x.Recover(ctx)
		if now, e := s.history.LoadChange(c.ID); e == nil && now.Stage == iikanji.Applied {
			err = errors.Join(err, x.Revert(ctx, c.ID, "test"))
		}
		return err
	})
	s.same(how)
}

// TestMallSource: on machines with systemd, the source of the app gets a rewrite and a query
// cache. Each is built, put onto its machine and restarted by its unit; the load passes with it,
// and its undo leaves the machine as it was, to the byte, also where the connection is lost in
// the middle and where the command is killed.
func TestMallSource(t *testing.T) {
	tier.Long(t, "it boots three machines; TestSiteElsewhere has the same through a stream in each check")
	s := openStall(t)
	for name, args := range map[string]map[string]string{
		"rewrite": {"levers": "APP205", "file": "main.go", "func": "items"},
		"cache":   {"levers": "APP207", "file": "main.go", "func": "main"},
	} {
		planned := s.try(iikanji.Remedy{Kind: "gocode", Target: "shop", Says: name, Args: args})
		for _, verb := range []iikanji.Verb{iikanji.Write, iikanji.Restart} {
			for _, after := range []bool{false, true} {
				how := fmt.Sprintf("%s: the connection is lost at %v, once it is done: %v", name, verb, after)
				s.cut(planned, how, func(on *change.Site) change.Hands {
					return &losing{Hands: on, t: t, m: s.machines["app"], verb: verb, after: after}
				})
			}
		}
		for _, step := range []int{2, 3, 6} {
			s.cut(planned, fmt.Sprintf("%s: killed at step %d", name, step), func(on *change.Site) change.Hands {
				return &killedAt{Hands: on, step: step}
			})
		}
	}
}
