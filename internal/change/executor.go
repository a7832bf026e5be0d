package change

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
)

// A Journal is the write-ahead log of the executor; *history.History is one.
type Journal interface {
	LoadChange(id iikanji.ChangeID) (*iikanji.Change, error)
	// ChangesAt reads the changes whose present stage is wanted, in the order of their numbers.
	ChangesAt(wanted func(iikanji.Stage) bool) ([]*iikanji.Change, error)
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

// undoTime bounds each op of an undo, which continues after its caller was
// cancelled. A statement has no bound: its time depends on the size of the table,
// and the Hands bound how long it waits for locks.
const undoTime = 2 * time.Minute

// A MovedError is a place that was edited since a change was planned or applied.
// The site was not changed.
type MovedError struct {
	Place string
	Diff  string // from the expected content to the present one
}

func (e *MovedError) Error() string { return e.Place + " was edited since" }

// Hints shows what differs and what to do.
func (e *MovedError) Hints() []string {
	return []string{"restore the old content or plan again; the difference:\n" + e.Diff}
}

// Apply performs a planned change. If an op fails, the ops before it are undone
// before Apply returns.
func (x *Executor) Apply(ctx context.Context, id iikanji.ChangeID) error {
	c, err := x.Journal.LoadChange(id)
	if err != nil {
		return err
	}
	if err := x.allowed(c); err != nil {
		return fmt.Errorf("applying change %d: %w", id, err)
	}
	if err := x.unmoved(ctx, c, false); err != nil {
		return fmt.Errorf("applying change %d: %w", id, err)
	}
	if err := x.Journal.MoveChange(id, iikanji.Applying, ""); err != nil {
		return err
	}
	if err = x.perform(ctx, c, history.Do, c.Do, nil); err == nil {
		err = x.proven(ctx, c)
	}
	if err == nil {
		err = x.Journal.MoveChange(id, iikanji.Applied, "")
	}
	if err == nil {
		return nil
	}
	err = fmt.Errorf("applying change %d: %w", id, err)
	if gone := (*AwayError)(nil); errors.As(err, &gone) {
		return err // it stays as it is until the host answers
	}
	return errors.Join(err, x.undo(ctx, c, err.Error()))
}

// allowed refuses a plan that cannot be undone, and one that weakens a promise
// that the policy keeps.
func (x *Executor) allowed(c *iikanji.Change) error {
	for _, p := range c.Weakens {
		if !slices.Contains(x.Policy.Allow, p) {
			return fmt.Errorf("it weakens the promise of %s, which the target's policy does not allow", p)
		}
	}
	if err := history.Resolved(c); err != nil {
		return err
	}
	return Check(c)
}

// unmoved refuses a change unless every place is in the state in which the
// change found it. With undone, a table may also be missing.
func (x *Executor) unmoved(ctx context.Context, c *iikanji.Change, undone bool) error {
	seen := map[string]bool{}
	for _, op := range c.Do {
		if op.Expect == "" || seen[op.Location()] {
			continue
		}
		seen[op.Location()] = true
		now, err := x.state(ctx, op)
		if err != nil {
			return err
		}
		if now == op.Expect {
			continue
		}
		wiped := false
		if undone {
			if wiped, err = x.wiped(c, op, now); err != nil {
				return err
			}
		}
		if !wiped {
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
	if o, err := orderOf(op); err == nil && o != nil {
		want, had = o.text(op.Expect), true
		return &MovedError{op.Location(), unified(op.Location(), want, content, want != "", true)}
	}
	for _, o := range slices.Concat(c.Do, c.Undo) { // the op that leaves what this one expects
		if o.Location() == op.Location() && o.Verb == iikanji.Write && stateAfter(o) == op.Expect {
			want, had = o.Body, true
		}
	}
	return &MovedError{op.Location(), unified(op.Location(), want, content, had, true)}
}

// act performs one op.
func (x *Executor) act(ctx context.Context, side history.Side, op iikanji.Op) error {
	if side == history.Undo && op.Verb != iikanji.SQL {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, undoTime)
		defer cancel()
	}
	err := x.Hands.Perform(ctx, op)
	if side == history.Undo && op.Verb == iikanji.Reload && err != nil {
		// A service that has ended takes no reload, and reads its configuration at
		// its start.
		op.Verb = iikanji.Restart
		if again := x.Hands.Perform(ctx, op); again == nil {
			return nil
		}
	}
	return err
}

// done reports whether a statement has had its effect already, which is possible
// after a crash. Unlike the write of a whole file, it cannot be repeated.
func (x *Executor) done(ctx context.Context, c *iikanji.Change, side history.Side, op iikanji.Op) (bool, error) {
	if op.Verb != iikanji.SQL {
		return false, nil
	}
	now, err := x.state(ctx, op)
	if err != nil || now == leaves(c, op) || side != history.Undo {
		return now == leaves(c, op), err
	}
	return x.wiped(c, op, now)
}

// wiped reports whether nothing of a change is left of a table: it is missing, which
// is so if the benchmark's initialize was killed after it had dropped it, or it is as
// an earlier change in force found it, which is so if initialize has created it again
// and so undid both changes.
func (x *Executor) wiped(c *iikanji.Change, op iikanji.Op, now iikanji.Fingerprint) (bool, error) {
	if op.Verb != iikanji.SQL || now == Absent {
		return op.Verb == iikanji.SQL, nil
	}
	changes, err := x.Journal.ChangesAt(inForce)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(changes, func(o *iikanji.Change) bool {
		return o.ID < c.ID && slices.ContainsFunc(o.Do, func(do iikanji.Op) bool {
			return do.Verb == iikanji.SQL && do.Location() == op.Location() && do.Expect == now
		})
	}), nil
}

// Keep makes an applied change stay.
func (x *Executor) Keep(id iikanji.ChangeID, why string) error {
	return x.Journal.MoveChange(id, iikanji.Kept, why)
}

// Revert undoes a change. It refuses, and changes nothing, if a place is neither
// as the change left it nor as it found it. Once begun, it continues to its end
// even when ctx is done, so that a site is never left half undone.
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
	if err := x.ours(ctx, c, away{}); err != nil {
		return fmt.Errorf("reverting change %d: %w", id, err)
	}
	return x.undo(ctx, c, why)
}

// inForce reports whether a change can be reverted.
func inForce(s iikanji.Stage) bool { return s.May(iikanji.Reverting) }

// RevertAll undoes every change that is in force, the latest first.
func (x *Executor) RevertAll(ctx context.Context, why string) ([]iikanji.ChangeID, error) {
	changes, err := x.Journal.ChangesAt(inForce)
	if err != nil {
		return nil, err
	}
	var done []iikanji.ChangeID
	for _, c := range slices.Backward(changes) {
		if err := x.Revert(ctx, c.ID, why); err != nil {
			return done, err
		}
		done = append(done, c.ID)
	}
	return done, nil
}

// ours refuses a change unless every place is as the change left it or as it found
// it. After an interruption, some places are in each state. Places of hosts that are lost
// and do not come back are left out and noted in gone, unless that is nil.
func (x *Executor) ours(ctx context.Context, c *iikanji.Change, gone away) error {
	if err := history.Resolved(c); err != nil {
		return err
	}
	for _, op := range c.Undo {
		if op.Expect == "" || gone[op.Host] != nil {
			continue
		}
		err := x.oursAt(ctx, c, op)
		if lost := lostIn(err); lost != nil && gone != nil {
			gone[lost.Host] = lost
		} else if err != nil {
			return err
		}
	}
	return nil
}

// oursAt is ours for the place of one op of Undo. The server of an account may have ended in
// the same change: the op itself refuses an account that is another one.
func (x *Executor) oursAt(ctx context.Context, c *iikanji.Change, op iikanji.Op) error {
	now, err := x.state(ctx, op)
	if err != nil && op.Verb == iikanji.Account && lostIn(err) == nil {
		return nil
	}
	if err != nil {
		return err
	}
	if now == op.Expect || now == Partly {
		return nil
	}
	for _, o := range slices.Concat(c.Do, c.Undo) {
		if o.Location() == op.Location() && o.Expect != "" && (now == leaves(c, o) || now == o.Expect) {
			return nil
		}
	}
	wiped, err := x.wiped(c, op, now)
	if err == nil && !wiped {
		err = x.moved(ctx, c, op)
	}
	return err
}

// CheckUndoable returns an error if changes in force could not be undone. The
// changes are in the order of application; every place must be as the latest of
// them left it or found it. Any other place was edited since.
func (x *Executor) CheckUndoable(ctx context.Context, ids ...iikanji.ChangeID) error {
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

// undo performs Undo and proves the result, even when ctx is done. A change that
// cannot be undone is stuck and needs the user.
func (x *Executor) undo(ctx context.Context, c *iikanji.Change, why string) error {
	ctx = context.WithoutCancel(ctx)
	if c.Stage != iikanji.Reverting { // Recover goes on with one that is
		if err := x.Journal.MoveChange(c.ID, iikanji.Reverting, why); err != nil {
			return err
		}
	}
	gone := away{}
	err := x.ours(ctx, c, gone)
	if err == nil {
		err = x.perform(ctx, c, history.Undo, c.Undo, gone)
	}
	if err == nil {
		err = x.unmoved(ctx, c, true)
	}
	waits := (*AwayError)(nil)
	if lost := lostIn(err); lost != nil && !errors.As(err, &waits) { // in the proof of the result
		err = &AwayError{Host: lost.Host, Change: c.ID, Op: c.Target, Err: err}
	}
	if errors.As(err, &waits) {
		return fmt.Errorf("undoing change %d: %w", c.ID, err) // it stays as it is until the host answers
	}
	if err == nil {
		return x.Journal.MoveChange(c.ID, iikanji.Reverted, why)
	}
	err = fmt.Errorf("undoing change %d: %w", c.ID, err)
	return errors.Join(err, x.Journal.MoveChange(c.ID, iikanji.Stuck, err.Error()))
}

// Interrupted reports whether a change is neither in force nor undone: it was
// being applied or reverted when iikanji ended, or an undo of it failed.
func Interrupted(s iikanji.Stage) bool {
	return s == iikanji.Applying || s == iikanji.Reverting || s == iikanji.Stuck
}

// Recover brings the site into a known state after iikanji was killed: changes
// that were being applied or reverted are undone, the latest first. An undo that
// failed is tried again: its cause (a full disk, a server that had ended) may be
// gone. Applied changes stay. It returns the changes that it undid. When ctx is
// done, it ends after the change that it is undoing.
func (x *Executor) Recover(ctx context.Context) ([]iikanji.ChangeID, error) {
	changes, err := x.Journal.ChangesAt(Interrupted)
	if err != nil {
		return nil, err
	}
	var done []iikanji.ChangeID
	var errs []error
	for _, c := range slices.Backward(changes) {
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
