package change

import (
	"context"
	"errors"
)

// acting is a Running that is made of functions. What is nil fails.
type acting struct {
	Running
	restart, reload func(context.Context) error
	build           func(context.Context, string) error
}

func (a acting) Restart(ctx context.Context) error {
	if a.restart == nil {
		return errors.New("it cannot be restarted")
	}
	return a.restart(ctx)
}

func (a acting) Reload(ctx context.Context) error            { return a.reload(ctx) }
func (a acting) Build(ctx context.Context, dir string) error { return a.build(ctx, dir) }
func (acting) Processes() ([]int, bool)                      { return nil, false }
