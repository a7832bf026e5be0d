package httpcache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/nginxedit"
	"github.com/iikanji/iikanji/internal/machine/hostproc"
)

var _ change.ReadsBack = Kind{}

// InForce implements change.ReadsBack: nginx's configuration has the effect of the
// change, nginx's workers were started with it, and the cache was started with its
// program.
func (k Kind) InForce(ctx context.Context, s *change.Site, c *iikanji.Change, _ bool) error {
	web := *c
	if !slices.ContainsFunc(c.Do, func(op iikanji.Op) bool { return op.Verb == iikanji.Reload }) {
		web.Do = nil // of nginx, nothing changed
	}
	errs := []error{nginxedit.InForce(ctx, s, c.Target, &web, nginxedit.Workers{})}
	if c.Remedy != nil {
		errs = append(errs, nginxedit.Effective(k.Plan(ctx, s, *c.Remedy)))
	}
	for _, op := range c.Do {
		if op.Verb == iikanji.Restart {
			errs = append(errs, startedWith(s, op.Place, c))
		}
	}
	return errors.Join(errs...)
}

// startedWith refuses a running cache or app that was started before its program or its
// source was written.
func startedWith(s *change.Site, service string, c *iikanji.Change) error {
	svc := s.Services[service]
	pids, known := svc.Processes()
	if !known {
		return nil
	}
	h, err := s.On(svc.Host)
	if err != nil {
		return err
	}
	if svc.EnableFile != "" {
		if _, err := h.Lstat(svc.EnableFile); errors.Is(err, fs.ErrNotExist) && len(pids) == 0 {
			return nil // the change stopped it
		}
	}
	if len(pids) == 0 {
		return fmt.Errorf("service %q does not run", service)
	}
	for _, op := range c.Do {
		at, known := s.WrittenAt(op)
		if op.Verb != iikanji.Write || !known {
			continue
		}
		if op.Place != svc.Config && (svc.Source == "" || !strings.HasPrefix(op.Place, svc.Source+"/")) {
			continue // nginx's configuration is written after the start of the service
		}
		for _, pid := range pids {
			p, err := hostproc.ReadStat(h, pid)
			if err != nil {
				return err
			}
			if p.SinceBoot() < at {
				return fmt.Errorf("process %d of service %q was started before %s was written", pid, service, op.Place)
			}
		}
	}
	return nil
}
