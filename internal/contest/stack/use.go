package stack

import (
	"context"
	"errors"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena"
)

// downTime limits the shutdown of the stack in Use; after it everything is killed.
const downTime = time.Minute

// Use brings an arena up, calls do, and takes the arena down again, whatever do
// returns. The context of do also ends when a service dies, with the death as its
// cause; do decides which error to return. A death for which Options.Tolerate returns
// true does not end it.
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
				case o.Tolerate == nil || !o.Tolerate(died):
					cancel(died)
				}
			}
		}
	}()
	return do(ctx, s)
}
