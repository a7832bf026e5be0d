package tune

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/judge"
)

// ledgerVersion is the version of the ledger's file.
const ledgerVersion = 1

// A ledger is what a search writes down beside the journal, so that the next
// search continues where this one ended. It names runs and changes by number;
// which changes are applied is in the journal.
type ledger struct {
	Version  int                `json:"version"`
	Basis    string             `json:"basis"` // of the runs: see TuneOptions.Basis
	Short    time.Duration      `json:"short_ns"`
	AA       []iikanji.RunID    `json:"aa"`             // calibration runs of one unchanged state
	Attempts []Attempt          `json:"attempts"`       // in the order in which they were tried
	InForce  []iikanji.ChangeID `json:"in_force"`       // in the order in which they were applied
	Away     []iikanji.ChangeID `json:"away,omitempty"` // changes of InForce that a comparison or a drop-one check may have undone for a while
	Open     *unconfirmed       `json:"open,omitempty"`
	Wiped    bool               `json:"wiped"`              // initialize creates the tables again
	Absorbed bool               `json:"absorbed,omitempty"` // other work uses what one cure saves: see noteAbsorbed
	Pairs    [][][2]int         `json:"pairs"`              // of past trials, for the noise
	Incumb   []iikanji.RunID    `json:"incumbent"`
	Runs     int                `json:"runs"`
	Voided   int                `json:"voided"`
}

// An unconfirmed is an attempt that the fast lane accepted and that later runs
// have not confirmed yet.
type unconfirmed struct {
	Attempt int             `json:"attempt"` // index in ledger.Attempts
	Bound   float64         `json:"bound"`
	Before  []iikanji.RunID `json:"before"`
	Since   []iikanji.RunID `json:"since"`
}

// freshFor is how long a calibration of the noise is valid: the noise differs
// with the hour of the day and with other programs on the machine.
const freshFor = 12 * time.Hour

// openLedger reads the ledger of an earlier search on this history, if there is one.
func (t *Tuner) openLedger() error {
	t.begin()
	b := &t.ledger
	switch err := t.History.ReadLedger(ledgerVersion, b); {
	case errors.Is(err, fs.ErrNotExist):
		*b = ledger{Version: ledgerVersion}
	case err != nil:
		return err
	case b.Short != t.Options.Short:
		t.say("the ledger has runs of %s, which do not compare with runs of %s: calibrating again", b.Short, t.Options.Short)
		b.forgetRuns()
	case b.Basis != t.Options.Basis:
		t.say("the ledger has runs under other conditions (%s): calibrating again", b.Basis)
		b.forgetRuns()
	}
	b.Short, b.Basis = t.Options.Short, t.Options.Basis
	t.before, t.first = [2]int{b.Runs, b.Voided}, len(b.Attempts)
	if err := t.recall(); err != nil {
		return err
	}
	t.calibrated = len(t.aa)
	return nil
}

// forgetRuns drops the runs, which do not compare with those of this search. An
// unconfirmed change could never be confirmed: it is undone as an interrupted
// trial.
func (b *ledger) forgetRuns() {
	b.AA, b.Incumb, b.Pairs = nil, nil, nil
	if b.Open == nil {
		return
	}
	a := &b.Attempts[b.Open.Attempt]
	b.InForce = slices.DeleteFunc(b.InForce, func(id iikanji.ChangeID) bool { return slices.Contains(a.Changes, id) })
	a.again("the runs that would have confirmed it are of another search")
	b.Open = nil
}

// recall loads the runs that the ledger names.
func (sh shared) recall() (err error) {
	b := &sh.ledger
	if sh.aa, err = sh.load(b.AA); err != nil {
		return err
	}
	if sh.incumbent, err = sh.load(b.Incumb); err != nil {
		return err
	}
	sh.untouched = untouchedOf(sh.aa)
	if n := len(sh.aa); n > 0 && sh.began.Sub(sh.aa[n-1].Began) > freshFor {
		sh.say("the noise was measured more than %s ago: calibrating again", freshFor)
		sh.aa = nil
	}
	for _, pairs := range b.Pairs {
		var trial []judge.Pair
		for _, p := range pairs {
			two, err := sh.load([]iikanji.RunID{iikanji.RunID(p[0]), iikanji.RunID(p[1])})
			if err != nil {
				return err
			}
			trial = append(trial, judge.Pair{A: two[0], B: two[1]})
		}
		sh.past = append(sh.past, trial)
	}
	sh.learn()
	return nil
}

func (rec *records) load(ids []iikanji.RunID) ([]*iikanji.Run, error) {
	var runs []*iikanji.Run
	for _, id := range ids {
		r, err := rec.store.LoadRun(id)
		if err != nil {
			return nil, fmt.Errorf("going on with an earlier search: %w", err)
		}
		runs = append(runs, r)
	}
	return runs, nil
}

// save writes the ledger.
func (rec *records) save() error {
	rec.ledger.AA, rec.ledger.Incumb = ids(rec.aa), ids(rec.incumbent)
	return rec.store.SaveLedger(&rec.ledger)
}

func ids(runs []*iikanji.Run) []iikanji.RunID {
	out := make([]iikanji.RunID, 0, len(runs))
	for _, r := range runs {
		out = append(out, r.ID)
	}
	return out
}

// fingerprint is the fingerprint of all places that changes in force, and more,
// alter.
func (s *restorer) fingerprint(ctx context.Context, more ...*iikanji.Change) (iikanji.Fingerprint, error) {
	places := map[string]iikanji.Op{}
	collect := func(c *iikanji.Change) {
		for _, op := range c.Do {
			if op.Expect != "" {
				places[op.Location()] = op
			}
		}
	}
	for _, id := range s.ledger.InForce {
		c, err := s.store.LoadChange(id)
		if err != nil {
			return "", err
		}
		collect(c)
	}
	for _, c := range more {
		collect(c)
	}
	sum := sha256.New()
	for _, place := range slices.Sorted(maps.Keys(places)) {
		now, err := s.hands().State(ctx, places[place])
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%s %s\n", place, now)
	}
	return iikanji.Fingerprint(hex.EncodeToString(sum.Sum(nil))), nil
}
