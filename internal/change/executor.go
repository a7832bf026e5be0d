package change

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/history"
)

// A Journal is where the executor writes ahead; *history.History is one.
type Journal interface {
	LoadChange(id iikanji.ChangeID) (*iikanji.Change, error)
	Changes() ([]*iikanji.Change, error)
	MoveChange(id iikanji.ChangeID, to iikanji.Stage, why string) error
	Append(e history.Event) error
}

// An Executor performs planned changes. One process has one, as the history
// has one writer.
type Executor struct {
	Hands   Hands
	Journal Journal
	Policy  iikanji.Policy
}

// undoTime bounds each op of an undo, which goes on after its caller was
// cancelled. A statement has no bound: it takes as long as its table is large,
// and the hands bound how long it waits for others.
const undoTime = 2 * time.Minute

// A MovedError says that somebody else changed a place since a change was
// planned or applied. Nothing was touched.
type MovedError struct {
	Place string
	Diff  string // from what was expected to what is there
}

func (e *MovedError) Error() string { return e.Place + " was changed by somebody else since" }

// Hints shows what differs and what to do.
func (e *MovedError) Hints() []string {
	return []string{"put it back or plan again; it differs so:\n" + e.Diff}
}

// Apply performs a planned change. When it cannot be finished, what was done
// is undone before Apply returns.
func (x *Executor) Apply(ctx context.Context, id iikanji.ChangeID) error {
	c, err := x.Journal.LoadChange(id)
	if err != nil {
		return err
	}
	if err := x.allowed(c); err != nil {
		return fmt.Errorf("applying change %d: %w", id, err)
	}
	if err := x.standing(ctx, c, false); err != nil {
		return fmt.Errorf("applying change %d: %w", id, err)
	}
	if err := x.Journal.MoveChange(id, iikanji.Applying, ""); err != nil {
		return err
	}
	if err = x.perform(ctx, c, history.Do, c.Do); err == nil {
		err = x.Journal.MoveChange(id, iikanji.Applied, "")
	}
	if err == nil {
		return nil
	}
	err = fmt.Errorf("applying change %d: %w", id, err)
	return errors.Join(err, x.undo(ctx, c, err.Error()))
}

// allowed wants a plan that can be undone and promises that may go.
func (x *Executor) allowed(c *iikanji.Change) error {
	for _, p := range c.Weakens {
		if !slices.Contains(x.Policy.Allow, p) {
			return fmt.Errorf("it weakens the promise of %s, which the target's policy does not allow", p)
		}
	}
	return Check(c)
}

// standing wants every place in the state in which the change found it;
// undone says that a table may also be gone.
func (x *Executor) standing(ctx context.Context, c *iikanji.Change, undone bool) error {
	for _, op := range c.Do {
		if op.Expect == "" {
			continue
		}
		now, err := x.Hands.State(ctx, op)
		if err != nil {
			return err
		}
		if now != op.Expect && !(undone && gone(op, now)) {
			return x.moved(ctx, c, op)
		}
	}
	return nil
}

func (x *Executor) moved(ctx context.Context, c *iikanji.Change, op iikanji.Op) error {
	content, err := x.Hands.Content(ctx, op)
	if err != nil {
		return err
	}
	want, had := "", false
	for _, o := range slices.Concat(c.Do, c.Undo) { // the op that leaves what this one expects
		if o.Location() == op.Location() && o.Verb == iikanji.Write && stateAfter(o) == op.Expect {
			want, had = o.Body, true
		}
	}
	return &MovedError{op.Location(), unified(op.Location(), want, content, had, true)}
}

// perform does ops in order, each told to the journal before and after.
func (x *Executor) perform(ctx context.Context, c *iikanji.Change, side history.Side, ops []iikanji.Op) error {
	for i, op := range ops {
		if err := x.Journal.Append(history.Event{What: history.OpBegun, Change: c.ID, Side: side, Op: i + 1}); err != nil {
			return err
		}
		done, err := x.done(ctx, c, side, op)
		if err != nil {
			return err
		}
		if !done {
			if err := x.act(ctx, side, op); err != nil {
				return err
			}
		}
		if err := x.Journal.Append(history.Event{What: history.OpDone, Change: c.ID, Side: side, Op: i + 1}); err != nil {
			return err
		}
	}
	return nil
}

// act performs one op.
func (x *Executor) act(ctx context.Context, side history.Side, op iikanji.Op) error {
	if side == history.Undo && op.Verb != iikanji.SQL {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, undoTime)
		defer cancel()
	}
	return x.Hands.Perform(ctx, op)
}

// done says whether a statement has had its effect already, as one may that
// was under way at a crash: unlike a whole file, it cannot be done twice.
func (x *Executor) done(ctx context.Context, c *iikanji.Change, side history.Side, op iikanji.Op) (bool, error) {
	if op.Verb != iikanji.SQL {
		return false, nil
	}
	now, err := x.Hands.State(ctx, op)
	return now == leaves(c, op) || side == history.Undo && gone(op, now), err
}

// gone says that a table is not there at all, as when the benchmark's
// initialize was killed after it had dropped it. There is nothing to undo then:
// the next initialize makes the table as it was made before the change.
func gone(op iikanji.Op, now iikanji.Fingerprint) bool {
	return op.Verb == iikanji.SQL && now == Absent
}

// Keep makes an applied change stay.
func (x *Executor) Keep(id iikanji.ChangeID, why string) error {
	return x.Journal.MoveChange(id, iikanji.Kept, why)
}

// Revert undoes a change. It refuses, and touches nothing, when a place holds
// neither what the change left nor what it found. Once it has begun it goes on
// to its end, also when ctx is done: half an undo is no state to leave a site in.
func (x *Executor) Revert(ctx context.Context, id iikanji.ChangeID, why string) error {
	if err := ctx.Err(); err != nil { // reading a file does not ask
		return fmt.Errorf("reverting change %d: %w", id, err)
	}
	c, err := x.Journal.LoadChange(id)
	if err != nil {
		return err
	}
	if !c.Stage.May(iikanji.Reverting) {
		return fmt.Errorf("reverting change %d: it is %s", id, c.Stage)
	}
	if err := x.ours(ctx, c); err != nil {
		return fmt.Errorf("reverting change %d: %w", id, err)
	}
	return x.undo(ctx, c, why)
}

// RevertAll undoes every change that is in force, the latest first.
func (x *Executor) RevertAll(ctx context.Context, why string) ([]iikanji.ChangeID, error) {
	changes, err := x.Journal.Changes()
	if err != nil {
		return nil, err
	}
	var done []iikanji.ChangeID
	for _, c := range slices.Backward(changes) {
		if !c.Stage.May(iikanji.Reverting) {
			continue
		}
		if err := x.Revert(ctx, c.ID, why); err != nil {
			return done, err
		}
		done = append(done, c.ID)
	}
	return done, nil
}

// ours wants every place as the change left it or as it found it: half of a
// change that was interrupted is both.
func (x *Executor) ours(ctx context.Context, c *iikanji.Change) error {
	for _, op := range c.Undo {
		if op.Expect == "" {
			continue
		}
		if err := x.oursAt(ctx, c, op); err != nil {
			return err
		}
	}
	return nil
}

// oursAt wants it of the place of one op of Undo.
func (x *Executor) oursAt(ctx context.Context, c *iikanji.Change, op iikanji.Op) error {
	now, err := x.Hands.State(ctx, op)
	if err != nil {
		return err
	}
	if now != op.Expect && now != leaves(c, op) && !gone(op, now) {
		return x.moved(ctx, c, op)
	}
	return nil
}

// Stand says whether changes that are in force, in the order in which they
// were applied, could be undone: every place is as the latest of them left it
// or found it. Otherwise somebody else has changed it since.
func (x *Executor) Stand(ctx context.Context, ids ...iikanji.ChangeID) error {
	seen := map[string]bool{}
	for _, id := range slices.Backward(ids) {
		c, err := x.Journal.LoadChange(id)
		if err != nil {
			return err
		}
		for _, op := range c.Undo {
			if op.Expect == "" || seen[op.Location()] {
				continue
			}
			seen[op.Location()] = true
			if err := x.oursAt(ctx, c, op); err != nil {
				return fmt.Errorf("change %d (%s) is not as it was made: %w", id, c.Says, err)
			}
		}
	}
	return nil
}

// undo performs Undo and proves the result, whatever becomes of ctx. A change
// that cannot be undone is stuck and needs a person.
func (x *Executor) undo(ctx context.Context, c *iikanji.Change, why string) error {
	ctx = context.WithoutCancel(ctx)
	if c.Stage != iikanji.Reverting { // Recover goes on with one that is
		if err := x.Journal.MoveChange(c.ID, iikanji.Reverting, why); err != nil {
			return err
		}
	}
	err := x.ours(ctx, c)
	if err == nil {
		err = x.perform(ctx, c, history.Undo, c.Undo)
	}
	if err == nil {
		err = x.standing(ctx, c, true)
	}
	if err == nil {
		return x.Journal.MoveChange(c.ID, iikanji.Reverted, why)
	}
	err = fmt.Errorf("undoing change %d: %w", c.ID, err)
	return errors.Join(err, x.Journal.MoveChange(c.ID, iikanji.Stuck, err.Error()))
}

// Recover brings the site to a known state after iikanji was killed: changes
// that were being applied or reverted are undone, the latest first. Those that
// were applied stand. It returns the changes that it undid. Like Revert it ends
// between two changes when ctx is done, and not within one.
func (x *Executor) Recover(ctx context.Context) ([]iikanji.ChangeID, error) {
	changes, err := x.Journal.Changes()
	if err != nil {
		return nil, err
	}
	var done []iikanji.ChangeID
	var errs []error
	for _, c := range slices.Backward(changes) {
		if c.Stage != iikanji.Applying && c.Stage != iikanji.Reverting {
			continue
		}
		if err := ctx.Err(); err != nil {
			errs = append(errs, fmt.Errorf("recovering change %d: %w", c.ID, err))
			break
		}
		if err := x.undo(ctx, c, "recovered after an interruption"); err != nil {
			errs = append(errs, err)
			continue
		}
		done = append(done, c.ID)
	}
	return done, errors.Join(errs...)
}
