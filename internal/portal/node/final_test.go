package node_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/machine/servertest"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/board"
	"github.com/iikanji/iikanji/internal/portal/contest"
	"github.com/iikanji/iikanji/internal/portal/final"
	"github.com/iikanji/iikanji/internal/portal/lead"
)

const finalContest = `name = "Final"
local = true
[[rounds]]
id = "day"
start = %s
hours = 8
problem = "p"
[rounds.final]
reboot = true
back_in = "1h"
runs = 3
pass = 2
counts = "median"
void_retries = 2
[problem.p]
command = ["%s", "` + finalBenchRole + `", "%s"]
report = "lines"
load = "1s"
timeout = "5m"
`

const finalRound = "final_day"

// A judged is the portal for a driver.
type judged struct{ *system }

func (j judged) Final(ctx context.Context) (*api.FinalState, error) {
	return j.core.Final(ctx, finalRound)
}
func (j judged) Step(ctx context.Context, s api.FinalStep) error {
	return j.core.FinalStep(ctx, "judge", finalRound, s)
}
func (j judged) Run(ctx context.Context, team string, block int) (*api.Job, error) {
	return j.core.FinalRun(ctx, "judge", finalRound, team, block)
}
func (j judged) Hosts(ctx context.Context) ([]api.Host, error) {
	return j.core.Hosts(ctx, finalRound, "")
}
func (j judged) Decide(ctx context.Context) (*api.FinalState, error) {
	return j.core.Decide(ctx, "judge", finalRound)
}

// A machine is a host of a team, as a process.
type machine struct{ name, dir, site, team string }

// newMachine registers the host of a new team and starts it.
func (s *system) newMachine(name, behaves string, score int) *machine {
	s.t.Helper()
	m := &machine{name: name, dir: filepath.Join(s.dir, name), site: servertest.FreeAddress(s.t)}
	err := os.Mkdir(m.dir, 0o700)
	if err != nil {
		s.t.Fatal(err)
	}
	if m.team, err = s.core.AddTeam(s.t.Context(), lead.NewTeam{Contest: "final", Name: name}); err != nil {
		s.t.Fatal(err)
	}
	made, err := s.core.RegisterHost(s.t.Context(), "u", finalRound, api.NewHost{Team: m.team, Name: "s1", Address: "http://" + m.site})
	if err != nil {
		s.t.Fatal(err)
	}
	for file, text := range map[string]string{"token": made.Token, "boot": "first-" + name, "score": strconv.Itoa(score), "behaves": behaves, "data": "0", "ssh_host_test_key.pub": "ssh-ed25519 AAAA" + name} {
		if err := os.WriteFile(filepath.Join(m.dir, file), []byte(text), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	s.start(name, hostRole, m.dir, "http://"+s.address, m.site)
	return m
}

// reboot ends the process of a machine and starts it again, as it behaves.
func (s *system) reboot(m *machine, behaves string, n int) error {
	s.kill(m.name, syscall.SIGKILL)
	if behaves == "never" {
		return nil
	}
	if behaves == "loses" {
		if err := os.WriteFile(filepath.Join(m.dir, "data"), nil, 0o600); err != nil {
			return err
		}
	}
	for file, text := range map[string]string{"boot": fmt.Sprintf("boot-%d-%s", n, m.name), "booted": "yes"} {
		if err := os.WriteFile(filepath.Join(m.dir, file), []byte(text), 0o600); err != nil {
			return err
		}
	}
	s.start(m.name, hostRole, m.dir, "http://"+s.address, m.site)
	return nil
}

// until waits for a condition.
func (s *system) until(what string, done func() bool) {
	s.t.Helper()
	for end := time.Now().Add(5 * time.Minute); !done(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			s.logs()
			s.t.Fatalf("not within five minutes: %s", what)
		}
	}
}

// An hours is the driver's clock, which the test moves: a machine that is only slow is back within
// the hour, and the hours of those that do not come back pass at once.
type hours struct{ ahead atomic.Int64 }

func (h *hours) now() time.Time { return time.Now().Add(time.Duration(h.ahead.Load())) }

// pass lets hours pass while nobody but machines that do not come back, or that lost what the runs
// wrote, is waited for. At other times the clock is right. It returns when nothing is left of them, or
// ctx is over.
func (h *hours) pass(ctx context.Context, s *system) {
	defer h.ahead.Store(0)
	for ; ctx.Err() == nil; time.Sleep(200 * time.Millisecond) {
		f, err := s.core.Final(ctx, finalRound)
		if err != nil { // on a busy machine one read may fail: without the clock the driver would wait for hours
			s.t.Logf("reading the judging: %v", err)
			continue
		}
		has := func(step string, teams ...string) bool {
			return !slices.ContainsFunc(f.Teams, func(t api.FinalTeam) bool { return slices.Contains(teams, t.Name) && !hasStep(&t, step) })
		}
		well := has("check-again", "well", "void", "failing", "forgets")
		switch {
		case has("persistence", "forgets"):
			return
		case well && has("booted", "gone") && has("reboot", "flapping") && !(has("reboot", "gone") && has("check-again", "flapping")),
			has("persistence", "well", "void") && has("well-again", "forgets"):
			h.ahead.Add(int64(2 * time.Hour))
		default:
			h.ahead.Store(0)
		}
	}
}

func hasStep(t *api.FinalTeam, name string) bool {
	return slices.ContainsFunc(t.Steps, func(s api.FinalStep) bool { return s.Name == name })
}

// TestFinal judges six teams whose hosts are processes: two are well, one of which has a void
// run, and one fails its runs; one never comes back from the reboot, one loses what the runs wrote,
// one reboots again and again. One worker is slow: it decides nothing.
func TestFinal(t *testing.T) {
	tier.Slow(t)
	t.Parallel() // it waits most of the time
	s := newSystem(t, 0, 0)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Appendf(nil, finalContest, time.Now().Add(-time.Hour).UTC().Format(time.RFC3339), program, s.dir)
	if _, err := s.core.AddContest(t.Context(), text, "final.toml"); err != nil {
		t.Fatal(err)
	}
	behaviour := map[string]string{"well": "", "void": "", "failing": "", "gone": "never", "forgets": "loses", "flapping": "flaps"}
	machines := map[string]*machine{}
	for i, name := range []string{"well", "void", "failing", "gone", "forgets", "flapping"} {
		machines[name] = s.newMachine(name, behaviour[name], 100<<(2*i)) // a slow run changes no rank
		s.teams = append(s.teams, machines[name].team)
	}
	s.env = []string{"PATH=" + os.Getenv("PATH") + ":/slow-worker"}
	s.startWorker("w0")
	s.env = nil
	s.startWorker("w1")
	s.startWorker("w2")
	s.until("three workers are there", func() bool {
		all, err := s.core.Workers(t.Context())
		return err == nil && len(all) == 3
	})
	s.until("all hosts are proven", func() bool {
		all, err := s.core.Hosts(t.Context(), finalRound, "")
		n := 0
		for _, h := range all {
			if h.Proven && h.Problem == "" {
				n++
			}
		}
		return err == nil && n == len(behaviour)
	})
	s.contestDay(machines)
	f := s.judge(machines, behaviour)
	s.checkVerdicts(f, machines)
	if t.Failed() {
		s.logs()
	}
}

// contestDay makes a run of each team, and ends the round. A run that a busy machine gave up three
// times is made again.
func (s *system) contestDay(machines map[string]*machine) {
	s.t.Helper()
	s.until("the runs of the day", func() bool {
		jobs, err := s.core.Jobs(s.t.Context(), finalRound, "")
		if err != nil {
			return false
		}
		made := map[string]bool{}
		n := 0
		for _, j := range jobs {
			made[j.Team] = made[j.Team] || j.State == api.Done || j.State.Open()
			if j.State == api.Done {
				n++
			}
		}
		for _, m := range machines {
			if !made[m.team] {
				if _, err := s.core.Enqueue(s.t.Context(), "u"+m.team, false, api.Enqueue{Round: finalRound, Team: m.team}); err != nil {
					s.t.Fatal(err)
				}
			}
		}
		return n == len(machines)
	})
	r, err := s.core.Round(s.t.Context(), finalRound)
	if err != nil {
		s.t.Fatal(err)
	}
	left, _ := r.Clock.Left("", time.Now())
	if err := s.core.Act(s.t.Context(), "o", finalRound, contest.Act{Kind: contest.Extend, By: -left + 3*time.Second, Reason: "the test goes on"}); err != nil {
		s.t.Fatal(err)
	}
	s.until("the round has ended", func() bool {
		r, err := s.core.Round(s.t.Context(), finalRound)
		return err == nil && r.State == contest.Ended
	})
}

// judge plans and drives the final judging; the driver is interrupted once.
func (s *system) judge(machines map[string]*machine, behaviour map[string]string) *api.FinalState {
	s.t.Helper()
	ctx := s.t.Context()
	f, err := s.core.PlanFinal(ctx, "o", finalRound, api.PlanFinal{Apply: true})
	if err != nil || len(f.Teams) != len(machines) || len(f.Workers) != 3 || len(f.Plan) != 3*len(machines) {
		s.t.Fatalf("the plan: %+v, %v", f, err)
	}
	if err := s.core.Move(ctx, "o", finalRound, contest.Judging); err != nil {
		s.t.Fatal(err)
	}
	if err := s.core.Move(ctx, "o", finalRound, contest.Provisional); !refusal(err, "state") {
		s.t.Errorf("provisional without verdicts: %v", err)
	}
	_, port, err := net.SplitHostPort(machines["void"].site)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "void-"+port), nil, 0o600); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(machines["failing"].dir, "score"), []byte("not a number"), 0o600); err != nil {
		s.t.Fatal(err)
	}
	boots := make(chan *machine, 100)
	rebooted := make(chan error)
	go func() { // one goroutine has the processes
		for n := 0; ; n++ {
			m, open := <-boots
			if !open {
				return
			}
			rebooted <- s.reboot(m, behaviour[m.name], n)
		}
	}()
	defer close(boots)
	program, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	clock := &hours{}
	drive := func(ctx context.Context) (*api.FinalState, error) {
		d := &final.Driver{Portal: judged{s}, Poll: 100 * time.Millisecond, Log: slog.New(slog.DiscardHandler), Now: clock.now, Persist: final.PersistBy([]string{program, persistRole}),
			Reboot: func(_ context.Context, h api.Host) error {
				for _, m := range machines {
					if m.team == h.Team {
						boots <- m
						return <-rebooted
					}
				}
				return errors.New("there is no such machine")
			}}
		return d.Run(ctx)
	}
	short, cancel := context.WithTimeout(ctx, 4*time.Second) // in the middle of the reboots
	defer cancel()
	if _, err := drive(short); !errors.Is(err, context.DeadlineExceeded) {
		s.t.Errorf("the interrupted driver: %v", err)
	}
	ctx, end := context.WithTimeout(ctx, 8*time.Minute)
	var passing sync.WaitGroup
	defer passing.Wait()
	defer end()
	passing.Go(func() { clock.pass(ctx, s) })
	if f, err = drive(ctx); err != nil {
		s.logs()
		s.t.Fatal(err)
	}
	return f
}

// checkPlaces requires that the plan has a team's runs on different workers, and that a run was on
// the worker of the plan, but where that was lost or waited for too long. These teams are returned.
func (s *system) checkPlaces(f *api.FinalState) (elsewhere map[string]bool) {
	s.t.Helper()
	planned, workers := map[string]string{}, map[string]map[string]bool{}
	for _, p := range f.Plan {
		planned[fmt.Sprint(p.Team, p.Block)] = p.Worker
		if workers[p.Team] == nil {
			workers[p.Team] = map[string]bool{}
		}
		if workers[p.Team][p.Worker] {
			s.t.Errorf("the plan has two runs of team %s on worker %s", p.Team, p.Worker)
		}
		workers[p.Team][p.Worker] = true
	}
	elsewhere = map[string]bool{}
	for _, team := range f.Teams {
		for _, r := range team.Runs {
			j, err := s.core.Job(s.t.Context(), r.Job)
			if err != nil {
				s.t.Fatal(err)
			}
			if j.Attempt > 1 || j.State != api.Done || j.Started.Sub(j.Enqueued) > 5*time.Second {
				elsewhere[team.Team] = true
			} else if want := planned[fmt.Sprint(team.Team, r.Block)]; r.Worker != want {
				s.t.Errorf("run %d of %s was on %s, planned on %s", r.Block, team.Name, r.Worker, want)
			}
		}
	}
	return elsewhere
}

// checkVerdicts compares the verdicts with the rule, and the board with the preview.
func (s *system) checkVerdicts(f *api.FinalState, machines map[string]*machine) {
	s.t.Helper()
	want := map[string]struct {
		passed bool
		score  float64
		reason string
	}{"well": {true, 100, ""}, "void": {true, 400, ""}, "failing": {false, 0, "0 of 3 runs passed"}, "gone": {false, 0, "reboot: host s1: not back within"},
		"forgets": {false, 0, "persistence: "}, "flapping": {false, 0, "check-again: host s1"}}
	elsewhere := s.checkPlaces(f)
	for _, team := range f.Teams {
		w, v := want[team.Name], team.Verdict
		// A run that a busy machine gave to another worker may be a second one on the slow worker.
		score := v.Score == w.score || elsewhere[team.Team] && v.Score == w.score/2
		if v.Open || v.Passed != w.passed || !score || !strings.Contains(v.Reason, w.reason) || !team.Decided {
			s.t.Errorf("%s: %+v, want %+v\nsteps %+v\nruns %+v", team.Name, v, w, team.Steps, team.Runs)
		}
		voids := 0
		for _, r := range team.Runs {
			if r.Outcome.String() == "void" {
				voids++
			}
		}
		if (voids == 1) != (team.Name == "void") && !elsewhere[team.Team] {
			s.t.Errorf("%s has %d void runs", team.Name, voids)
		}
	}
	// What the preview said is what the board shows.
	if err := s.core.Move(s.t.Context(), "o", finalRound, contest.Provisional); err != nil {
		s.t.Fatal(err)
	}
	var h lead.History
	if _, err := s.core.Follow(s.t.Context(), finalRound, &h); err != nil {
		s.t.Fatal(err)
	}
	staff, public := h.View(board.Reader{Role: board.Staff}, time.Now()), h.View(board.Reader{Role: board.Public}, time.Now())
	for _, m := range f.Moves {
		for _, row := range staff.Rows {
			if row.Team == m.Team && (row.Rank != m.To || row.Standing != m.Is) {
				s.t.Errorf("%s has rank %d with %v; the preview said %d with %v", row.Name, row.Rank, row.Standing, m.To, m.Is)
			}
		}
	}
	if staff.Rows[0].Team != machines["void"].team || staff.Rows[1].Team != machines["well"].team || public.Rows[0].Team != machines["flapping"].team || public.Rows[0].Final {
		s.t.Errorf("staff sees %+v, the public %+v", staff.Rows, public.Rows)
	}
	if err := s.core.Reveal(s.t.Context(), "o", finalRound, "the ceremony"); err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.core.Follow(s.t.Context(), finalRound, &h); err != nil {
		s.t.Fatal(err)
	}
	if rows := h.View(board.Reader{Role: board.Public}, time.Now()).Rows; rows[0].Team != machines["void"].team || !rows[0].Final {
		s.t.Errorf("after the reveal the public sees %+v", rows)
	}
}
