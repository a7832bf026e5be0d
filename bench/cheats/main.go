// Command cheats tests that a search cannot be won by breaking the site: it offers
// patches of isucondition's source that break a promise to the users as proposals
// to the whole search of iikanji tune, on the real arena, and reports why each was
// undone. The exit status is 3 if one was kept, or undone for another reason than
// the check that it breaks.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/iikanji/iikanji"
	_ "github.com/iikanji/iikanji/arenas/isucondition"
	"github.com/iikanji/iikanji/internal/cause/diagnose"
	"github.com/iikanji/iikanji/internal/change"
	_ "github.com/iikanji/iikanji/internal/change/all" // registers every kind of change
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/load"
	"github.com/iikanji/iikanji/internal/load/bench"
	"github.com/iikanji/iikanji/internal/load/field"
	"github.com/iikanji/iikanji/internal/proof/search"
	"github.com/iikanji/iikanji/internal/proof/tune"
	"github.com/iikanji/iikanji/internal/site/arenasite"
)

// Exit statuses.
const (
	statusFailed = 1
	statusWon    = 3 // a cheat was kept, or undone for another reason
)

const arenaName = "isucondition"

func main() {
	stack.MaybeSupervise()
	runtime.LockOSThread() // children are killed when the thread that started them ends
	load := flag.Duration("load", 5*time.Second, "load of each run")
	only := flag.String("only", "", "only the cheats whose name has this text")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	won, err := run(ctx, os.Stdout, os.Stderr, *load, *only)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "cheats:", err)
		os.Exit(statusFailed)
	case won:
		os.Exit(statusWon)
	}
}

// run offers every cheat to one search and prints the outcomes.
func run(ctx context.Context, out, errs io.Writer, load time.Duration, only string) (won bool, err error) {
	a, _ := arena.Find(arenaName) // always found: it is linked in
	dir, err := os.MkdirTemp("", "iikanji-cheats-")
	if err != nil {
		return false, fmt.Errorf("making a work folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.Chmod(dir, 0o755); err != nil { // if root runs this, the services run as another user
		return false, fmt.Errorf("opening the work folder to the services: %w", err)
	}
	h, err := history.Open(filepath.Join(dir, "history"))
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	say := func(line string) { fmt.Fprintln(errs, time.Now().Format(time.TimeOnly), line) }
	err = arenasite.Use(ctx, a, stack.Options{Dir: filepath.Join(dir, "stack"), Progress: say}, func(ctx context.Context, p *arenasite.Subject) error {
		t, err := newTrials(p, h, load, only, say)
		if err != nil {
			return err
		}
		found, err := t.search(ctx)
		if err != nil {
			return err
		}
		won, err = t.print(out, found)
		return err
	})
	return won, err
}

// trials is one search with the cheats as its only candidates.
type trials struct {
	*field.Field
	site       *change.Site
	history    *history.History
	load       time.Duration
	say        func(string)
	cheats     []cheat
	candidates []search.Candidate
}

func newTrials(p *arenasite.Subject, h *history.History, load time.Duration, only string, say func(string)) (*trials, error) {
	t := &trials{site: p.Site(), history: h, load: load, say: say}
	service, source := "", map[string][]byte{}
	for name, svc := range t.site.Services {
		if svc.Source == "" {
			continue
		}
		service = name
		files, err := filepath.Glob(filepath.Join(svc.Source, "*.go"))
		if err != nil {
			return nil, fmt.Errorf("finding the source: %w", err)
		}
		for _, f := range files {
			if source[filepath.Base(f)], err = os.ReadFile(f); err != nil {
				return nil, fmt.Errorf("reading the source: %w", err)
			}
		}
	}
	for _, c := range cheats {
		if !strings.Contains(c.name, only) {
			continue
		}
		r, err := c.remedy(service, source)
		if err != nil {
			return nil, err
		}
		t.cheats = append(t.cheats, c)
		t.candidates = append(t.candidates, search.Candidate{Remedy: r, Code: "APP101", Claim: "planted"})
	}
	cpus, err := bench.AllowedCPUs()
	if err != nil {
		return nil, err
	}
	l := p.Scenario(arena.Options{})
	l.Seed, l.CPUs, l.Place = 1, cpus, iikanji.Placement{Cores: runtime.NumCPU(), Generator: bench.CPUList(cpus)}
	t.Field = &field.Field{Subject: p, Loader: l, History: h, Now: time.Now, Dir: filepath.Dir(h.Dir()), Noisy: true}
	return t, nil
}

// search runs the whole search and undoes everything.
func (t *trials) search(ctx context.Context) (*tune.Outcome, error) {
	acts := &change.Executor{Hands: t.site, Journal: t.history, Policy: t.site.Target.Policy}
	u := &tune.Tuner{Field: t, Site: t.site, Acts: acts, History: t.history, Now: time.Now, Say: t.say,
		Options: search.Options{Short: t.load, Full: t.load, Watch: t.load, Pairs: 2, Seed: 1},
		Propose: func(context.Context, *diagnose.Diagnosis, []iikanji.Fact, []search.Attempt) ([]search.Candidate, error) {
			return t.candidates, nil
		}}
	out, err := u.Tune(ctx)
	_, undone := acts.RevertAll(context.WithoutCancel(ctx), "the trials are over")
	return out, errors.Join(err, undone)
}

// Observe implements tune.Field: every candidate comes from the proposer.
func (t *trials) Observe(context.Context, load.Spec) (*diagnose.Diagnosis, []iikanji.Fact, error) {
	return &diagnose.Diagnosis{Run: &iikanji.Run{}}, nil, nil
}

// print prints a line for each cheat: its verdict, and whether its runs failed by
// the check that it breaks.
func (t *trials) print(w io.Writer, out *tune.Outcome) (won bool, err error) {
	for i, c := range t.cheats {
		verdict, ok := "not tried", false
		for _, a := range out.Attempts {
			if a.Key != t.candidates[i].Key() {
				continue
			}
			v := a.Verdict
			verdict = fmt.Sprintf("%s (%s): %s", v.Call, v.Reason, v.Why)
			if a.Skipped != "" {
				verdict = "not tried: " + a.Skipped
			}
			ok = v.Call == iikanji.Revert && v.Reason == iikanji.Gate && slices.ContainsFunc(c.want, func(text string) bool { return strings.Contains(firstLine(v.Why), text) })
		}
		won = won || !ok
		if _, err := fmt.Fprintf(w, "%-48s %-5v %s\n", c.name, ok, firstLine(verdict)); err != nil {
			return won, err
		}
	}
	return won, nil
}

// firstLine is the first line of a text: the others quote answers, which may have any
// word.
func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
