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
	at := len(t.ledger.Attempts)
	err := t.judgeOne(ctx, c)
	err = errors.Join(err, t.save())
	if at >= len(t.ledger.Attempts) {
		return Attempt{Candidate: c}, err
	}
	return t.ledger.Attempts[at], err
}

func (t *Tuner) judgeOne(ctx context.Context, c Candidate) error {
	for _, step := range []func(context.Context) error{t.resume, t.calibrate} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if err := t.attempt(ctx, c); err != nil {
		return err
	}
	return t.confirmNow(ctx)
}
