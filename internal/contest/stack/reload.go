package stack

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/machine/process"
)

// reloadWait is how long nginx may take until new workers answer and the old
// ones have closed their listening sockets.
const reloadWait = 30 * time.Second

// Reload makes a service take its config without an interruption, if its engine
// can. It returns when the new config answers all new connections. An invalid
// config leaves the service unchanged.
func (s *Stack) Reload(ctx context.Context, service string) error {
	s.act.Lock()
	defer s.act.Unlock()
	svc := s.arena.Service(service)
	if !s.Reloads(service) {
		return fmt.Errorf("reloading the %s: it cannot take its config without a restart", service)
	}
	return s.reload(ctx, svc)
}

// Reloads reports whether a service can take its config without a restart.
func (s *Stack) Reloads(service string) bool {
	svc := s.arena.Service(service)
	return svc != nil && process.EngineOf(svc.Engine).Reload != 0
}

// reload returns when the new workers answer and no old worker accepts
// connections. Old workers finish the requests that they have begun.
func (s *Stack) reload(ctx context.Context, svc *arena.Service) error {
	if err := s.testConfig(ctx, svc); err != nil {
		return err
	}
	master := s.running()[svc.Name]
	if master == nil {
		return fmt.Errorf("reloading the %s: it was not started", svc.Name)
	}
	select {
	case <-master.Done:
		return fmt.Errorf("reloading the %s: it does not run (%s)", svc.Name, master.Status)
	default:
	}
	old := process.Children(master.PID)
	from := map[string]int64{}
	for _, log := range []string{svc.LogFile("error"), svc.Output} {
		from[log] = s.dir.size(log)
	}
	if err := s.control.Signal(ctx, svc.Name, process.EngineOf(svc.Engine).Reload); err != nil {
		return fmt.Errorf("reloading the %s: %w", svc.Name, err)
	}
	err := await(ctx, master, reloadWait, func(ctx context.Context) error { return s.reloaded(svc, master.ID, old, from) })
	if err == nil {
		err = await(ctx, master, svc.Ready.Wait, s.readiness(svc, master))
	}
	if errors.Is(err, process.ErrEnded) {
		return s.died(svc.Name, svc.Output, from[svc.Output], master.Status)
	}
	if slow, ok := err.(*NotReadyError); ok {
		slow.Log = s.dir.path(logDir, svc.LogFile("error"))
	}
	return err
}

// reloaded returns an error that names what is still missing. Some errors are
// not visible to a test of the config (another key of a shared zone, an address
// in use). For these the master keeps its old workers and logs the error. The
// keys of from are the logs, its values the offsets at which the reload began.
func (s *Stack) reloaded(svc *arena.Service, master process.ID, old []process.ID, from map[string]int64) error {
	for log, begin := range from {
		tail := s.dir.tail(log, begin)
		// nginx retries an address that is in use before it gives up.
		if slices.ContainsFunc(tail, func(l string) bool { return strings.Contains(l, "[emerg]") && !strings.Contains(l, "bind() to") }) {
			return &ConfigError{Service: svc.Name, Path: s.dir.path(confDir, svc.MainConfig()), Lines: tail}
		}
	}
	return process.Reloaded(master, old)
}
