package work

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/proof/judge"
	"github.com/iikanji/iikanji/internal/proof/stats"
)

// A Proving compares the present state with a former one in interleaved pairs: the change
// that leads to the former one is applied for the runs of A, and undone for those of B.
type Proving struct {
	Day      *Day
	Executor *change.Executor
	Back     *iikanji.Change // in the history, planned
	// Outer are changes in force that led to what is the present state here, and that are
	// undone after all proofs: a kill leaves them to recover, too.
	Outer []iikanji.ChangeID
	// Bench makes one run; void is why it does not count.
	Bench func(ctx context.Context, state iikanji.Fingerprint) (run *iikanji.Run, void string, err error)
	// States are the fingerprints of the present and of the former state; "" if unknown.
	States [2]iikanji.Fingerprint
	Pairs  int // at most
	Seed   uint64
	Say    func(format string, args ...any)
	// Known are earlier runs of one state each, for the noise, and of the former state.
	Known []*iikanji.Run
	Until time.Time // no pair begins later; zero for no limit
	// Yield is asked before each run: its error ends the comparison, because a person wants
	// the turn. nil for never.
	Yield func() error

	away  bool // the former state is on the site
	ended bool // no more runs are made
}

// marker is the file that names the changes of a Proving under way, in the store.
const marker = "proving"

// Run runs pairs until the judge decides, and leaves the site as it found it.
func (p *Proving) Run(ctx context.Context) (v iikanji.Verdict, pairs []judge.Pair, err error) {
	if err := p.mark(p.Back.ID); err != nil {
		return v, nil, err
	}
	defer func() {
		p.ended = true
		err = errors.Join(err, p.put(context.WithoutCancel(ctx), false), p.unmark())
	}()
	j := judge.NewJudge(judge.Noise(p.Known))
	c := judge.Case{Change: *p.Back, Allow: p.Executor.Policy.Allow, Worth: judge.LeastWorth}
	for len(pairs) < p.Pairs && (p.Until.IsZero() || p.Day.Now().Before(p.Until)) {
		pair, err := p.pair(ctx, judge.NextOrder(p.Seed, p.Back.ID, usable(pairs)))
		if err != nil {
			return v, pairs, err
		}
		pairs = append(pairs, pair)
		c.Pairs = pairs
		if v = j.Decide(c); v.Call != iikanji.CallUnknown {
			return v, pairs, nil
		}
		p.Say("pair %d: %s", len(pairs), scores(pair))
		if len(pairs)-usable(pairs) > 3 {
			return v, pairs, errors.New("more than three pairs did not count: the machine is too disturbed for a proof")
		}
	}
	if v.Call == iikanji.CallUnknown {
		v.Call, v.Reason = iikanji.Inconclusive, iikanji.Undecided
	}
	return v, pairs, nil
}

func usable(pairs []judge.Pair) (n int) {
	for _, p := range pairs {
		if judge.Unusable(p) == "" {
			n++
		}
	}
	return n
}

func scores(p judge.Pair) string {
	if why := judge.Unusable(p); why != "" {
		return "does not count: " + why
	}
	return fmt.Sprintf("%+.1f %%", stats.Percent(stats.Mean(judge.LogScores([]*iikanji.Run{p.B}))-stats.Mean(judge.LogScores([]*iikanji.Run{p.A}))))
}

// pair runs both states once.
func (p *Proving) pair(ctx context.Context, order judge.Order) (pair judge.Pair, err error) {
	for _, present := range order.Arms() {
		if p.Yield != nil {
			if err := p.Yield(); err != nil {
				return pair, err
			}
		}
		if err := p.put(ctx, !present); err != nil {
			return pair, err
		}
		run, void, err := p.Bench(ctx, p.States[map[bool]int{true: 0, false: 1}[present]])
		if err != nil {
			return pair, err
		}
		if ctx.Err() != nil {
			return pair, fmt.Errorf("proving the edits: %w", context.Cause(ctx))
		}
		pair.Put(present, run, void)
	}
	return pair, nil
}

// put brings the site into one of the states. One that it has already gets the same
// restarts, so that neither state has warmer caches.
func (p *Proving) put(ctx context.Context, former bool) error {
	if former == p.away {
		if p.ended {
			return nil
		}
		return p.restarted(ctx)
	}
	if former {
		if err := p.Executor.Apply(ctx, p.Back.ID); err != nil {
			return err
		}
	} else if err := p.Executor.Revert(ctx, p.Back.ID, "work prove: the present state again"); err != nil {
		return err
	}
	p.away = former
	return nil
}

// restarted performs the restarts of the change alone.
func (p *Proving) restarted(ctx context.Context) error {
	for _, op := range p.Back.Do {
		if op.Verb == iikanji.Restart || op.Verb == iikanji.Reload {
			if err := p.Executor.Hands.Perform(ctx, op); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *Proving) mark(id iikanji.ChangeID) error {
	return Proves(p.Day.Store.Dir(), append(slices.Clone(p.Outer), id)...)
}

func (p *Proving) unmark() error {
	if p.away {
		return nil // recover undoes it
	}
	return Proves(p.Day.Store.Dir(), p.Outer...)
}

// Proves notes the changes that recover undoes after a kill, the latest first; without any
// the note is removed.
func Proves(dir string, ids ...iikanji.ChangeID) error {
	if len(ids) == 0 {
		return Settled(dir)
	}
	text, err := json.Marshal(ids)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, marker), text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("noting that states are being compared: %w", err)
	}
	return nil
}

// Unproven are the changes of a Proving that was killed, in the order in which they were
// applied; none if there was none. Those in force are undone from the last to the first.
func Unproven(dir string) (ids []iikanji.ChangeID, err error) {
	text, err := os.ReadFile(filepath.Join(dir, marker))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &ids)
	}
	if err != nil { // an earlier version wrote one number
		var id iikanji.ChangeID
		if json.Unmarshal(text, &id) == nil {
			return []iikanji.ChangeID{id}, nil
		}
		return nil, fmt.Errorf("reading which states were being compared: %w", err)
	}
	return ids, nil
}

// Settled removes the note of a Proving that was killed.
func Settled(dir string) error {
	err := os.Remove(filepath.Join(dir, marker))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the note of compared states: %w", err)
	}
	return nil
}
