package appenv

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

var _ change.ReadsBack = Kind{}

// InForce implements change.ReadsBack: the running processes of the app have the
// variables of the file. Its errors name variables and no values, which may be
// secrets.
func (Kind) InForce(_ context.Context, s *change.Site, c *iikanji.Change, _ bool) error {
	svc, ok := s.Services[c.Target]
	if !ok {
		return fmt.Errorf("no service %q", c.Target)
	}
	pids, known := svc.Processes()
	if svc.EnvFile == "" || !known {
		return nil
	}
	file, err := s.RealPlace(svc.Host, svc.EnvFile)
	if err != nil {
		return err
	}
	var wrong []error
	for _, op := range c.Do {
		if op.Verb != iikanji.Write || op.Place != file {
			continue
		}
		wanted := map[string]string{}
		for line := range strings.Lines(op.Body) {
			if name, value, ok := change.EnvVariable(line); ok {
				wanted[name] = value
			}
		}
		wrong = append(wrong, environmentInForce(s, svc.Host, pids, wanted))
	}
	return errors.Join(wrong...)
}

// environmentInForce compares variables with the environment with which each
// running process of the service was started.
func environmentInForce(s *change.Site, on string, pids []int, wanted map[string]string) error {
	h, err := s.On(on)
	if err != nil {
		return err
	}
	if len(pids) == 0 {
		return errors.New("the service has no running process to read its environment from")
	}
	var wrong []error
	for _, pid := range pids {
		text, err := h.Read(fmt.Sprintf("/proc/%d/environ", pid))
		if err != nil {
			wrong = append(wrong, fmt.Errorf("reading the environment of process %d: %w", pid, err))
			continue
		}
		now := map[string]string{}
		for kv := range strings.SplitSeq(string(text), "\x00") {
			name, value, _ := strings.Cut(kv, "=")
			now[name] = value
		}
		for _, name := range slices.Sorted(maps.Keys(wanted)) {
			if is, has := now[name]; !has || is != wanted[name] {
				wrong = append(wrong, fmt.Errorf("process %d was started with another value of %s than the one that was set", pid, name))
			}
		}
	}
	return errors.Join(wrong...)
}
