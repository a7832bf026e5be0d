package node_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/board"
	"github.com/iikanji/iikanji/internal/portal/carry"
	"github.com/iikanji/iikanji/internal/portal/contest"
	"github.com/iikanji/iikanji/internal/portal/lead"
	"github.com/iikanji/iikanji/internal/portal/store"
)

// crashRole is the first argument of a process that plays a short contest and kills itself at a
// point: FOLDER POINT START, where START counts the processes of the folder.
const crashRole = "portal-crash"

// A play is the short contest. Each step may be repeated: a restarted process plays all of them
// again from the beginning, as clients do that got no answer.
type play struct {
	ctx   context.Context
	core  *lead.Core
	carry carry.Carrier
	now   time.Time
	state map[string]string // what clients know: ids that they were answered
	file  string
}

const crashContest = `name = "Crash"
local = true
[[rounds]]
id = "day"
problem = "p"
start = 2027-02-06T10:00:00Z
hours = 8
[problem.p]
command = ["true"]
load = "10s"
`

// remember keeps what a client was answered, also over a crash.
func (p *play) remember(key, value string) error {
	p.state[key] = value
	text, err := json.Marshal(p.state)
	if err == nil {
		err = os.WriteFile(p.file+".tmp", text, 0o600)
	}
	if err == nil {
		err = os.Rename(p.file+".tmp", p.file)
	}
	return err
}

// refusal reports whether an error is a refusal with a code.
func refusal(err error, code string) bool {
	var r *api.RefusedError
	return errors.As(err, &r) && r.Code == code
}

func (p *play) setUp() error {
	if _, err := p.core.AddContest(p.ctx, []byte(crashContest), "crash.toml"); err != nil && !refusal(err, "exists") {
		return err
	}
	if p.state["team"] == "" {
		id, err := p.core.AddTeam(p.ctx, lead.NewTeam{Contest: "crash", Name: "team"})
		if refusal(err, "name") { // it was made, and the answer was lost
			var h lead.History
			if _, err := p.core.Follow(p.ctx, crashRound, &h); err != nil {
				return err
			}
			id = h.Data.Teams[0].ID
		} else if err != nil {
			return err
		}
		if err := p.remember("team", id); err != nil {
			return err
		}
	}
	if err := p.core.OnlyHost(p.ctx, "crash", p.state["team"], "h", "http://127.0.0.1:1"); err != nil {
		return err
	}
	return p.core.Register(p.ctx, api.Register{Worker: "w1", Name: "w1", Kinds: []string{"command"}, Slots: 1, Boot: "1"})
}

const crashRound = "crash_day"

// enqueue asks for job n with a key, as a client that repeats its request.
func (p *play) enqueue(n string) (string, error) {
	j, err := p.core.Enqueue(p.ctx, "u", false, api.Enqueue{Round: crashRound, Team: p.state["team"], Note: n, Key: "key" + n})
	if err != nil {
		return "", err
	}
	return j.ID, p.remember("job"+n, j.ID)
}

// leadUntil lets a leader work until a condition holds. The clock goes on, so that offers are sent
// again.
func (p *play) leadUntil(done func(*lead.Leader) (bool, error)) error {
	l, err := p.core.Elect(p.ctx, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	for range 200 {
		p.now = p.now.Add(3 * time.Second)
		if err := p.core.Waits(p.ctx, "w1", []string{"command"}, 1); err != nil {
			return err
		}
		if err := l.Tick(p.ctx, true); err != nil {
			return err
		}
		if ok, err := done(l); err != nil || ok {
			return err
		}
	}
	return errors.New("the leader does not come to an end")
}

// run lets the worker make a job's attempt: claim, confirm, finish. A worker that had a job before
// the crash of the portal goes on with it.
func (p *play) run(n string, score float64) error {
	id := p.state["job"+n]
	job, err := p.core.Job(p.ctx, id)
	if err != nil || !job.State.Open() {
		return err
	}
	var a api.Assignment
	if kept := p.state["claimed"+n]; kept != "" {
		if err := json.Unmarshal([]byte(kept), &a); err != nil {
			return err
		}
		answer, err := p.core.Beat(p.ctx, api.Beat{Claimed: api.Claimed{Worker: "w1", Job: a.Job, Epoch: a.Epoch, Handle: a.Handle}})
		if err != nil {
			return err
		}
		if answer.Do == api.Gone {
			a = api.Assignment{}
		}
	}
	if a.Job == "" {
		err := p.leadUntil(func(*lead.Leader) (bool, error) {
			t, err := p.carry.Take(p.ctx, carry.Tasks, lead.TaskSubject("command"), 0)
			if err != nil || t == nil {
				return false, err
			}
			got, err := p.core.Claim(p.ctx, t.Data, "w1")
			if err != nil {
				return false, err
			}
			if err := t.Ack(p.ctx); err != nil || got == nil {
				return false, err
			}
			a = *got
			return true, nil
		})
		if err != nil {
			return err
		}
		text, err := json.Marshal(a)
		if err != nil {
			return err
		}
		if err := p.remember("claimed"+n, string(text)); err != nil {
			return err
		}
	}
	claimed := api.Claimed{Worker: "w1", Job: a.Job, Epoch: a.Epoch, Handle: a.Handle}
	if answer, err := p.core.Beat(p.ctx, api.Beat{Claimed: claimed}); err != nil || answer.Do == api.Gone {
		return errors.Join(err, fmt.Errorf("the attempt is %s", answer.Do))
	}
	_, err = p.core.Finish(p.ctx, api.Finish{Claimed: claimed, Report: api.Report{Outcome: iikanji.Passed, Score: score}})
	return err
}

// all is the whole contest.
func (p *play) all() error {
	if err := p.setUp(); err != nil {
		return err
	}
	who := api.Who{Account: "u", Name: "u", Role: api.Leader, Team: p.state["team"]}
	staff := api.Who{Account: "s", Name: "s", Role: api.Organiser}
	steps := []func() error{
		func() error { _, err := p.enqueue("1"); return err },
		func() error { return p.run("1", 100) },
		func() error {
			_, err := p.core.Say(p.ctx, who, api.Say{Round: crashRound, Kind: "question", Text: "q?", Key: "q"})
			return err
		},
		func() error {
			_, err := p.core.Say(p.ctx, staff, api.Say{Round: crashRound, Kind: "announcement", Text: "a", Key: "a"})
			return err
		},
		func() error { _, err := p.enqueue("2"); return err },
		func() error {
			_, err := p.core.Cancel(p.ctx, "u", false, p.state["team"], p.state["job2"], "not now")
			return err
		},
		func() error { _, err := p.enqueue("3"); return err },
		func() error { return p.run("3", 300) },
		func() error {
			err := p.core.Act(p.ctx, "s", crashRound, contest.Act{Kind: contest.Pause, Reason: "fire alarm"})
			if refusal(err, "clock") {
				return nil // it was paused, and the answer was lost
			}
			return err
		},
		func() error { return p.leadUntil(func(*lead.Leader) (bool, error) { return true, nil }) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// crashProcess is such a process. It prints the end state.
func crashProcess(args []string) error {
	folder, point := args[0], args[1]
	start := 0
	if _, err := fmt.Sscan(args[2], &start); err != nil {
		return err
	}
	hits := map[string]int{}
	die := func(name string) {
		hits[name]++
		if list := os.Getenv("PORTAL_POINTS"); list != "" {
			f, err := os.OpenFile(list, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err == nil {
				fmt.Fprintln(f, name)
				f.Close()
			}
		}
		if fmt.Sprintf("%s#%d", name, hits[name]) == point && start == 0 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	ctx := context.Background()
	s, err := store.Open(ctx, filepath.Join(folder, "p.db"), store.Options{Point: die})
	if err != nil {
		return err
	}
	p := &play{ctx: ctx, file: filepath.Join(folder, "client.json"), state: map[string]string{},
		now: time.Date(2027, 2, 6, 11, 0, 0, 0, time.UTC).Add(time.Duration(start) * time.Hour)}
	p.carry = carry.NewMemory(func() time.Time { return p.now })
	p.core = lead.New(lead.Options{Store: s, Carry: p.carry, Secret: []byte("x"), Now: func() time.Time { return p.now }, Point: die})
	if text, err := os.ReadFile(p.file); err == nil {
		if err := json.Unmarshal(text, &p.state); err != nil {
			return err
		}
	}
	if err := p.all(); err != nil {
		return err
	}
	return p.print()
}

// print writes what has to be the same with and without a crash.
func (p *play) print() error {
	var h lead.History
	events, err := p.core.Follow(p.ctx, crashRound, &h)
	if err != nil {
		return err
	}
	counts := map[string]int{}
	for _, e := range events {
		if e.Kind == lead.KindResult || e.Kind == lead.KindMessage || e.Kind == lead.KindClock {
			counts[e.Kind]++
		}
	}
	fmt.Println("events", counts)
	jobs, err := p.core.Jobs(p.ctx, crashRound, "")
	if err != nil {
		return err
	}
	for _, j := range jobs {
		score := 0.0
		if j.Result != nil {
			score = j.Result.Score
		}
		fmt.Println("job", j.Number, j.State, j.Note, score)
	}
	messages, err := p.core.Messages(p.ctx, crashRound)
	if err != nil {
		return err
	}
	var lines []string // two messages of one instant have no order
	for _, m := range messages {
		lines = append(lines, fmt.Sprintln("message", m.Kind, m.Text))
	}
	slices.Sort(lines)
	fmt.Print(strings.Join(lines, ""))
	row := h.View(board.Reader{Role: board.Staff}, p.now).Rows[0]
	fmt.Println("board", row.Rank, row.Standing, row.Best, row.Runs)
	r, err := p.core.Round(p.ctx, crashRound)
	if err != nil {
		return err
	}
	fmt.Println("round", r.State, r.Clock.Paused(p.now))
	return nil
}

// crashed runs processes on a folder until one ends by itself; the first one kills itself at
// the point. It returns the end state, and whether one was killed.
func crashed(t *testing.T, point string, env ...string) (end string, killed bool) {
	t.Helper()
	folder := t.TempDir()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for start := range 3 {
		cmd := exec.Command(program, crashRole, folder, point, fmt.Sprint(start))
		cmd.Env = append(os.Environ(), env...)
		var errs strings.Builder
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err == nil {
			return string(out), killed
		}
		status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
		if !ok || !status.Signaled() || status.Signal() != syscall.SIGKILL {
			t.Fatalf("%s, start %d: %v\n%s%s", point, start, err, out, errs.String())
		}
		killed = true
	}
	t.Fatalf("%s: killed three times", point)
	return "", true
}

// TestCrashPoints: a portal that dies before or after any commit or publication, and starts
// again, comes to the same end state as one that does not die; each message is there once.
func TestCrashPoints(t *testing.T) {
	tier.Slow(t)
	list := filepath.Join(t.TempDir(), "points")
	want, killed := crashed(t, "none", "PORTAL_POINTS="+list)
	if killed || !strings.Contains(want, "board 1 300 300 2") || strings.Count(want, "message ") != 2 {
		t.Fatalf("without a crash: %s", want)
	}
	text, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	points, hits := map[string]bool{}, map[string]int{}
	for p := range strings.FieldsSeq(string(text)) {
		if hits[p]++; hits[p] <= 2 { // the first and the second time
			points[fmt.Sprintf("%s#%d", p, hits[p])] = true
		}
	}
	if len(points) < 40 {
		t.Errorf("%d points: the test would prove little: %v", len(points), points)
	}
	for point := range points {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			got, killed := crashed(t, point)
			if !killed {
				t.Error("it was not killed")
			}
			if got != want {
				t.Errorf("the end state differs:\n%s\nwant\n%s", got, want)
			}
		})
	}
	t.Logf("%d points", len(points))
}
