package stack

import (
	"context"
	"errors"
	"time"

	"github.com/iikanji/iikanji/internal/arena"
)

// downTime bounds taking down what Use brought up; then all is killed.
const downTime = time.Minute

// Use brings an arena up, does something with it, and takes it down again,
// whatever came of it. The context of do ends also when a service dies, with
// the reason as its cause; which error to tell is do's to say. What
// Options.Spare spares does not end it.
func Use(ctx context.Context, a *arena.Arena, o Options, do func(ctx context.Context, s *Stack) error) (err error) {
	s, err := Up(ctx, a, o)
	if err != nil {
		return err
	}
	defer func() {
		down, cancel := context.WithTimeout(context.WithoutCancel(ctx), downTime)
		defer cancel()
		err = errors.Join(err, s.Down(down))
	}()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case died, ok := <-s.Died():
				switch {
				case !ok:
					return
				case o.Spare == nil || !o.Spare(died):
					cancel(died)
				}
			}
		}
	}()
	return do(ctx, s)
}
