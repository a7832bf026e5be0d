package changetest

import (
	"context"
	"database/sql"
	"errors"

	"github.com/iikanji/iikanji/internal/change"
)

// Running is a change.Running that is made of functions. A restart or a reload without one
// fails.
type Running struct {
	OnRestart, OnReload func(ctx context.Context) error
	OnCheck, OnBuild    func(ctx context.Context, path string) error
	PIDs                func() []int // nil where the processes are not known
	Pool                *sql.DB
}

var _ change.Running = Running{}

// Restart implements change.Running, as do the other methods.
func (r Running) Restart(ctx context.Context) error                  { return act(ctx, r.OnRestart) }
func (r Running) Reload(ctx context.Context) error                   { return act(ctx, r.OnReload) }
func (r Running) CheckConfig(ctx context.Context, path string) error { return r.OnCheck(ctx, path) }
func (r Running) Build(ctx context.Context, dir string) error        { return r.OnBuild(ctx, dir) }
func (r Running) DB() *sql.DB                                        { return r.Pool }
func (r Running) Processes() (pids []int, known bool) {
	if r.PIDs == nil {
		return nil, false
	}
	return r.PIDs(), true
}

func act(ctx context.Context, do func(context.Context) error) error {
	if do == nil {
		return errors.New("the service of this test cannot do that")
	}
	return do(ctx)
}
