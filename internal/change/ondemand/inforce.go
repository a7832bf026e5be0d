package ondemand

import (
	"context"
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

var _ change.ReadsBack = Kind{}

// InForce implements change.ReadsBack: the service has processes exactly if the change
// started it.
func (Kind) InForce(_ context.Context, s *change.Site, c *iikanji.Change, _ bool) error {
	svc, ok := s.Services[c.Target]
	if !ok {
		return fmt.Errorf("no service %q", c.Target)
	}
	pids, known := svc.Processes()
	if c.Remedy == nil || !known {
		return nil
	}
	_, want, err := match(*c.Remedy)
	if err != nil {
		return err
	}
	switch runs := len(pids) > 0; {
	case runs && want.Run == "off":
		return fmt.Errorf("service %q runs, and was ended", c.Target)
	case !runs && want.Run == "on":
		return fmt.Errorf("service %q does not run, and was started", c.Target)
	}
	return nil
}
