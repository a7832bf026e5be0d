package sysctl

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/machine/host"
)

var _ change.ReadsBack = Kind{}

// InForce implements change.ReadsBack: kernel variables are read from the kernel,
// limits from the service's running processes. A variable may have been set again
// by another program, and a limit may be lost when another program restarts the
// service.
func (Kind) InForce(_ context.Context, s *change.Site, c *iikanji.Change, _ bool) error {
	svc, err := keeper(s, c.Target)
	if err != nil {
		return err
	}
	h, err := s.On(svc.Host)
	if err != nil {
		return err
	}
	limits, err := s.RealPlace(svc.Host, svc.LimitsFile)
	if err != nil {
		return err
	}
	variables, err := s.RealPlace(svc.Host, svc.DropIn)
	if err != nil {
		return err
	}
	var wrong []error
	for _, op := range c.Do {
		switch {
		case op.Verb != iikanji.Write:
		case svc.LimitsFile != "" && op.Place == limits:
			wrong = append(wrong, limitsInForce(h, svc, namesAndValues(op.Body)))
		case svc.DropIn != "" && op.Place == variables:
			wanted := namesAndValues(op.Body)
			wrong = append(wrong, variablesInForce(h, wanted), overriding(h, svc.DropIn, wanted))
		}
	}
	return errors.Join(wrong...)
}

// namesAndValues reads a text of "name = value" lines.
func namesAndValues(text string) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if name, value, ok := strings.Cut(line, "="); ok && line[0] != '#' {
			all[strings.TrimSpace(name)] = plain(value)
		}
	}
	return all
}

// variablesInForce compares kernel variables with the kernel's values.
func variablesInForce(h host.Host, wanted map[string]string) error {
	var wrong []error
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		is, err := h.Read(filepath.Join(procSys, strings.ReplaceAll(name, ".", "/")))
		if err != nil {
			wrong = append(wrong, fmt.Errorf("reading %s: %w", name, err))
		} else if plain(string(is)) != wanted[name] {
			wrong = append(wrong, fmt.Errorf("%s is %s, and was set to %s", name, plain(string(is)), wanted[name]))
		}
	}
	return errors.Join(wrong...)
}

// limitsInForce compares limits with those of each running process of a service,
// soft and hard: both are set from the file.
func limitsInForce(h host.Host, svc change.Service, wanted map[string]string) error {
	pids, known := svc.Processes()
	if !known {
		return nil
	}
	if len(pids) == 0 {
		return errors.New("the service has no running process to read its limits from")
	}
	var wrong []error
	for _, pid := range pids {
		now := processLimits(h, pid)
		for _, name := range slices.Sorted(maps.Keys(wanted)) {
			is, known := now[name]
			if !known {
				wrong = append(wrong, fmt.Errorf("the limit %s of process %d cannot be read", name, pid))
			} else if want := withUnit(wanted[name]); limitValue(is.Soft) != want || limitValue(is.Hard) != want {
				wrong = append(wrong, fmt.Errorf("the limit %s of process %d is %s (hard limit %s), and was set to %s", name, pid, is.Soft, is.Hard, wanted[name]))
			}
		}
	}
	return errors.Join(wrong...)
}

// withUnit is limitValue for a value that may have a unit, as in 64M.
func withUnit(text string) uint64 {
	if text == "" {
		return limitValue(text)
	}
	if i := strings.IndexByte("KMG", text[len(text)-1]); i >= 0 {
		return limitValue(text[:len(text)-1]) << (10 * (i + 1))
	}
	return limitValue(text)
}
