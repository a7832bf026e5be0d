package lead

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/board"
)

// besideContest has a prize by hand, hints, and a second round.
const besideContest = `name = "Beside"
local = true
[[rounds]]
id = "day"
problem = "p"
start = 2027-02-06T10:00:00Z
hours = 8
[[rounds.prizes]]
id = "jury"
kind = "manual"
[[rounds.prizes]]
id = "first"
kind = "first_pass"
[[rounds.hints]]
id = "index"
text = "an index"
after = "30m"
[[rounds]]
id = "before"
problem = "p"
start = 2027-02-06T09:00:00Z
hours = 1
freeze = "30m"
[problem.p]
command = ["true"]
load = "10s"
`

func (h *hall) beside() (team string) {
	h.t.Helper()
	_, err := h.AddContest(h.t.Context(), []byte(besideContest), "beside.toml")
	h.check(err)
	made, err := h.NewTeam(h.t.Context(), NewTeam{Contest: "beside", Name: "one"}, "http://127.0.0.1:1")
	h.check(err)
	return made.Team
}

func (h *hall) data(round string) *board.Data {
	h.t.Helper()
	var history History
	_, err := h.Follow(h.t.Context(), round, &history)
	h.check(err)
	return history.Data
}

// TestGhostsKept: a ghost is kept and read, and removed; points that go back, and courses that a
// freeze hides, are refused.
func TestGhostsKept(t *testing.T) { ghostsOn(t, newHall) }

func ghostsOn(t *testing.T, makeHall maker) {
	t.Helper()
	h := makeHall(t, 1)
	ctx, points := t.Context(), []board.GhostPoint{{Minute: 0, Score: 10, Label: "a\x1b[31m b"}, {Minute: 5, Score: 20}}
	id, err := h.AddGhost(ctx, "s", "hall_day", api.NewGhost{Name: "last\nyear", Source: "x", Public: true, Points: points})
	h.check(err)
	if got := h.data("hall_day").Ghosts[0]; got.ID != id || got.Name != "last year" || got.Source != "x" || !got.Public {
		t.Errorf("kept as %+v", got)
	}
	if got := h.data("hall_day").Ghosts[0].Points; len(got) != 2 || got[0].Label == points[0].Label || got[1].Score != 20 {
		t.Errorf("points %+v", got)
	}
	for name, g := range map[string]api.NewGhost{"name": {Points: points}, "points": {Name: "x", Points: []board.GhostPoint{{Minute: 2}, {Minute: 1}}}} {
		if _, err := h.AddGhost(ctx, "s", "hall_day", g); code(err) != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	h.at = h.at.Add(time.Second)
	h.scores(300)
	if _, err := h.AddGhost(ctx, "s", "hall_day", api.NewGhost{Name: "of a round", From: "hall_day", Team: h.teams[0]}); err != nil {
		t.Error(err)
	}
	if got := h.data("hall_day").Ghosts[1]; got.Source != "hall_day" || got.Public || len(got.Points) != 1 || got.Points[0].Minute < 60 || got.Points[0].Score != 300 {
		t.Errorf("of a round: %+v", got)
	}
	team := h.beside()
	if _, err := h.AddGhost(ctx, "s", "hall_day", api.NewGhost{Name: "x", From: "beside_before", Team: team}); code(err) != "frozen" {
		t.Errorf("of a frozen round: %v", err)
	}
	h.check(h.RemoveGhost(ctx, "s", "hall_day", id))
	if err := h.RemoveGhost(ctx, "s", "hall_day", id); err == nil || len(h.data("hall_day").Ghosts) != 1 {
		t.Errorf("removed twice: %v", err)
	}
}

// TestAwardsKept: an award needs a reason, a prize by hand and a team of the contest.
func TestAwardsKept(t *testing.T) { awardsOn(t, newHall) }

func awardsOn(t *testing.T, makeHall maker) {
	t.Helper()
	h := makeHall(t, 1)
	team := h.beside()
	for want, a := range map[string]api.Award{"reason": {Prize: "jury", Team: team, Reason: " "}, "prize": {Prize: "first", Team: team, Reason: "r"}, "": {Prize: "jury", Team: h.teams[0], Reason: "r"}} {
		if err := h.Award(t.Context(), "s", "beside_day", a); err == nil || code(err) != want {
			t.Errorf("%q: %v", want, err)
		}
	}
	h.check(h.Award(t.Context(), "s", "beside_day", api.Award{Prize: "jury", Team: team, Reason: "a good\nidea"}))
	h.at = h.at.Add(time.Second)
	h.check(h.Award(t.Context(), "s", "beside_day", api.Award{Prize: "jury", Reason: "a mistake"}))
	if got := h.data("beside_day").Awards; len(got) != 2 || got[0].Team != team || got[0].Reason != "a good idea" || got[1].Team != "" {
		t.Errorf("awards %+v", got)
	}
}

// TestHintUses: a hint is opened once, by whom is kept.
func TestHintUses(t *testing.T) { hintsOn(t, newHall) }

func hintsOn(t *testing.T, makeHall maker) {
	t.Helper()
	h := makeHall(t, 0)
	team := h.beside()
	account, err := h.AddAccount(t.Context(), "aoi", api.Leader, team)
	h.check(err)
	for range 2 {
		h.check(h.OpenHint(t.Context(), api.Who{Account: account, Team: team}, "beside_day", "index"))
		h.at = h.at.Add(time.Minute)
	}
	uses, err := h.HintUses(t.Context(), "beside_day", "")
	h.check(err)
	if len(uses) != 1 || uses[0].Team != team || uses[0].By != "aoi" || !uses[0].At.Equal(h.at.Add(-2*time.Minute)) {
		t.Errorf("uses %+v", uses)
	}
}

// TestMachineEvents: another boot id is kept once for each boot, other keys once; flags name what
// happened after the end, and machines that two teams share.
func TestMachineEvents(t *testing.T) { machineEventsOn(t, newHall) }

func machineEventsOn(t *testing.T, makeHall maker) {
	t.Helper()
	h := makeHall(t, 0)
	first, second := h.away()
	tokens := map[string]string{}
	for team, address := range map[string]string{first: "10.20.0.3", second: "10.20.0.4"} {
		made, err := h.register(team, "s1", "http://"+address)
		h.check(err)
		tokens[address] = made.Token
	}
	beat := func(address, boot, key string) {
		t.Helper()
		_, err := h.HostBeat(t.Context(), api.HostBeat{Token: tokens[address], Port: 8790, Boot: boot, Keys: []string{key}}, netip.MustParseAddr(address))
		h.check(err)
		h.at = h.at.Add(time.Minute)
	}
	flags := func() string {
		t.Helper()
		all, err := h.Flags(t.Context(), "away_day")
		h.check(err)
		out := ""
		for _, f := range all {
			out += fmt.Sprintf("%s%d%v ", f.Kind, len(f.Teams), f.Hosts)
		}
		return out
	}
	for _, boot := range []string{"b1", "b1", "b2", "b2"} {
		beat("10.20.0.3", boot, "ssh-ed25519 A")
	}
	beat("10.20.0.4", "b9", "ssh-ed25519 B")
	boots, err := h.Boots(t.Context(), "away")
	h.check(err)
	if len(boots[first]) != 1 || len(boots[second]) != 0 || flags() != "" {
		t.Errorf("boots %v, flags %q", boots, flags())
	}
	h.at = h.at.Add(10 * time.Hour) // after the end
	beat("10.20.0.3", "b3", "ssh-ed25519 A")
	beat("10.20.0.4", "b9", "ssh-ed25519 A")
	beat("10.20.0.4", "b9", "ssh-ed25519 A")
	if got := flags(); got != "boot1[s1] keys1[s1] " {
		t.Errorf("flags %q", got)
	}
	made, err := h.register(second, "s1", "http://10.20.0.4") // its keys are pinned anew
	h.check(err)
	tokens["10.20.0.4"] = made.Token
	beat("10.20.0.4", "b9", "ssh-ed25519 A")
	if got := flags(); got != "machine2[s1] boot1[s1] keys1[s1] " {
		t.Errorf("flags %q", got)
	}
}

// TestCleanRuns: a run that passed without a fault is clean.
func TestCleanRuns(t *testing.T) {
	h := newHall(t, 2)
	for team, r := range []api.Report{{Outcome: iikanji.Passed, Score: 5}, {Outcome: iikanji.Passed, Score: 5, Faults: []iikanji.Fault{{Step: "s"}}}} {
		h.enqueue(team)
		h.finish(h.take("w1"), r)
	}
	for _, r := range h.data("hall_day").Results {
		if r.Clean != (r.Team == h.teams[0]) {
			t.Errorf("%+v", r)
		}
	}
}

// TestAnswers: a run in which a site answered the benchmarker otherwise is a flag, once; a worker
// cannot make it longer than the problem may be.
func TestAnswers(t *testing.T) { answersOn(t, newHall) }

func answersOn(t *testing.T, makeHall maker) {
	t.Helper()
	h := makeHall(t, 2)
	h.enqueue(0)
	h.finish(h.take("w1"), api.Report{Outcome: iikanji.Passed, Score: 5, Differs: []string{"/about", "/a", "/b", "/c", "/d", "/e"}})
	h.enqueue(1)
	h.finish(h.take("w1"), api.Report{Outcome: iikanji.Passed, Score: 5, Log: `"differs":[`})
	flags, err := h.Flags(t.Context(), "hall_day")
	h.check(err)
	if len(flags) != 1 || flags[0].Kind != "answers" || flags[0].Teams[0] != h.teams[0] || len(flags[0].Pages) != 4 || flags[0].Pages[0] != "/about" {
		t.Errorf("flags %+v", flags)
	}
}
