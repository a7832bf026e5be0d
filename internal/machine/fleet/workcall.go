package fleet

import (
	"context"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
)

var _ host.Worker = (*Member)(nil)

// Work implements host.Worker.
func (m *Member) Work(ctx context.Context, task string, args, out any) error {
	p, err := m.live()
	if err != nil {
		return err
	}
	return p.Work(ctx, task, args, out)
}

// Feed implements host.Worker.
func (m *Member) Feed(ctx context.Context, feed string, every time.Duration, latest func() any, take func(decode func(any) error) error) error {
	p, err := m.live()
	if err != nil {
		return err
	}
	return p.Feed(ctx, feed, every, latest, take)
}
