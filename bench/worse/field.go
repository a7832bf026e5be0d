package main

import (
	"context"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause/diagnose"
	"github.com/iikanji/iikanji/internal/load"
	"github.com/iikanji/iikanji/internal/load/field"
	"github.com/iikanji/iikanji/internal/proof/tune"
)

// A trialField is a field for trials only, without observation and rehearsal.
type trialField struct {
	*field.Field
	ran func(*iikanji.Run) // called with each run
}

var _ tune.Field = (*trialField)(nil)

// Bench implements tune.Field.
func (f *trialField) Bench(ctx context.Context, spec load.Spec) (*iikanji.Run, string, error) {
	run, void, err := f.Field.Bench(ctx, spec)
	if run != nil {
		f.ran(run)
	}
	return run, void, err
}

// Observe implements tune.Field. It observes nothing, because all candidates come
// from the proposer.
func (f *trialField) Observe(context.Context, load.Spec) (*diagnose.Diagnosis, []iikanji.Fact, error) {
	return &diagnose.Diagnosis{Run: &iikanji.Run{}}, nil, nil
}

// Rehearse implements tune.Field. It is skipped, because a restart gives no
// information about a gain.
func (f *trialField) Rehearse(context.Context) (load.Rehearsal, error) {
	return load.Rehearsal{Says: "left out: only the trials count here"}, nil
}
