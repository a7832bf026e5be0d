package load

import (
	"context"
	"time"

	"github.com/iikanji/iikanji"
)

// A Spec describes a run to make.
type Spec struct {
	Load  time.Duration
	Rest  time.Duration       // before the run, beyond the usual rest
	State iikanji.Fingerprint // of everything that changes have touched
	// Trial: a candidate is applied. The death of a service counts against the
	// candidate and fails the run, instead of ending the search.
	Trial bool
	// Accept: a disturbed run counts, because every run on this machine is disturbed.
	Accept bool
	// Ready is called after initialize, right before the load; false ends the run
	// there. nil is as true.
	Ready func(ctx context.Context) bool
}

// A Rehearsal is the result of a restart in the worst order.
type Rehearsal struct {
	Done bool   `json:"done"`
	OK   bool   `json:"ok"`
	Says string `json:"says"`
}
