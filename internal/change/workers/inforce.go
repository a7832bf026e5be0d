package workers

import (
	"context"
	"fmt"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/machine/appserver"
)

var _ change.ReadsBack = Kind{}

// startWait is how long a master may take to start its processes after it listens.
const startWait = 20 * time.Second

// InForce implements change.ReadsBack: the restarted service has the number of
// processes, and its environment, configuration and command line lead to the number of
// threads. Servers start threads when requests come, so that they cannot be counted.
func (Kind) InForce(ctx context.Context, s *change.Site, c *iikanji.Change, _ bool) error {
	svc, ok := s.Services[c.Target]
	if !ok {
		return fmt.Errorf("no service %q", c.Target)
	}
	if _, known := svc.Processes(); c.Remedy == nil || !known {
		return nil
	}
	_, w, err := match(*c.Remedy)
	if err != nil {
		return err
	}
	h, err := s.On(svc.Host)
	if err != nil {
		return err
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(startWait); ; {
		setup, err := running(h, svc)
		if err == nil {
			err = w.differs(setup)
		}
		if err == nil || time.Now().After(end) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// differs returns an error that names what is not as it was wanted.
func (w *wanted) differs(is *appserver.Setup) error {
	if w.Workers > 0 && is.Serves != w.Workers {
		return fmt.Errorf("%s has %d processes that answer requests, and was set to %d", is.Server, is.Serves, w.Workers)
	}
	if w.Threads > 0 && is.Threads.Now != w.Threads {
		return fmt.Errorf("%s has %d threads in each process, and was set to %d", is.Server, is.Threads.Now, w.Threads)
	}
	return nil
}
