package livesite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/process"
)

// A ConfigError is a configuration that the service's program refuses.
type ConfigError struct{ Service, Output string }

func (e *ConfigError) Error() string {
	return fmt.Sprintf("service %s refuses the configuration: %s", e.Service, e.Output)
}

// errNoTest is the error of a service whose configuration cannot be tested.
var errNoTest = errors.New("no test of its configuration is known: fill in commands.test")

// CheckConfig has the program of a service read a configuration file. For a
// database this is the file alone, without the others that the server reads.
func (s *Subject) CheckConfig(ctx context.Context, service, path string) error {
	r := s.running()[service]
	if r.Commands.Test != "" {
		err := s.command(ctx, r, r.Commands.Test, "IIKANJI_CONFIG="+path)
		var failed *CommandError
		if errors.As(err, &failed) {
			return &ConfigError{service, failed.Output}
		}
		return err
	}
	p := r.process()
	if p == nil {
		return &NotRunningError{Service: service, By: "its process, which has ended"}
	}
	test := process.EngineOf(r.Engine).TestFile
	if test == nil {
		return errNoTest
	}
	c := host.Command{Path: p.Program, Args: test(p, path), Dir: p.Dir, Env: []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/"}}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	res, err := r.host.Exec(ctx, c)
	if err != nil {
		return err
	}
	if res.Status != 0 {
		return &ConfigError{service, errorLines(res.Output)}
	}
	return nil
}

// errorLines are the lines of an output with errors; all if none has one.
func errorLines(b []byte) string {
	var out []string
	for line := range strings.Lines(string(b)) {
		if strings.Contains(line, "[emerg]") || strings.Contains(line, "[ERROR]") || strings.Contains(line, "[error]") {
			out = append(out, strings.TrimSpace(line))
		}
	}
	if len(out) == 0 {
		return firstLines(b)
	}
	return firstLines([]byte(strings.Join(out, "; ")))
}

// reloadWait is how long nginx may take until new workers answer and the old ones
// accept no more connections.
const reloadWait = 30 * time.Second

// Reload makes a service take its configuration without an interruption, and
// returns when it has done so.
func (s *Subject) Reload(ctx context.Context, service string) error {
	r := s.running()[service]
	r.act.Lock()
	defer r.act.Unlock()
	if r.Commands.Reload != "" {
		if err := s.command(ctx, r, r.Commands.Reload); err != nil {
			return err
		}
		return s.await(ctx, r)
	}
	engine := process.EngineOf(r.Engine)
	if engine.Reload == 0 {
		return fmt.Errorf("service %s has no reload: fill in commands.reload", service)
	}
	if engine.TestFile != nil && r.Config != "" {
		if err := s.CheckConfig(ctx, service, r.Config); err != nil { // the server would keep the old one and log the error only
			return err
		}
	}
	p := r.process()
	if p == nil {
		return &NotRunningError{Service: service, By: "its process, which has ended"}
	}
	old := process.ChildrenOn(r.host, p.PID)
	if err := r.host.Signal(p.PID, engine.Reload); err != nil {
		return fmt.Errorf("reloading service %s: %w", service, err)
	}
	err := process.Await(ctx, reloadWait, reloadWait, nil,
		func(context.Context) error { return process.ReloadedOn(r.host, p.ID(), old) })
	var slow *process.SlowError
	if errors.As(err, &slow) {
		return &NotReadyError{service, reloadWait, slow.Last, r.Logs.Error}
	}
	if err != nil {
		return err
	}
	return s.await(ctx, r)
}
