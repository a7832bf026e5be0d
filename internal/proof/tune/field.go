package tune

import (
	"context"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause/diagnose"
	"github.com/iikanji/iikanji/internal/load"
)

// A Field is a site that a Tuner can load and observe.
type Field interface {
	// Bench loads the site once with every answer checked, and saves the run.
	// void is why the run does not count, as when the machine was much busier than in
	// other runs; "" if it counts. With spec.Accept it counts.
	Bench(ctx context.Context, spec load.Spec) (run *iikanji.Run, void string, err error)
	// Observe does the same with every sensor on and returns a diagnosis. The score
	// of such a run does not count.
	Observe(ctx context.Context, spec load.Spec) (*diagnose.Diagnosis, []iikanji.Fact, error)
	// Rehearse ends every service without warning, starts them in the worst
	// order, and says what did not come back as it was.
	Rehearse(ctx context.Context) (load.Rehearsal, error)
}

// A Comparer is a Field that can compare the answers of the site before and after a
// change of its source.
type Comparer interface {
	SameAnswers(ctx context.Context, spec load.AnswerSpec) (load.AnswerReport, error)
}
