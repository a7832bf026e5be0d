package tune

import (
	"context"
	"errors"
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/judge"
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
		tr := t.newTrial(planned)
		a.Changes, a.Says = append(a.Changes, planned.ID), planned.Says
		err = tr.hold(ctx, &a)
		a.Runs, a.Took = a.Runs+tr.runs, a.Took+t.Now().Sub(tr.began)
		if err != nil || !tr.replan {
			return a, err
		}
		if again || change.InSchemaFile(c.Remedy) {
			a.Skipped = "initialize creates the table again, which undoes the change, and its schema file cannot be edited for it"
			return a, nil
		}
		t.ledger.Wiped = true
		t.say("initialize creates the table again, which undoes the change: the change goes into the schema file that initialize loads")
		c.Remedy = change.IntoSchemaFile(c.Remedy)
	}
}

// planInFile plans a candidate. Where several schema files create its table
// alike, WhichFile chooses between them.
func (t *Tuner) planInFile(ctx context.Context, c *Candidate) (planned *iikanji.Change, refused, err error) {
	planned, refused, err = t.plan(ctx, *c)
	var which *change.WhichFileError
	if err != nil || t.WhichFile == nil || !errors.As(refused, &which) {
		return planned, refused, err
	}
	r, ok, err := t.WhichFile(ctx, which)
	if err != nil || !ok {
		return nil, refused, err
	}
	c.Remedy = r
	return t.plan(ctx, *c)
}

// plan plans a candidate and adds the change to the history; refused is why
// there is no change.
func (t *Tuner) plan(ctx context.Context, c Candidate) (planned *iikanji.Change, refused, err error) {
	if planned, refused, err = t.look(ctx, c); err != nil || refused != nil {
		return nil, refused, err
	}
	return planned, nil, t.History.AddChange(planned, change.Diff(planned))
}

// look plans a candidate without adding it to the history.
func (t *Tuner) look(ctx context.Context, c Candidate) (planned *iikanji.Change, refused, err error) {
	if t.Plan != nil {
		planned, err = t.Plan(ctx, c.Remedy)
	} else {
		planned, err = change.Plan(ctx, t.Site, c.Remedy)
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
	if p, no := judge.Forbidden(planned, t.Acts.Policy.Allow); no {
		return nil, fmt.Errorf("it weakens the promise of %s, which the target's policy does not allow", p), nil
	}
	return planned, nil, nil
}

func (c Candidate) reason() string {
	if c.Code == "" {
		return c.Why
	}
	return string(c.Code) + ": " + c.Why
}
