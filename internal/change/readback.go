package change

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/iikanji/iikanji"
)

// A ReadsBack is a kind whose changes can be read back from the running service.
type ReadsBack interface {
	Kind
	// InForce returns an error that names each setting of an applied change whose
	// value in the running service differs: only those that the change has set,
	// or, with all, every setting of the file that it wrote.
	InForce(ctx context.Context, s *Site, c *iikanji.Change, all bool) error
}

// ReadBack returns an error if the running service does not have the settings of
// an applied change.
func (s *Site) ReadBack(ctx context.Context, c *iikanji.Change, all bool) error {
	if k, ok := registry[c.Kind].(ReadsBack); ok {
		if err := k.InForce(ctx, s, c, all); err != nil {
			return fmt.Errorf("reading back change %d from %s: %w", c.ID, c.Target, err)
		}
	}
	return nil
}

// reader is implemented by Hands that can read settings back.
type reader interface {
	ReadBack(ctx context.Context, c *iikanji.Change, all bool) error
}

// proven proves the effect of an applied change: every place is as its operation
// leaves it, and the running service has its settings.
func (x *Executor) proven(ctx context.Context, c *iikanji.Change) error {
	last := map[string]int{}
	for i, op := range c.Do {
		last[op.Location()] = i
	}
	for i, op := range c.Do {
		if op.Expect == "" || op.Verb == iikanji.SQL || last[op.Location()] != i {
			continue // a statement's effect was proven when it ended
		}
		now, err := x.state(ctx, op)
		if err != nil {
			return err
		}
		if now != leaves(c, op) {
			return fmt.Errorf("%s is not as it was left: another process changed it, or the machine did not take the value", op.Location())
		}
	}
	if r, ok := x.Hands.(reader); ok {
		return r.ReadBack(ctx, c, false)
	}
	return nil
}

// ReadBack proves that the running services have the settings of changes in force,
// as after a restart. The changes are in the order of application.
func (x *Executor) ReadBack(ctx context.Context, ids ...iikanji.ChangeID) error {
	r, ok := x.Hands.(reader)
	if !ok {
		return nil
	}
	seen := map[string]bool{}
	var errs []error
	for _, id := range slices.Backward(ids) {
		c, err := x.Journal.LoadChange(id)
		if err != nil {
			return err
		}
		if key := c.Kind + " " + c.Target; !seen[key] { // the latest one's file has the settings of all
			seen[key] = true
			errs = append(errs, r.ReadBack(ctx, c, true))
		}
	}
	return errors.Join(errs...)
}
