package bench

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// TestSeconds: the seconds have each answer of the load once, without a file.
func TestSeconds(t *testing.T) {
	url := web(t, func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte("body")) })
	sc := &script{
		prepare: func(ctx context.Context, s scenario.Session) error {
			res, err := s.NewClient(scenario.ClientOptions{}).Do(ctx, &scenario.Request{Path: "/"})
			res.Release()
			return err
		},
		load: users(4, func(ctx context.Context, s scenario.Session, c scenario.Client) {
			res, err := c.Do(ctx, &scenario.Request{Step: 1, Path: "/"})
			s.Report(err)
			res.Release()
		})}
	seconds := new(Seconds)
	run, err := Run(t.Context(), sc, Options{URL: url, Seconds: seconds})
	if err != nil {
		t.Fatal(err)
	}
	var answers int64
	for i, s := range seconds.All {
		answers += s.Answers
		if s.Answers > 0 && (s.P50 <= 0 || s.P95 < s.P50 || s.P99 < s.P95 || s.Errors != 0) {
			t.Errorf("second %d: %+v", i+1, s)
		}
	}
	if answers == 0 || answers != run.Steps[1].Count {
		t.Errorf("%d answers in the seconds, the run has %+v", answers, run.Steps)
	}
	if seconds.From.Before(run.Began) || seconds.From.Sub(run.Began) > time.Minute || time.Duration(len(seconds.All)) > run.Took/time.Second+2 {
		t.Errorf("%d seconds from %v; the run began at %v and its load took %v", len(seconds.All), seconds.From, run.Began, run.Took)
	}
}
