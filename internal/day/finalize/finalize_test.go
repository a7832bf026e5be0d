package finalize

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// A scripted is a host and a site that answer as a test says, and note what they were asked.
type scripted struct {
	losses   []string // of which those that begin with "person" cannot be mended
	fails    string   // an order that a service does not survive
	gone     string   // the step in which a machine is lost
	score    float64
	void     string // why the last run is void
	boots    int
	stays    bool // this machine is none that reboots
	so       []Step
	asked    []string
	mended   []string
	now      time.Time
	perOrder time.Duration
}

func (s *scripted) Name() string                         { return "" }
func (s *scripted) Up(context.Context) ([]string, error) { return nil, nil }
func (s *scripted) LogsOff(context.Context, bool) ([]string, error) {
	s.asked = append(s.asked, "logs")
	return []string{"write no access log"}, nil
}

func (s *scripted) Losses(context.Context) (out []iikanji.Finding, err error) {
	s.asked = append(s.asked, "losses")
	if s.gone == "losses" {
		return nil, fmt.Errorf("reading units: %w", &host.LostError{Host: "db", Err: errors.New("no answer")})
	}
	for _, l := range s.losses {
		if !slices.Contains(s.mended, l) {
			out = append(out, iikanji.Finding{Code: "BOOT100", Claim: l, Remedies: []iikanji.Remedy{iikanji.ByPerson("x", "do it")}})
		}
	}
	return out, nil
}

func (s *scripted) Mend(_ context.Context, f iikanji.Finding) (string, error) {
	s.asked = append(s.asked, "mend "+f.Claim)
	if strings.HasPrefix(f.Claim, "person") {
		return "", &ErrPerson{"do it"}
	}
	s.mended = append(s.mended, f.Claim)
	return "mended", nil
}

func (s *scripted) LeftBehind(context.Context, bool) ([]string, error) { return nil, nil }

func (s *scripted) Restart(_ context.Context, o Order) (string, error) {
	s.asked = append(s.asked, "restart "+o.Name)
	s.now = s.now.Add(s.perOrder)
	if s.gone == o.Name {
		return "", errors.Join(errors.New("ending the services"), &host.LostError{Host: "db", Sent: true, Err: errors.New("no answer")})
	}
	if o.Name == s.fails {
		return "", &LateError{Says: "app did not come back"}
	}
	return "all back", nil
}

func (s *scripted) Reboot(_ context.Context, round int, so []Step) (string, bool, error) {
	s.asked = append(s.asked, fmt.Sprint("reboot ", round))
	s.so = so
	if s.fails == "reboot" {
		return "", false, &LateError{Says: "app did not come back"}
	}
	s.boots++
	return "says", s.boots == 1 && !s.stays, nil
}

func (s *scripted) LastRun(context.Context) (iikanji.RunID, float64, error) {
	s.asked = append(s.asked, "run")
	if s.void != "" {
		return 7, s.score, fmt.Errorf("making it: %w", &VoidError{s.void})
	}
	if s.score == 0 {
		return 7, 0, errors.New("run 7 failed")
	}
	return 7, s.score, nil
}

// do carries a plan out on a scripted site.
func do(t *testing.T, s *scripted, edit func(*Plan)) Result {
	t.Helper()
	s.now = time.Unix(0, 0)
	p := Plan{Hosts: []Host{s}, Site: s, Now: func() time.Time { return s.now }, Run: time.Minute, Before: 1000, Floor: 0.75, Orders: OrdersOf(true, Gaps())}
	if edit != nil {
		edit(&p)
	}
	res, err := p.Do(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestPlan(t *testing.T) {
	s := &scripted{losses: []string{"a", "b"}, score: 990}
	res := do(t, s, nil)
	if !res.Ready || res.Lost != 0 || len(res.Steps) != 8 || res.Score != 990 {
		t.Errorf("%+v", res)
	}
	if want := []string{"losses", "mend a", "mend b", "losses", "logs", "restart all at once", "restart clients first", "restart servers 20 s later", "restart servers 60 s later", "run"}; !slices.Equal(s.asked, want) {
		t.Errorf("asked %q", s.asked)
	}
	again := do(t, s, nil) // the same command once more
	if !again.Ready || slices.Contains(s.asked[10:], "mend a") {
		t.Errorf("again: %+v, asked %q", again, s.asked)
	}
}

func TestNotReady(t *testing.T) {
	for name, c := range map[string]struct {
		site   scripted
		edit   func(*Plan)
		reason string
		last   string // the last thing that was asked
	}{
		"a person's loss": {scripted{losses: []string{"a", "person b"}, score: 1000}, nil, "BOOT100: person b; do it", "mend person b"},
		"an order":        {scripted{fails: "servers 20 s later", score: 1000}, nil, "restart, servers 20 s later: app did not come back", "restart servers 20 s later"},
		"a failed run":    {scripted{}, nil, "the last run: run 7 failed", "run"},
		"below the floor": {scripted{score: 700}, nil, "the last run has ×0.70 of the score before, and the floor is ×0.75", "run"},
		"no last run":     {scripted{score: 1000}, func(p *Plan) { p.NoRun = true }, "the last run was left out", "restart servers 60 s later"},
		"no time at all":  {scripted{score: 1000}, func(p *Plan) { p.End = time.Unix(5, 0) }, "no time for what a boot would lose, logs off, left behind, restart, all at once, restart, clients first, restart, servers 20 s later, restart, servers 60 s later, last run", ""},
		"time for a part": {scripted{score: 1000, perOrder: time.Minute}, func(p *Plan) { p.End = time.Unix(150, 0) }, "no time for restart, servers 20 s later, restart, servers 60 s later, last run", "restart clients first"},
	} {
		res := do(t, &c.site, c.edit)
		last := ""
		if n := len(c.site.asked); n > 0 {
			last = c.site.asked[n-1]
		}
		if res.Ready || res.Reason != c.reason || res.Back == "" || last != c.last {
			t.Errorf("%s: %+v, last %q", name, res, last)
		}
	}
}

// TestVoidRun: a void last run says nothing of the state, so that the way back is no other state.
func TestVoidRun(t *testing.T) {
	res := do(t, &scripted{score: 1000, void: "run 7 is void: the disk is nearly full"}, nil)
	if res.Ready || !strings.Contains(res.Reason, "run 7 is void: the disk is nearly full") || strings.Contains(res.Back, "work back") {
		t.Errorf("%+v", res)
	}
}

// TestReboot: the command ends when the machine goes down, and the same one goes on from its
// note, without the steps before.
func TestReboot(t *testing.T) {
	s := &scripted{score: 1000}
	rounds := RoundsOf(Machines{{Host: host.Local{}}}, nil)
	reboot := func(p *Plan) { p.Rounds = rounds }
	if res := do(t, s, reboot); !res.Down || res.Ready || res.Rebooted || s.asked[len(s.asked)-1] != "reboot 0" || len(s.so) != 3 {
		t.Errorf("going down: %+v, asked %q", res, s.asked)
	}
	asked := len(s.asked)
	res := do(t, s, func(p *Plan) { p.Rounds, p.From = rounds, &Rebooting{Steps: s.so} })
	if res.Down || !res.Ready || !res.Rebooted || s.asked[asked] != "reboot 0" || len(res.Steps) != 9 || res.Steps[3].Name != "reboot" {
		t.Errorf("afterwards: %+v, asked %q", res, s.asked[asked:])
	}
	if res := do(t, &scripted{score: 1000, fails: "reboot"}, reboot); res.Ready || res.Down || res.Reason != "reboot: app did not come back" {
		t.Errorf("a service that stays away: %+v", res)
	}
	several := &scripted{score: 1000, stays: true}
	res = do(t, several, func(p *Plan) { p.Rounds, p.Orders = append(rounds, rounds...), nil })
	if !res.Ready || !res.Rebooted || !slices.Equal(several.asked, []string{"losses", "logs", "reboot 0", "reboot 1", "run"}) {
		t.Errorf("two rounds: %+v, asked %q", res, several.asked)
	}
}

// TestLost: a machine that is lost ends the command with the step and the machine, and nothing
// else begins.
func TestLost(t *testing.T) {
	for gone, want := range map[string]string{"losses": "what a boot would lose: reading units: the connection to db is lost: no answer",
		"clients first": "restart, clients first: ending the services\nthe connection to db was lost in a call, whose effect is unknown: no answer"} {
		s := &scripted{score: 1000, gone: gone}
		res := do(t, s, nil)
		if last := s.asked[len(s.asked)-1]; res.Ready || res.Reason != want || !strings.Contains(res.Back, "when db answers") || !strings.HasSuffix(last, gone) || res.Steps[len(res.Steps)-1].OK {
			t.Errorf("%s: %+v, asked %q", gone, res, s.asked)
		}
	}
}

// TestRehearse: nothing is mended or turned off, and a loss makes it not ready.
func TestRehearse(t *testing.T) {
	s := &scripted{losses: []string{"a"}, score: 1000}
	res := do(t, s, func(p *Plan) { p.Rehearse = true })
	if res.Ready || res.Lost != 1 || res.Reason != "1 loss of a boot found" || slices.Contains(s.asked, "logs") || slices.Contains(s.asked, "mend a") || s.asked[len(s.asked)-1] != "run" {
		t.Errorf("%+v, asked %q", res, s.asked)
	}
	if res := do(t, &scripted{score: 1000}, func(p *Plan) { p.Rehearse = true }); !res.Ready {
		t.Errorf("without a loss: %+v", res)
	}
}

// A named is a machine with a name.
type named struct {
	host.Host
	name string
}

func (n named) Name() string { return n.name }

// TestRounds: every order of boots is there, this machine is the last of those that go down
// together, and the servers are down while their clients boot.
func TestRounds(t *testing.T) {
	machine := func(name string, server ...bool) *Units {
		u := &Units{Host: named{name: name}, Label: name}
		if name == "" {
			u.Label = "web"
		}
		for _, is := range server {
			u.Services = append(u.Services, UnitService{Unit: fmt.Sprint(is), Server: is})
		}
		return u
	}
	say := func(m Machines, gaps ...time.Duration) (text string) {
		for _, r := range RoundsOf(m, gaps) {
			text += r.Name + ":"
			for _, p := range r.parts {
				if p.after > 0 {
					text += " after " + p.after.String()
				}
				text += fmt.Sprintf(" stop %v down %v", p.stop, p.down)
				if p.rest {
					text += " rest"
				}
				text += ";"
			}
			text += "\n"
		}
		return text
	}
	if got := say(Machines{machine("", false, true)}, Gaps()...); got != "all at once: stop [] down [web];\n" {
		t.Errorf("one machine: %s", got)
	}
	got := say(Machines{machine("", false), machine("app2", false), machine("db", true)}, 0, 20*time.Second)
	want := `all at once: stop [] down [app2 db web];
one after the other: stop [] down [db] rest; stop [] down [app2] rest; stop [] down [web] rest;
clients first: stop [db] down [app2 web]; stop [] down [db];
servers 20 s later: stop [db] down [app2 web]; after 20s stop [] down [db];
`
	if got != want {
		t.Errorf("three machines:\n%swant\n%s", got, want)
	}
	if got := say(Machines{machine("a", false, true), machine("b", true)}, 0); strings.Contains(got, "clients first") {
		t.Errorf("servers on each machine:\n%s", got)
	}
}

// TestCheck: nothing is mended, restarted or run.
func TestCheck(t *testing.T) {
	s := &scripted{losses: []string{"a"}, score: 1000}
	res := do(t, s, func(p *Plan) { p.Check = true })
	if res.Ready || res.Reason != "" || !slices.Equal(s.asked, []string{"losses", "logs"}) || res.Lost != 1 {
		t.Errorf("%+v, asked %q", res, s.asked)
	}
}
