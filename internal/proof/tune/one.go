package tune

import (
	"context"
	"errors"
)

// Judge gives one candidate its trial and nothing else: it continues the search
// of this history, or measures the noise first, runs interleaved pairs, and keeps
// what they prove or undoes it to the byte. A change that the fast lane let in is
// confirmed by further runs before Judge returns. The attempt's Skipped is set if
// the candidate could not be planned.
func (t *Tuner) Judge(ctx context.Context, c Candidate) (Attempt, error) {
	if err := t.openLedger(); err != nil {
		return Attempt{}, err
	}
	at, err := t.judgeOne(ctx, c)
	err = errors.Join(err, t.save())
	if at >= len(t.ledger.Attempts) {
		return Attempt{Candidate: c}, err
	}
	return t.ledger.Attempts[at], err
}

// judgeOne returns the index of the attempt in the ledger. It is known after resume,
// which drops the attempts of a search whose changes were all reverted since.
func (t *Tuner) judgeOne(ctx context.Context, c Candidate) (at int, err error) {
	for _, step := range []func(context.Context) error{t.resume, t.calibrate} {
		if err := step(ctx); err != nil {
			return len(t.ledger.Attempts), err
		}
	}
	at = len(t.ledger.Attempts)
	if err := t.attempt(ctx, c); err != nil {
		return at, err
	}
	return at, t.confirmNow(ctx)
}
