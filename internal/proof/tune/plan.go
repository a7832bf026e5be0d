package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/proof/judge"
	"github.com/iikanji/iikanji/internal/proof/search"
	"github.com/iikanji/iikanji/internal/proof/trial"
)

// A planner turns candidates into changes.
type planner struct {
	book      *book
	display   *display
	hands     *hands
	make      func(ctx context.Context, r iikanji.Remedy) (*iikanji.Change, error)
	whichFile func(ctx context.Context, refused *change.WhichFileError) (_ iikanji.Remedy, ok bool, err error)
}

// undoneByInitialize tells why a change of a table does not last.
func undoneByInitialize(what string) string {
	return "initialize creates the table again, which undoes " + what
}

// planInFile plans a candidate. Where several schema files create its table
// alike, WhichFile chooses between them.
func (pl *planner) planInFile(ctx context.Context, c *search.Candidate) (planned *iikanji.Change, refused, err error) {
	planned, refused, err = pl.plan(ctx, *c)
	var which *change.WhichFileError
	if err != nil || pl.whichFile == nil || !errors.As(refused, &which) {
		return planned, refused, err
	}
	r, ok, err := pl.whichFile(ctx, which)
	if err != nil || !ok {
		return nil, refused, err
	}
	c.Remedy = r
	return pl.plan(ctx, *c)
}

// plan plans a candidate and adds the change to the history; refused is why
// there is no change.
func (pl *planner) plan(ctx context.Context, c search.Candidate) (planned *iikanji.Change, refused, err error) {
	if planned, refused, err = pl.look(ctx, c); err != nil || refused != nil {
		return nil, refused, err
	}
	return planned, nil, pl.book.store.AddChange(planned, change.Diff(planned))
}

// prepared applies a change that prepares a candidate, and plans the candidate again: the
// change that uses it. With refused or an error the preparation is undone.
func (pl *planner) prepared(ctx context.Context, c search.Candidate, first *iikanji.Change) (planned *iikanji.Change, refused, err error) {
	undo := func(why error) error {
		return pl.hands.undo(ctx, []*iikanji.Change{first}, firstLine(why.Error()))
	}
	if err := pl.hands.acts.Apply(ctx, first.ID); err != nil {
		undone, e := pl.hands.undone(first, err)
		if ctx.Err() != nil || !undone || e != nil {
			return nil, nil, errors.Join(err, e)
		}
		return nil, fmt.Errorf("it could not be prepared: %w", err), nil
	}
	planned, refused, err = pl.plan(ctx, c)
	if err == nil && refused == nil && planned.Prepares {
		refused = errors.New("it was prepared, and what uses it is not planned")
	}
	if err != nil || refused != nil {
		return nil, refused, errors.Join(err, undo(cmp.Or(refused, err)))
	}
	return planned, nil, nil
}

// look plans a candidate without adding it to the history.
func (pl *planner) look(ctx context.Context, c search.Candidate) (planned *iikanji.Change, refused, err error) {
	if pl.make != nil {
		planned, err = pl.make(ctx, c.Remedy)
	} else {
		planned, err = change.Plan(ctx, pl.hands.site, c.Remedy)
	}
	switch {
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case errors.Is(err, change.ErrNothing):
		return nil, change.ErrNothing, nil
	case err != nil:
		return nil, err, nil
	}
	planned.Answers = c.Code
	if p, no := judge.Forbidden(planned, pl.hands.acts.Policy.Allow); no {
		return nil, errors.New(judge.Refused(planned, p)), nil
	}
	return planned, nil, nil
}

// planAll plans parts in order. A part that touches a place of an earlier part is
// planned on the state that the earlier part leaves: the earlier parts are
// applied for that, and undone afterwards. Parts that cannot be planned are
// recorded as not tried and left out. With inOrder, a part that is refused is planned
// once more on the state that the earlier parts leave.
func (pl *planner) planAll(ctx context.Context, parts []search.Candidate, inOrder bool) (left []search.Candidate, planned []*iikanji.Change, err error) {
	defer func() {
		if e := pl.hands.undo(ctx, planned, "planned as a part of a bundle"); err == nil {
			err = e
		}
	}()
	applied := 0 // how many of the planned changes are applied
	for _, p := range parts {
		tried := pl.inFile(p)
		c, refused, err := pl.look(ctx, tried)
		again := inOrder && refused != nil
		if err == nil && refused == nil {
			again = slices.ContainsFunc(planned[applied:], func(o *iikanji.Change) bool { return trial.Touch(o, c) })
		}
		if err == nil && again && applied < len(planned) {
			if applied, refused, err = pl.applyFrom(ctx, planned, applied); err == nil && refused == nil {
				c, refused, err = pl.look(ctx, tried)
			}
		}
		if err != nil {
			return nil, planned, err
		}
		if refused != nil {
			pl.skip(p, refused)
			continue
		}
		if err := pl.book.store.AddChange(c, change.Diff(c)); err != nil {
			return nil, planned, err
		}
		left, planned = append(left, p), append(planned, c)
	}
	return left, planned, nil
}

// applyFrom applies the changes from an index on; refused is the change that
// could not be applied.
func (pl *planner) applyFrom(ctx context.Context, changes []*iikanji.Change, from int) (applied int, refused, err error) {
	for i := from; i < len(changes); i++ {
		err := pl.hands.acts.Apply(ctx, changes[i].ID)
		if err == nil {
			continue
		}
		if now, e := pl.book.store.LoadChange(changes[i].ID); ctx.Err() == nil && e == nil && now.Stage == iikanji.Reverted {
			return i, fmt.Errorf("another part of the bundle could not be applied (%s): %s", changes[i].Says, firstLine(err.Error())), nil
		}
		return i, nil, err
	}
	return len(changes), nil, nil
}

// inFile is the candidate as it has to be planned now.
func (pl *planner) inFile(c search.Candidate) search.Candidate {
	if pl.book.ledger().Wiped {
		c.Remedy = change.IntoSchemaFile(c.Remedy)
	}
	return c
}

// skip records a candidate that cannot be planned.
func (pl *planner) skip(c search.Candidate, refused error) {
	pl.display.say("not tried: %s: %s", c.Remedy.Says, firstLine(refused.Error()))
	l := pl.book.ledger()
	l.Attempts = append(l.Attempts, search.Attempt{Candidate: c, Key: c.Key(), Says: c.Remedy.Says, Binding: pl.book.state.Binding, Skipped: refused.Error()})
}
