package worker

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/sandbox"
)

// Kinds of problems: an arena, a command of a local contest, and a command of any other one,
// which is foreign: it runs in a sandbox.
const (
	kindArena    = "arena"
	kindCommand  = "command"
	kindConfined = "confined"
)

// Limits of a foreign benchmarker beside its memory.
const (
	usualMemory  = 2 << 30
	mostTasks    = 4096
	mostFiles    = 65536
	privateDisk  = 1 << 30
	cpuOfSeconds = 64 // a benchmarker that uses 64 cores all the time is none
)

// prepare ends what killed guards have left, and tries the sandbox.
func (w *Worker) prepare() {
	if w.o.Unconfined {
		return
	}
	sandbox.EndAbandoned()
	if w.missing = sandbox.Missing(); w.missing != "" {
		w.o.Log.Info("this machine cannot run foreign benchmarkers in a sandbox: it takes those of local contests alone", "missing", w.missing)
	}
}

// kinds are the kinds of problems that this worker runs.
func (w *Worker) kinds() []string {
	if w.missing != "" {
		return []string{kindArena, kindCommand}
	}
	return []string{kindArena, kindCommand, kindConfined}
}

// confines reports whether the benchmarker of a job runs in a sandbox. A machine without one runs
// the arenas of iikanji without it, and foreign benchmarkers not at all.
func (w *Worker) confines(a *api.Assignment) bool {
	if w.o.Confined {
		return true
	}
	return !a.Local && !w.o.Unconfined && (a.Problem.Arena == "" || w.missing == "")
}

// confine gives a benchmarker its sandbox.
func (w *Worker) confine(a *api.Assignment, s *spec, callback string) error {
	if !w.confines(a) {
		return nil
	}
	if w.missing != "" {
		return errors.New("this worker has no sandbox for a foreign benchmarker: " + w.missing)
	}
	path, err := filepath.EvalSymlinks(s.Path)
	if err != nil {
		return fmt.Errorf("the benchmarker: %w", err)
	}
	allow, err := addresses(a)
	if err != nil {
		return err
	}
	memory := w.o.Memory
	if memory == 0 {
		memory = usualMemory
	}
	s.Path = path
	s.Confine = &sandbox.Rules{Allow: allow, Read: append([]string{path}, w.o.Read...), Memory: memory, Processes: mostTasks, Files: mostFiles, Disk: privateDisk,
		CPU: max(s.Hard, time.Second) * cpuOfSeconds}
	if callback != "" {
		at, err := netip.ParseAddrPort(callback)
		if err != nil {
			return fmt.Errorf("the address for callbacks: %w", err)
		}
		s.Confine.Listen = []uint16{at.Port()}
	}
	s.Env = slices.DeleteFunc(s.Env, func(v string) bool { return v == "HOME="+s.Dir || v == "TMPDIR="+s.Dir })
	s.Env = append(s.Env, "HOME=/tmp", "TMPDIR=/tmp")
	return nil
}

// addresses are what a benchmarker may reach: the hosts of the team at the contest's ports. Its
// own target's port is always one of them.
func addresses(a *api.Assignment) (out []netip.AddrPort, err error) {
	for _, target := range append([]string{a.Target}, a.Targets...) {
		at, err := addressOf(target)
		if err != nil {
			return nil, err
		}
		if len(a.Ports) == 0 {
			at = netip.AddrPortFrom(at.Addr(), 0)
		}
		all := []netip.AddrPort{at}
		for _, port := range a.Ports {
			all = append(all, netip.AddrPortFrom(at.Addr(), uint16(port)))
		}
		for _, at := range all {
			if !slices.Contains(out, at) {
				out = append(out, at)
			}
		}
	}
	return out, nil
}

// addressOf is the address of a target, which has no name: the portal resolves nothing, and
// neither does a worker.
func addressOf(target string) (netip.AddrPort, error) {
	u, err := url.Parse(target)
	if err != nil {
		return netip.AddrPort{}, errors.New("a target is no URL")
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	at, err := netip.ParseAddrPort("[" + u.Hostname() + "]:" + port)
	if err != nil {
		at, err = netip.ParseAddrPort(u.Hostname() + ":" + port)
	}
	if err != nil {
		return at, fmt.Errorf("a target is no address: %q", target)
	}
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port()), nil
}
