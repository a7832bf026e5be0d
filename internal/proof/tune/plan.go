package tune

import (
	"context"
	"errors"
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/proof/judge"
)

// try gives one candidate its trial: plan, apply, pairs, verdict, keep or undo.
func (t *Tuner) try(ctx context.Context, c Candidate) (Attempt, error) {
	a := Attempt{Candidate: c, Key: c.Key(), Says: c.Remedy.Says, Binding: t.binding()}
	t.under = a.Key
	defer func() { t.under = "" }()
	plain := c.Remedy
	if t.ledger.Wiped {
		c.Remedy = change.IntoSchemaFile(c.Remedy)
	}
	for again := false; ; again = true {
		planned, refused, err := t.planInFile(ctx, &c)
		if err == nil && refused != nil && !again && change.InSchemaFile(c.Remedy) && !change.InSchemaFile(plain) {
			// initialize may leave this table alone: try without the file; a run shows it.
			c.Remedy = plain
			planned, refused, err = t.plan(ctx, c)
		}
		if refused != nil {
			a.Skipped = refused.Error()
		}
		if err != nil || refused != nil {
			return a, err
		}
		tr := newTrial(t.runner, t.queue, planned)
		a.Changes, a.Says = append(a.Changes, planned.ID), planned.Says
		err = tr.hold(ctx, &a)
		a.Runs, a.Took = a.Runs+tr.runs, a.Took+t.Now().Sub(tr.began)
		if err != nil || !tr.replan {
			return a, err
		}
		if again || change.InSchemaFile(c.Remedy) {
			a.Skipped = undoneByInitialize("the change") + "; its schema file cannot be edited for it"
			return a, nil
		}
		t.ledger.Wiped = true
		t.say("%s; it goes into the schema file that initialize loads", undoneByInitialize("the change"))
		c.Remedy = change.IntoSchemaFile(c.Remedy)
	}
}

// undoneByInitialize tells why a change of a table does not last.
func undoneByInitialize(what string) string {
	return "initialize creates the table again, which undoes " + what
}

// planInFile plans a candidate. Where several schema files create its table
// alike, WhichFile chooses between them.
func (pl *planner) planInFile(ctx context.Context, c *Candidate) (planned *iikanji.Change, refused, err error) {
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
func (pl *planner) plan(ctx context.Context, c Candidate) (planned *iikanji.Change, refused, err error) {
	if planned, refused, err = pl.look(ctx, c); err != nil || refused != nil {
		return nil, refused, err
	}
	return planned, nil, pl.store.AddChange(planned, change.Diff(planned))
}

// look plans a candidate without adding it to the history.
func (pl *planner) look(ctx context.Context, c Candidate) (planned *iikanji.Change, refused, err error) {
	if pl.make != nil {
		planned, err = pl.make(ctx, c.Remedy)
	} else {
		planned, err = change.Plan(ctx, pl.site, c.Remedy)
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
	if p, no := judge.Forbidden(planned, pl.acts.Policy.Allow); no {
		return nil, fmt.Errorf("it weakens the promise of %s, which the target's policy does not allow", p), nil
	}
	return planned, nil, nil
}

func (c Candidate) reason() string {
	if c.Code == "" {
		return c.Claim
	}
	return string(c.Code) + ": " + c.Claim
}
