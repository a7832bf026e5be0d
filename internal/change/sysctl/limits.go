package sysctl

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/promise"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/hostproc"
)

// plan sets limits of a service's process.
func (a *limitArgs) plan(s *change.Site, svc change.Service, c *iikanji.Change) error {
	if svc.LimitsFile == "" || svc.Running == nil {
		return fmt.Errorf("service %q has no file of limits", c.Target)
	}
	h, err := s.On(svc.Host)
	if err != nil {
		return err
	}
	old, err := s.ReadOld(svc.Host, svc.LimitsFile)
	if err != nil {
		return err
	}
	edited := edit(old, limitsHeader, a.values())
	if string(edited) == string(old) {
		return change.ErrNothing
	}
	if err := possible(h, a.values()); err != nil {
		return err
	}
	c.Risk = iikanji.RiskRestart
	c.Weakens = weakened(promise.Limits, present(h, s.Target, c.Target, old), a.values())
	change.FromEdits(c, iikanji.Restart, change.Edit{Path: svc.LimitsFile, Old: old, New: edited, Host: svc.Host})
	return nil
}

// processLimits are the limits of a process by name. A limit that cannot be read is
// left out.
func processLimits(h host.Host, pid int) map[string]hostproc.Limit {
	limits, err := hostproc.Limits(h, pid)
	if err != nil {
		return nil
	}
	all := map[string]hostproc.Limit{}
	for _, l := range limits {
		all[l.Name] = l
	}
	return all
}

// present are the limits of a service now: those of its file, else those of its
// running process, else those that a new process inherits from this one.
func present(h host.Host, t iikanji.Target, service string, file []byte) map[string]string {
	now := map[string]string{}
	pids := []int{hostproc.Self}
	if svc, ok := t.Service(service); ok {
		pids = append(pids, svc.PIDs...)
	}
	for _, pid := range pids { // the last one wins
		for name, l := range processLimits(h, pid) {
			now[name] = l.Soft
		}
	}
	for line := range strings.Lines(string(file)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			now[strings.TrimSpace(name)] = plain(value)
		}
	}
	return now
}

// capSysResource is the capability that lets a process raise its hard limits.
const capSysResource = 24

// possible refuses limits above the hard limits that a new process inherits. A
// process that may raise them is bound by fs.nr_open only.
func possible(h host.Host, wanted map[string]string) error {
	ours := processLimits(h, hostproc.Self)
	raise := mayRaise(h)
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		hard, known := ours[name]
		if !known {
			continue
		}
		most := limitValue(hard.Hard)
		if raise {
			most = math.MaxUint64
			if b, err := h.Read("/proc/sys/fs/nr_open"); name == "nofile" && err == nil {
				most = max(limitValue(hard.Hard), limitValue(strings.TrimSpace(string(b))))
			}
		}
		if limitValue(wanted[name]) > most {
			return fmt.Errorf("%s = %s: the hard limit of the processes that iikanji starts is %d", name, wanted[name], most)
		}
	}
	return nil
}

func limitValue(text string) uint64 {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil { // "unlimited"
		return math.MaxUint64
	}
	return n
}

// mayRaise reports whether this process may raise hard limits.
func mayRaise(h host.Host) bool {
	text, err := h.Read("/proc/self/status")
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		if caps, ok := strings.CutPrefix(line, "CapEff:"); ok {
			bits, err := strconv.ParseUint(strings.TrimSpace(caps), 16, 64)
			return err == nil && bits&(1<<capSysResource) != 0
		}
	}
	return false
}
