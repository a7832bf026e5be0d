package finalize

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
)

// A scripted is a host and a site that answer as a test says, and note what they were asked.
type scripted struct {
	losses   []string // of which those that begin with "person" cannot be mended
	fails    string   // an order that a service does not survive
	score    float64
	boots    int
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
	if o.Name == s.fails {
		return "", &LateError{"app did not come back"}
	}
	return "all back", nil
}

func (s *scripted) Reboot(context.Context) (string, bool, error) {
	s.asked = append(s.asked, "reboot")
	if s.fails == "reboot" {
		return "", false, &LateError{"app did not come back"}
	}
	s.boots++
	return "says", s.boots == 1, nil
}

func (s *scripted) LastRun(context.Context) (iikanji.RunID, float64, error) {
	s.asked = append(s.asked, "run")
	if s.score == 0 {
		return 7, 0, errors.New("run 7 failed")
	}
	return 7, s.score, nil
}

// do carries a plan out on a scripted site.
func do(t *testing.T, s *scripted, edit func(*Plan)) Result {
	t.Helper()
	s.now = time.Unix(0, 0)
	p := Plan{Hosts: []Host{s}, Site: s, Now: func() time.Time { return s.now }, Run: time.Minute, Before: 1000, Floor: 0.75, Orders: OrdersOf(true)}
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

// TestReboot: the command ends when the machine goes down, and the same one goes on.
func TestReboot(t *testing.T) {
	s := &scripted{score: 1000}
	reboot := func(p *Plan) { p.Reboot = true }
	if res := do(t, s, reboot); !res.Down || res.Ready || res.Rebooted || s.asked[len(s.asked)-1] != "reboot" {
		t.Errorf("going down: %+v, asked %q", res, s.asked)
	}
	if res := do(t, s, reboot); res.Down || !res.Ready || !res.Rebooted {
		t.Errorf("afterwards: %+v", res)
	}
	if res := do(t, &scripted{score: 1000, fails: "reboot"}, reboot); res.Ready || res.Down || res.Reason != "reboot: app did not come back" {
		t.Errorf("a service that stays away: %+v", res)
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
