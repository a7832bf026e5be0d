package tune

import (
	"errors"
	"math/rand/v2"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/search"
)

// begin makes the parts of a new search.
func (t *Tuner) begin() {
	t.book = newBook(t.History, t.Options, t.Now)
	t.display = &display{book: t.book, onView: t.Show, onLine: t.Say}
	t.hands = &hands{book: t.book, display: t.display, acts: t.Acts, site: t.Site}
	t.runner = &runner{book: t.book, display: t.display, hands: t.hands, field: t.Field, rng: rand.New(rand.NewPCG(t.Options.Seed, 1))}
	t.planner = &planner{book: t.book, display: t.display, hands: t.hands, make: t.Plan, whichFile: t.WhichFile}
	t.out = &Outcome{Full: t.Options.Full, Place: t.Options.Place, Untouched: []iikanji.RunID{}, Final: []iikanji.RunID{}}
	t.on, t.design, t.star, t.final = nil, nil, nil, nil
}

// openLedger begins a search with the ledger of an earlier one on this history, if there is
// one.
func (t *Tuner) openLedger() error {
	t.begin()
	why, err := t.book.open()
	if err != nil {
		return err
	}
	if why != "" {
		t.display.say("%s", why)
	}
	if short := t.book.state.Options.Short; short != t.Options.Short {
		t.display.say("runs have a load of %s, which an earlier search found to teach more than %s", search.Brief(short), search.Brief(t.Options.Short))
		t.Options.Short = short
	}
	old, err := t.book.recall()
	if old {
		t.display.say("the noise was measured more than %s ago: calibrating again", t.book.state.NoiseValid())
	}
	return err
}

// close completes the outcome of a search that ended with err, and saves it.
func (t *Tuner) close(err error) (*Outcome, error) {
	s, out := t.book.present(), t.out
	if s.Ledger.ProvedSince(t.book.first) {
		s.Ledger.Fruitless = 0
	}
	out.Attempts = append([]search.Attempt{}, s.Ledger.Attempts...)
	out.Runs, out.Voided = s.Runs, s.Ledger.Voided-t.book.before[1]
	out.Short = s.Score
	out.Noise, out.Notes, out.Took = s.Judge.Prior.SD(), t.display.notes, s.Spent
	if t.display.plan != nil {
		out.Plan = *t.display.plan
	}
	out.Partial, out.Proofs = err != nil, s.Proofs()
	return out, errors.Join(err, t.book.save(), t.saveSearch(out))
}
