package bench

import (
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

func TestJudge(t *testing.T) {
	f := func(e ending, want iikanji.Outcome, reason string) {
		t.Helper()
		e.loadTime = time.Minute
		got, reasons := judge(e)
		if got != want || len(reasons) == 0 || !strings.Contains(strings.Join(reasons, "; "), reason) {
			t.Errorf("%+v: %v %q, want %v with %q", e, got, reasons, want, reason)
		}
	}
	good, zero := scenario.Score{Raw: 10, Final: 10}, scenario.Score{Raw: 10, Deducted: 10}
	fatal := []string{"more than 100 errors"}
	f(ending{loaded: true, score: good}, iikanji.Passed, "all checks passed")
	f(ending{loaded: true, score: good, errors: 3}, iikanji.Passed, "3 errors")
	f(ending{}, iikanji.Passed, "no load")
	f(ending{loaded: true, score: zero}, iikanji.Passed, "")
	f(ending{loaded: true, score: zero, failAtZero: true}, iikanji.Failed, "10 − 10")
	f(ending{loaded: true, score: good, why: "busy"}, iikanji.Void, "busy")
	f(ending{loaded: true, score: zero, failAtZero: true, why: "busy"}, iikanji.Void, "busy")
	f(ending{loaded: true, interrupted: true, took: 12345 * time.Millisecond}, iikanji.Interrupted, "12.3s of 1m0s")
	f(ending{interrupted: true}, iikanji.Interrupted, "before the load")
	f(ending{loaded: true, interrupted: true, why: "busy"}, iikanji.Interrupted, "")
	f(ending{loaded: true, fatal: fatal, interrupted: true, why: "busy"}, iikanji.Failed, "more than 100")
	f(ending{fatal: fatal}, iikanji.Failed, "more than 100")
}

func TestLimitOf(t *testing.T) {
	const ms = time.Millisecond
	f := func(s strain, void, warned bool) {
		t.Helper()
		why, warning := limitOf(s)
		if (why != "") != void || (warning != "") != warned {
			t.Errorf("%+v: void %q, warning %q", s, why, warning)
		}
	}
	calm := strain{share: 0.3, late: 50 * time.Microsecond, wakeUps: 1000, latency: 5 * ms, answers: 1000}
	with := func(change func(s *strain)) strain { s := calm; change(&s); return s }
	f(calm, false, false)
	f(with(func(s *strain) { s.share = 0.75 }), false, true)
	f(with(func(s *strain) { s.share = 0.96 }), true, false)
	f(with(func(s *strain) { s.late = 900 * time.Microsecond }), false, true)
	f(with(func(s *strain) { s.late = 1 * ms }), true, false)
	f(with(func(s *strain) { s.late, s.latency = 180*time.Microsecond, 200*time.Microsecond }), false, false)
	f(with(func(s *strain) { s.late, s.wakeUps = 10*ms, 20 }), false, false)
	f(with(func(s *strain) { s.late, s.answers = 10*ms, 20 }), false, false)
	f(with(func(s *strain) { s.late, s.latency = 10*ms, 0 }), false, false)
	f(with(func(s *strain) { s.noPort = 1 }), true, false)
	f(with(func(s *strain) { s.noFile = 1 }), true, false)
	for name, c := range map[string]struct {
		s    strain
		want bool
	}{
		"calm":                  {calm, false},
		"late":                  {with(func(s *strain) { s.late = 2 * ms }), true},
		"late by its own work":  {with(func(s *strain) { s.late, s.share = 2*ms, 0.96 }), false},
		"late and out of ports": {with(func(s *strain) { s.late, s.noPort = 2*ms, 1 }), false},
	} {
		if got := c.s.starved(); got != c.want {
			t.Errorf("%s: starved %v", name, got)
		}
	}
}

func TestPorts(t *testing.T) {
	var d dials
	for range 10 {
		d.opened()
	}
	for range 10 {
		d.closed()
	}
	for range 5 {
		d.opened()
	}
	if conns, ports := d.peaks(); conns != 10 || ports != 15 {
		t.Errorf("peak of %d connections and %d ports, want 10 and 15", conns, ports)
	}
	d.advance(time.Now().Unix() + timeWait + 1)
	if d.waiting != 0 {
		t.Errorf("%d ports still wait", d.waiting)
	}
	if r := portRange(); r < 1000 || r > 65536 {
		t.Errorf("%d local ports", r)
	}
}

func TestFaultGroups(t *testing.T) {
	var b faultGroups
	steps := []string{"a", "b"}
	add := func(n int, kind iikanji.FaultKind, step scenario.Step, check string, fatal bool) {
		for i := range n {
			b.add(&scenario.Fault{Kind: kind, Step: step, Check: check, Message: itoa(i)}, steps, fatal)
		}
	}
	add(5, iikanji.FaultTimeout, 0, "", false)
	add(3, iikanji.FaultStatus, 1, "", false)
	add(7, iikanji.FaultStatus, 0, "", false)
	add(2, iikanji.FaultCheck, -1, "order", false)
	add(1, iikanji.FaultDial, 0, "", true)
	var got []string
	for _, f := range b.list() {
		got = append(got, f.Kind.String()+" "+f.Step+f.Check+" "+itoa(int(f.Count))+" "+f.Message)
	}
	want := "dial a 1 0, check order 2 0, status a 7 0, status b 3 0, timeout a 5 0"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("%s, want %s", s, want)
	}
	for i := range 2 * maxFaultKinds {
		b.add(&scenario.Fault{Kind: iikanji.FaultCheck, Step: -1, Check: itoa(i)}, steps, false)
	}
	if n := len(b.list()); n != maxFaultKinds {
		t.Errorf("%d groups", n)
	}
}
