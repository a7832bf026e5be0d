package lead

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/board"
	"github.com/iikanji/iikanji/internal/portal/carry"
	"github.com/iikanji/iikanji/internal/portal/contest"
	"github.com/iikanji/iikanji/internal/portal/queue"
)

// scores makes one run for each team with a score.
func (h *hall) scores(all ...float64) {
	h.t.Helper()
	for team, score := range all {
		h.enqueue(team)
		h.finish(h.take("w1"), api.Report{Outcome: iikanji.Passed, Score: score})
	}
}

// ranks are the standings of the staff's board, by its order.
func (h *hall) ranks() string {
	h.t.Helper()
	var history History
	_, err := h.Follow(h.t.Context(), "hall_day", &history)
	h.check(err)
	var out []string
	for _, row := range history.View(board.Reader{Role: board.Staff}, h.at).Rows {
		out = append(out, fmt.Sprintf("%s %d %.0f%s", row.Name, row.Rank, row.Standing, row.Gone))
	}
	return strings.Join(out, ", ")
}

// TestRejudge: a rejudge is shown first, changes what results count, and leaves the results.
func TestRejudge(t *testing.T) { rejudgeOn(t, newHall) }

func rejudgeOn(t *testing.T, makeHall maker) {
	t.Helper()
	h := makeHall(t, 3)
	h.scores(100, 300, 200)
	r := api.Rejudge{Worker: "w1", As: iikanji.Passed, Factor: 2, Jobs: []string{}}
	if _, err := h.Rejudge(t.Context(), "s", "hall_day", r); code(err) != "reason" {
		t.Errorf("without a reason: %v", err)
	}
	r.Reason = "a wrong weight"
	jobs, err := h.Jobs(t.Context(), "hall_day", h.teams[0])
	h.check(err)
	r.Jobs, r.Factor = []string{jobs[0].ID}, 2.5
	preview, err := h.Rejudge(t.Context(), "s", "hall_day", r)
	h.check(err)
	if got := fmt.Sprint(preview.Applied, len(preview.Jobs), preview.Moves); !strings.HasPrefix(got, "false 1 [{"+h.teams[0]+" 3 2 100 250}") {
		t.Errorf("the preview: %s", got)
	}
	if got := h.ranks(); got != "team 1 1 300, team 2 2 200, team 0 3 100" {
		t.Errorf("after the preview: %s", got)
	}
	r.Apply = true
	done, err := h.Rejudge(t.Context(), "s", "hall_day", r)
	h.check(err)
	if fmt.Sprint(done.Moves) != fmt.Sprint(preview.Moves) || !done.Applied {
		t.Errorf("%+v, the preview was %+v", done, preview)
	}
	if got := h.ranks(); got != "team 1 1 300, team 0 2 250, team 2 3 200" {
		t.Errorf("after the rejudge: %s", got)
	}
	if j := h.job(jobs[0].ID); j.Result.Score != 100 {
		t.Errorf("the result became %v", j.Result.Score)
	}
	void := api.Rejudge{As: iikanji.Void, From: h.at.Add(-time.Hour), To: h.at.Add(time.Hour), Worker: "another", Reason: "r", Apply: true}
	if none, err := h.Rejudge(t.Context(), "s", "hall_day", void); err != nil || none.Applied || len(none.Jobs) != 0 {
		t.Errorf("of another worker: %+v, %v", none, err)
	}
}

// TestDisqualify: two members of staff disqualify a team, which is told at once; it can be lifted.
func TestDisqualify(t *testing.T) { disqualifyOn(t, newHall) }

func disqualifyOn(t *testing.T, makeHall maker) {
	t.Helper()
	h := makeHall(t, 2)
	h.scores(100, 300)
	act := func(who string, d api.Disqualify) (*api.Disqualified, error) {
		return h.Disqualify(t.Context(), who, "hall_day", d)
	}
	if _, err := act("s1", api.Disqualify{Act: "propose", Team: h.teams[1], Rule: "5.2", Public: "p", Appeal: time.Hour}); err == nil {
		t.Error("without evidence")
	}
	d, err := act("s1", api.Disqualify{Act: "propose", Team: h.teams[1], Rule: "5.2", Public: "load from other machines", Evidence: "log", Appeal: time.Hour})
	h.check(err)
	if d.InForce || h.ranks() != "team 1 1 300, team 0 2 100" {
		t.Errorf("proposed: %+v, %s", d, h.ranks())
	}
	if _, err := act("s1", api.Disqualify{Act: "confirm", ID: d.ID}); err == nil {
		t.Error("one person confirmed the own proposal")
	}
	if d, err = act("s2", api.Disqualify{Act: "confirm", ID: d.ID}); err != nil || !d.InForce {
		t.Errorf("%+v, %v", d, err)
	}
	if got := h.ranks(); got != "team 0 1 100, team 1 0 300disqualified" {
		t.Error(got)
	}
	messages, err := h.Messages(t.Context(), "hall_day")
	h.check(err)
	told := messages[len(messages)-1]
	if _, other := told.For(api.Who{Account: "x", Role: api.Leader, Team: h.teams[0]}, h.at); other || told.Team != h.teams[1] || !strings.Contains(told.Text, "load from other machines") || strings.Contains(told.Text, "log") && !strings.Contains(told.Text, "load") {
		t.Errorf("told %+v", told)
	}
	if d, err = act("s1", api.Disqualify{Act: "lift", ID: d.ID, Why: "an error of staff"}); err != nil || d.InForce {
		t.Errorf("%+v, %v", d, err)
	}
	if got := h.ranks(); got != "team 1 1 300, team 0 2 100" {
		t.Error(got)
	}
	if _, err := act("s1", api.Disqualify{Act: "confirm", ID: "none"}); err == nil {
		t.Error("an unknown id")
	}
}

// judgedHall is a hall whose round is judged by two runs, with three workers.
func judgedHall(t *testing.T, makeHall maker) *hall {
	t.Helper()
	h := makeHall(t, 0)
	text := strings.Replace(hallContest, "[problem.p]", "[rounds.final]\nruns = 2\npass = 1\n[problem.p]", 1)
	_, err := h.AddContest(t.Context(), []byte(text), "judged.toml")
	h.check(err)
	for i := range 3 {
		made, err := h.NewTeam(t.Context(), NewTeam{Contest: "judged", Name: fmt.Sprint("team ", i)}, fmt.Sprintf("http://127.0.0.1:%d", 1000+i))
		h.check(err)
		h.teams = append(h.teams, made.Team)
	}
	h.boot("w2", "1")
	h.boot("w3", "1")
	for i, team := range h.teams {
		_, err := h.Enqueue(t.Context(), "u", false, api.Enqueue{Round: "judged_day", Team: team})
		h.check(err)
		h.finish(h.take("w1"), api.Report{Outcome: iikanji.Passed, Score: float64(100 * (i + 1))})
	}
	h.at = h.at.Add(8 * time.Hour)
	h.check(h.leader.Tick(t.Context(), true))
	return h
}

// TestPlan: a plan chooses by rank, is kept only when it is applied, and is not changed after the
// first run; a run is offered to the plan's worker, and to any other one if that is gone.
func TestPlan(t *testing.T) { planOn(t, newHall) }

func planOn(t *testing.T, makeHall maker) {
	t.Helper()
	h := judgedHall(t, makeHall)
	ctx := t.Context()
	f, err := h.PlanFinal(ctx, "s", "judged_day", api.PlanFinal{Top: 2})
	h.check(err)
	if len(f.Teams) != 2 || f.Teams[0].Team != h.teams[2] || len(f.Plan) != 4 || len(f.Workers) != 3 || f.Takes <= 0 {
		t.Errorf("%+v", f)
	}
	if kept, err := h.Final(ctx, "judged_day"); err != nil || len(kept.Teams) != 0 {
		t.Errorf("a preview was kept: %+v, %v", kept, err)
	}
	f, err = h.PlanFinal(ctx, "s", "judged_day", api.PlanFinal{Apply: true, Seed: 7})
	h.check(err)
	if _, err := h.FinalRun(ctx, "s", "judged_day", h.teams[0], 0); code(err) != "not-judging" {
		t.Errorf("a run before the judging: %v", err)
	}
	h.check(h.Move(ctx, "s", "judged_day", contest.Judging))
	first := f.Plan[0]
	j, err := h.FinalRun(ctx, "s", "judged_day", first.Team, 0)
	h.check(err)
	if again, err := h.FinalRun(ctx, "s", "judged_day", first.Team, 0); err != nil || again.ID != j.ID || j.Lane != queue.Final {
		t.Errorf("the same run again: %+v, %v", again, err)
	}
	if _, err := h.PlanFinal(ctx, "s", "judged_day", api.PlanFinal{Apply: true, Seed: 8}); code(err) != "begun" {
		t.Errorf("another plan: %v", err)
	}
	for _, w := range f.Workers {
		h.check(h.Waits(ctx, w, []string{"command"}, 1))
	}
	h.check(h.leader.Tick(ctx, true))
	if m, err := h.carry.Take(ctx, carry.Tasks, TaskSubject("command"), 0); err != nil || m != nil {
		t.Errorf("a planned run was offered to all: %+v, %v", m, err)
	}
	m, err := h.carry.Take(ctx, carry.Tasks, PinnedSubject(first.Worker), 0)
	h.check(err)
	if m == nil {
		t.Fatal("the planned worker has no offer")
	}
	h.check(m.Ack(ctx)) // and dies; its key expires, and the offer goes to all
	h.check(h.carry.Delete(ctx, carry.Workers, first.Worker+"."+h.process))
	h.at = h.at.Add(6 * time.Second)
	h.check(h.leader.Tick(ctx, true))
	if m, err := h.carry.Take(ctx, carry.Tasks, TaskSubject("command"), 0); err != nil || m != nil {
		t.Errorf("a planned run did not wait for its worker: %+v, %v", m, err)
	}
	h.at = h.at.Add(patience)
	for _, w := range f.Workers {
		if w != first.Worker {
			h.check(h.Waits(ctx, w, []string{"command"}, 1))
		}
	}
	h.check(h.leader.Tick(ctx, true))
	if m, err := h.carry.Take(ctx, carry.Tasks, TaskSubject("command"), 0); err != nil || m == nil {
		t.Errorf("the run waits for a worker that is gone: %v", err)
	}
}

// TestFinalSteps: a later step of a name is in force, a repetition takes it and those after it back,
// and verdicts are kept only when each team has one.
func TestFinalSteps(t *testing.T) { finalStepsOn(t, newHall) }

func finalStepsOn(t *testing.T, makeHall maker) {
	t.Helper()
	h := judgedHall(t, makeHall)
	ctx := t.Context()
	_, err := h.PlanFinal(ctx, "s", "judged_day", api.PlanFinal{Apply: true, Top: 1})
	h.check(err)
	h.check(h.Move(ctx, "s", "judged_day", contest.Judging))
	team := h.teams[2]
	step := func(name string, passed bool, evidence string) {
		t.Helper()
		h.check(h.FinalStep(ctx, "s", "judged_day", api.FinalStep{Team: team, Name: name, Passed: passed, Evidence: evidence}))
	}
	state := func() *api.FinalTeam {
		t.Helper()
		f, err := h.Final(ctx, "judged_day")
		h.check(err)
		return &f.Teams[0]
	}
	step("hands-off", true, "")
	step("check", false, "no answer")
	if v := state().Verdict; v.Open || v.Passed || v.Reason != "check: no answer" {
		t.Errorf("%+v", v)
	}
	if err := h.FinalStep(ctx, "s", "judged_day", api.FinalStep{Team: team, Name: "check", Repeat: true}); err == nil {
		t.Error("a repetition without a reason")
	}
	h.check(h.FinalStep(ctx, "s", "judged_day", api.FinalStep{Team: team, Name: "check", Repeat: true, Reason: "the switch was off"}))
	if s := state(); len(s.Steps) != 1 || !s.Verdict.Open {
		t.Errorf("%+v", s)
	}
	step("check", true, "")
	if _, err := h.Decide(ctx, "s", "judged_day"); code(err) != "open" {
		t.Errorf("verdicts without runs: %v", err)
	}
	for block, score := range []float64{500, 700} {
		_, err := h.FinalRun(ctx, "s", "judged_day", team, block)
		h.check(err)
		h.finish(h.takePinned(), api.Report{Outcome: iikanji.Passed, Score: score})
	}
	f, err := h.Decide(ctx, "s", "judged_day")
	h.check(err)
	if v := f.Teams[0]; !v.Decided || v.Verdict.Score != 600 || len(f.Moves) != 1 || f.Moves[0].Is != 600 {
		t.Errorf("%+v, %+v", v, f.Moves)
	}
	if err := h.FinalStep(ctx, "s", "judged_day", api.FinalStep{Team: h.teams[0], Name: "check"}); err == nil {
		t.Error("a step of a team that does not take part")
	}
	if err := h.Reveal(ctx, "s", "judged_day", "r"); code(err) != "state" {
		t.Errorf("a reveal before the results are provisional: %v", err)
	}
	h.check(h.Move(ctx, "s", "judged_day", contest.Provisional))
	h.check(h.Reveal(ctx, "s", "judged_day", "r"))
}

// takePinned lets the worker of the plan take and confirm its run.
func (h *hall) takePinned() api.Claimed {
	h.t.Helper()
	ctx := h.t.Context()
	for _, w := range []string{"w1", "w2", "w3"} {
		h.check(h.Waits(ctx, w, []string{"command"}, 1))
	}
	h.check(h.leader.Tick(ctx, true))
	for _, w := range []string{"w1", "w2", "w3"} {
		m, err := h.carry.Take(ctx, carry.Tasks, PinnedSubject(w), 0)
		h.check(err)
		if m == nil {
			continue
		}
		h.check(m.Ack(ctx))
		a, err := h.Claim(ctx, m.Data, w)
		h.check(err)
		c := api.Claimed{Worker: w, Job: a.Job, Epoch: a.Epoch, Handle: a.Handle}
		h.beat(c)
		return c
	}
	h.t.Fatal("no planned run is offered")
	return api.Claimed{}
}
