package isuxi

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// The events that score.
const (
	eventSuccess  scenario.Event = iota // an answer of class 2
	eventRedirect                       // an answer of class 3
)

// table is the contest's score. An error costs as many times 10 points as it weighs.
var table = scenario.Table{
	Events:        []scenario.EventRule{{Name: "answers", Points: 1}, {Name: "redirects", Points: 0.1}},
	PerError:      10,
	TimeoutErrors: true,
	FailAtZero:    true,
}

// Weights of errors in units of table.PerError.
const (
	weightStatus    = 1  // an answer of class 5
	weightException = 2  // no answer
	weightSlow      = 10 // a write that took longer than slowWrite
)

// slowWrite is how long a write may take.
const slowWrite = 3 * time.Second

// A tally counts the requests of the load by what came of them.
type tally struct{ requests, refused, failed, lost atomic.Int64 }

// Shares of the requests from which on a run is not valid.
const (
	mostLost    = 0.01 // without an answer
	mostFailed  = 0.01 // of class 5
	mostRefused = 0.10 // of class 4
)

// verdict returns an error for a load with too many errors.
func (t *tally) verdict() error {
	all := float64(max(t.requests.Load(), 1))
	for _, share := range []struct {
		check string
		n     int64
		most  float64
	}{{"share-exceptions", t.lost.Load(), mostLost}, {"share-errors", t.failed.Load(), mostFailed}, {"share-refusals", t.refused.Load(), mostRefused}} {
		if float64(share.n) >= share.most*all {
			return scenario.Wrong(nil, share.check, "%d of %.0f requests, less than %.0f %% may be", share.n, all, 100*share.most)
		}
	}
	return nil
}

// count notes an answer, or why there is none. It returns an error for an answer of class 5
// and for no answer, with its weight.
func (ct *contest) count(res *scenario.Response, err error) error {
	if err != nil {
		var f *scenario.Fault
		if errors.As(err, &f) && f.Kind != iikanji.FaultCut {
			f.Weight = weightException
			ct.tally.requests.Add(1)
			ct.tally.lost.Add(1)
		}
		return err
	}
	ct.tally.requests.Add(1)
	switch res.Status / 100 {
	case 2:
		ct.s.Add(eventSuccess, 1)
	case 3:
		ct.s.Add(eventRedirect, 1)
	case 4:
		ct.tally.refused.Add(1)
	case 5:
		ct.tally.failed.Add(1)
		return &scenario.Fault{Kind: iikanji.FaultStatus, Step: res.Step, Weight: weightStatus, Example: scenario.ExampleOf(res),
			Message: "the app failed"}
	}
	return nil
}
