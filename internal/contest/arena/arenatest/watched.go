package arenatest

import (
	"context"
	"errors"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// A watched scenario reports its phases to the proxy. It calls end when the scenario
// reports a fault for which until returns true, and worked when it reports its work.
type watched struct {
	scenario.Scenario
	proxy *Proxy
	until func(f *iikanji.Fault) bool // may be nil
	end   func()

	worked func() // may be nil
}

// Prepare runs the wrapped scenario's Prepare.
func (w *watched) Prepare(ctx context.Context, s scenario.Session) error {
	if p, ok := w.Scenario.(scenario.Preparer); ok {
		return p.Prepare(ctx, w.session(s))
	}
	return nil
}

// Load runs the wrapped scenario's Load.
func (w *watched) Load(ctx context.Context, s scenario.Session) error {
	w.proxy.SetPhase(scenario.Load)
	if l, ok := w.Scenario.(scenario.Loader); ok {
		return l.Load(ctx, w.session(s))
	}
	return nil
}

// Validate runs the wrapped scenario's Validate.
func (w *watched) Validate(ctx context.Context, s scenario.Session) error {
	w.proxy.SetPhase(scenario.Validate)
	if v, ok := w.Scenario.(scenario.Validator); ok {
		return v.Validate(ctx, w.session(s))
	}
	return nil
}

func (w *watched) session(s scenario.Session) scenario.Session {
	if w.until == nil && w.worked == nil {
		return s
	}
	return watchedSession{s, w}
}

// A watchedSession inspects each reported fault, and the gauge of the work.
type watchedSession struct {
	scenario.Session
	scenario *watched
}

// Report reports an error to the session, then inspects it.
func (s watchedSession) Report(err error) {
	s.Session.Report(err)
	s.look(err)
}

// Fail ends the run through the session, then inspects the error.
func (s watchedSession) Fail(err error) {
	s.Session.Fail(err)
	s.look(err)
}

// Gauge reports a gauge to the session.
func (s watchedSession) Gauge(name, unit string, value float64) {
	s.Session.Gauge(name, unit, value)
	if name == WorkGauge && s.scenario.worked != nil {
		s.scenario.worked()
	}
}

func (s watchedSession) look(err error) {
	var f *scenario.Fault
	if s.scenario.until == nil || !errors.As(err, &f) {
		return
	}
	seen := iikanji.Fault{Kind: f.Kind, Check: f.Check}
	if steps := s.scenario.Info().Steps; f.Step >= 0 && int(f.Step) < len(steps) {
		seen.Step = steps[f.Step]
	}
	if s.scenario.until(&seen) {
		s.scenario.end()
	}
}
