package lead

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/carry"
	"github.com/iikanji/iikanji/internal/portal/contest"
	"github.com/iikanji/iikanji/internal/portal/store"
)

// A hall is a portal without processes, with a clock of its own.
type hall struct {
	*Core
	t      *testing.T
	at     time.Time
	leader *Leader
	teams  []string
}

const hallContest = `name = "Hall"
local = true
[[rounds]]
id = "day"
problem = "p"
start = 2027-02-06T10:00:00Z
hours = 8
[rounds.queue.budget]
agent = "1 runs"
[problem.p]
command = ["true"]
load = "10s"
timeout = "60s"
shadow.pages = ["/about"]
shadow.agent = "bench"
`

func newHall(t *testing.T, teams int) *hall {
	t.Helper()
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "h.db"), store.Options{Unsafe: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return newHallOn(t, teams, s)
}

// newHallOn is a hall on an open database.
func newHallOn(t *testing.T, teams int, s *store.Store) *hall {
	t.Helper()
	h := &hall{t: t, at: time.Date(2027, 2, 6, 11, 0, 0, 0, time.UTC)}
	now := func() time.Time { return h.at }
	h.Core = New(Options{Store: s, Carry: carry.NewMemory(now), Secret: []byte("x"), Now: now})
	if _, err := h.AddContest(t.Context(), []byte(hallContest), "hall.toml"); err != nil {
		t.Fatal(err)
	}
	for i := range teams {
		made, err := h.NewTeam(t.Context(), NewTeam{Contest: "hall", Name: fmt.Sprint("team ", i)}, fmt.Sprintf("http://127.0.0.1:%d", 1000+i))
		if err != nil {
			t.Fatal(err)
		}
		h.teams = append(h.teams, made.Team)
	}
	h.boot("w1", "1")
	h.leader = h.elect()
	return h
}

func (h *hall) check(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *hall) elect() *Leader {
	h.t.Helper()
	l, err := h.Elect(h.t.Context(), slog.New(slog.DiscardHandler))
	h.check(err)
	return l
}

func (h *hall) boot(worker, boot string) {
	h.t.Helper()
	h.check(h.Register(h.t.Context(), api.Register{Worker: worker, Name: worker, Kinds: []string{"command"}, Slots: 1, Boot: boot}))
}

func (h *hall) enqueue(team int) string {
	h.t.Helper()
	j, err := h.Enqueue(h.t.Context(), "u", false, api.Enqueue{Round: "hall_day", Team: h.teams[team]})
	h.check(err)
	return j.ID
}

// take lets a worker claim and confirm the next job.
func (h *hall) take(worker string) api.Claimed {
	h.t.Helper()
	h.check(h.Waits(h.t.Context(), worker, []string{"command"}, 1))
	h.check(h.leader.Tick(h.t.Context(), true))
	m, err := h.carry.Take(h.t.Context(), carry.Tasks, TaskSubject("command"), 0)
	h.check(err)
	if m == nil {
		h.t.Fatal("there is no offer")
	}
	a, err := h.Claim(h.t.Context(), m.Data, worker)
	h.check(err)
	h.check(m.Ack(h.t.Context()))
	h.check(h.Waits(h.t.Context(), worker, []string{"command"}, 0))
	c := api.Claimed{Worker: worker, Job: a.Job, Epoch: a.Epoch, Handle: a.Handle}
	if got := h.beat(c); got != api.Continue {
		h.t.Fatalf("the first heartbeat was answered %s", got)
	}
	return c
}

func (h *hall) beat(c api.Claimed) string {
	h.t.Helper()
	answer, err := h.Beat(h.t.Context(), api.Beat{Claimed: c})
	h.check(err)
	return answer.Do
}

func (h *hall) finish(c api.Claimed, r api.Report) string {
	h.t.Helper()
	answer, err := h.Finish(h.t.Context(), api.Finish{Claimed: c, Report: r})
	h.check(err)
	return answer.Became
}

func (h *hall) job(id string) *api.Job {
	h.t.Helper()
	j, err := h.Job(h.t.Context(), id)
	h.check(err)
	return j
}

var passed = api.Report{Outcome: iikanji.Passed, Score: 100}

// TestFencing: only the current attempt brings a result; the same result twice is one.
func TestFencing(t *testing.T) {
	h := newHall(t, 1)
	id := h.enqueue(0)
	first := h.take("w1")
	h.at = h.at.Add(25 * time.Second) // the lease is over, and the new leader's grace
	h.check(h.leader.Tick(t.Context(), true))
	if j := h.job(id); j.State != api.Queued || j.Text == "" {
		t.Fatalf("after a lost lease the job is %s: %s", j.State, j.Text)
	}
	h.boot("w2", "1")
	second := h.take("w2")
	forged := second
	forged.Handle = "guess"
	for _, c := range []struct {
		what string
		by   api.Claimed
		r    api.Report
		want string
	}{
		{"an old attempt", first, passed, api.Superseded}, {"a stolen job", forged, passed, api.Superseded}, {"the current one", second, passed, api.Accepted},
		{"the same again", second, passed, api.Same}, {"another result", second, api.Report{Outcome: iikanji.Passed, Score: 900}, api.Conflict},
		{"an unknown job", api.Claimed{Job: "none"}, passed, api.Unknown},
	} {
		if got := h.finish(c.by, c.r); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
	if got := h.beat(first); got != api.Gone {
		t.Errorf("a heartbeat of the old attempt was answered %s", got)
	}
	if j := h.job(id); j.State != api.Done || j.Result.Score != 100 || j.Attempt != 2 {
		t.Errorf("the job is %+v", j)
	}
}

// TestLeases: a heartbeat renews a lease, also one that the carrier lost.
func TestLeases(t *testing.T) {
	h := newHall(t, 1)
	id := h.enqueue(0)
	c := h.take("w1")
	for range 5 {
		h.at = h.at.Add(15 * time.Second / 2)
		h.check(h.carry.Empty(t.Context()))
		if got := h.beat(c); got != api.Continue {
			t.Fatalf("a heartbeat was answered %s", got)
		}
		h.check(h.leader.Tick(t.Context(), true))
	}
	if j := h.job(id); j.State != api.Running {
		t.Errorf("the job is %s", j.State)
	}
	h.at = h.at.Add(2 * time.Minute) // alive, but over its time-out
	h.beat(c)
	h.check(h.leader.Tick(t.Context(), true))
	if j := h.job(id); j.State == api.Running {
		t.Error("a job over its time-out runs on")
	}
}

// TestPausedLeader: a leader that was replaced writes nothing.
func TestPausedLeader(t *testing.T) {
	h := newHall(t, 1)
	old := h.leader
	h.leader = h.elect()
	id := h.enqueue(0)
	h.check(h.Waits(t.Context(), "w1", []string{"command"}, 1))
	if _, err := old.Dispatch(t.Context()); !errors.Is(err, errNotLeader) {
		t.Errorf("the old leader dispatched: %v", err)
	}
	if j := h.job(id); j.State != api.Queued {
		t.Errorf("the old leader made the job %s", j.State)
	}
}

// TestPoison: a job that cannot be run ends as broken after three attempts and stops no other
// job; a worker that fails jobs of three teams takes no more.
func TestPoison(t *testing.T) {
	h := newHall(t, 4)
	id := h.enqueue(0)
	for i := range 3 {
		worker := fmt.Sprint("x", i)
		h.boot(worker, "1")
		h.finish(h.take(worker), api.Report{Error: "no such file"})
	}
	if j := h.job(id); j.State != api.Broken {
		t.Errorf("the job is %s: %s", j.State, j.Text)
	}
	if again := h.enqueue(0); again == id {
		t.Error("the team cannot enqueue again")
	}
	for team := 1; team < 4; team++ {
		h.enqueue(team)
	}
	for range 8 {
		if err := h.Waits(t.Context(), "w1", []string{"command"}, 1); errors.Is(err, api.ErrForbidden) {
			return
		}
		h.finish(h.take("w1"), api.Report{Error: "broken machine"})
	}
	t.Error("the worker is not quarantined")
}

// TestCancel: a waiting job ends at once and is not charged; a running one ends when its worker
// confirms.
func TestCancel(t *testing.T) {
	h := newHall(t, 2)
	id := h.enqueue(0)
	if _, err := h.Cancel(t.Context(), "u", false, h.teams[1], id, ""); !errors.Is(err, api.ErrNotFound) {
		t.Errorf("another team cancelled it: %v", err)
	}
	if j, err := h.Cancel(t.Context(), "u", false, h.teams[0], id, "no"); err != nil || j.State != api.Cancelled {
		t.Errorf("%+v, %v", j, err)
	}
	id = h.enqueue(0)
	c := h.take("w1")
	if j, err := h.Cancel(t.Context(), "u", false, h.teams[0], id, "no"); err != nil || j.State != api.Running {
		t.Errorf("%+v, %v", j, err)
	}
	if got := h.beat(c); got != api.Stop {
		t.Errorf("the worker was told %s", got)
	}
	h.finish(c, api.Report{Outcome: iikanji.Interrupted})
	if j := h.job(id); j.State != api.Cancelled || j.Result != nil {
		t.Errorf("%+v", j)
	}
}

// TestVoid: a void run is repeated twice and not charged; the third one is the result.
func TestVoid(t *testing.T) {
	h := newHall(t, 1)
	id := h.enqueue(0)
	for i := range 3 {
		if j := h.job(id); !j.State.Open() {
			t.Fatalf("after %d void runs the job is %s", i, j.State)
		}
		h.finish(h.take("w1"), api.Report{Outcome: iikanji.Void, Reasons: []string{"the generator was the limit"}})
	}
	if j := h.job(id); j.State != api.Done || j.Result.Outcome != iikanji.Void {
		t.Errorf("%+v", j)
	}
}

// TestClockActs: a pause stops the queue, an act without a reason is refused, and the round ends by
// time.
func TestClockActs(t *testing.T) {
	h := newHall(t, 1)
	act := func(kind contest.ActKind, reason string) error {
		return h.Act(t.Context(), "s", "hall_day", contest.Act{Kind: kind, Reason: reason})
	}
	if act(contest.Pause, "") == nil {
		t.Error("an act without a reason was accepted")
	}
	h.check(act(contest.Pause, "fire alarm"))
	h.enqueue(0)
	h.check(h.Waits(t.Context(), "w1", []string{"command"}, 1))
	if n, err := h.leader.Dispatch(t.Context()); err != nil || n != 0 {
		t.Errorf("%d jobs started in a pause: %v", n, err)
	}
	h.at = h.at.Add(time.Minute)
	h.check(act(contest.Resume, "all clear"))
	h.take("w1")
	h.at = h.at.Add(9 * time.Hour)
	h.check(h.leader.Timers(t.Context()))
	r, err := h.Round(t.Context(), "hall_day")
	if err != nil || r.State != contest.Ended {
		t.Errorf("the round is %+v, %v", r.State, err)
	}
	if _, err := h.Enqueue(t.Context(), "u", false, api.Enqueue{Round: "hall_day", Team: h.teams[0]}); err == nil {
		t.Error("a job after the end")
	}
}

// TestNames: names are unique after NFKC and case folding, and have no characters that hide.
func TestNames(t *testing.T) {
	h := newHall(t, 0)
	add := func(name string) error {
		_, err := h.AddTeam(t.Context(), NewTeam{Contest: "hall", Name: name})
		return err
	}
	h.check(add("ＡＢＣ ｶﾅ"))
	for _, name := range []string{"abc カナ", "ABC カナ", "", "   ", "123456789012345678901234567890123"} {
		if add(name) == nil {
			t.Errorf("%q was accepted", name)
		}
	}
}

// TestTargets: load goes to the contest's networks only.
func TestTargets(t *testing.T) {
	c := &contest.Contest{Targets: contest.Targets{Allow: []string{"10.20.0.0/16", "127.0.0.0/8"}, Ports: []int{80, 443}}}
	for address, want := range map[string]bool{
		"http://10.20.0.3": true, "https://10.20.0.3:443": true, "http://10.20.0.3:8080": false, "http://10.21.0.3": false, "http://127.0.0.1": false, "http://169.254.169.254": false,
		"http://[::ffff:127.0.0.1]": false, "http://example.com": false, "ftp://10.20.0.3": false, "http://u:p@10.20.0.3": false, "http://10.20.0.3/path": false, "http://224.0.0.1": false,
	} {
		if err := allowed(c, address); (err == nil) != want {
			t.Errorf("%s: %v", address, err)
		}
	}
	if err := allowed(&contest.Contest{Local: true}, "http://127.0.0.1:8080"); err != nil {
		t.Error(err)
	}
}
