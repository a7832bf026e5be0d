package xsuportal

import (
	"bytes"
	"context"
	"net/http"
	"sync"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/iikanji/iikanji/arenas/xsuportal/pb/resources"
	"github.com/iikanji/iikanji/arenas/xsuportal/pb/services/audience"
	"github.com/iikanji/iikanji/arenas/xsuportal/pb/services/contestant"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

type (
	boardItem  = resources.Leaderboard_LeaderboardItem
	boardScore = resources.Leaderboard_LeaderboardItem_LeaderboardScore
)

// How old a board may be under load. The rules promise a contestant's board at once and the
// audience's within a second; the checks allow more, for answers that take long.
const (
	contestantStale = 2 * time.Second
	audienceStale   = 3 * time.Second
)

// An eye is who looks at a board.
type eye struct {
	step  scenario.Step
	team  *team // nil for the audience
	stale time.Duration
}

// board checks the leaderboard as a member's team sees it.
func (m *member) board(ctx context.Context) error {
	ct := m.agent.ct
	out := new(contestant.DashboardResponse)
	known := ct.known(eye{stepDashboard, m.team, contestantStale})
	if err := m.agent.call(ctx, stepDashboard, http.MethodGet, "/api/contestant/dashboard", nil, out); err != nil {
		return err
	}
	return known.check(out.GetLeaderboard())
}

// watchLoop is what a viewer of the audience does: opens the page, then looks at the board
// once a second. A viewer who meets an error leaves.
func (ct *contest) watchLoop(ctx context.Context) {
	a := ct.browser()
	defer a.close()
	_, err := a.page(ctx, "/", audienceShell)
	for err == nil && ctx.Err() == nil {
		began := time.Now()
		if err = ct.watch(ctx, a); err == nil {
			ct.s.Add(watched, 1)
			scenario.Sleep(ctx, ct.span(time.Second)-time.Since(began))
		}
	}
	if ctx.Err() == nil {
		ct.s.Report(err)
		ct.locked(func() { ct.lostViewers++ })
	}
}

// A checkedBoard is a board of the audience that was right. Others get the same bytes.
type checkedBoard struct {
	mu   sync.Mutex
	body []byte
	from time.Time // when the request was sent for which the bytes were checked
}

// watch looks at the audience's board once.
func (ct *contest) watch(ctx context.Context, a *agent) error {
	known := ct.known(eye{stepAudienceDashboard, nil, audienceStale})
	r := request(stepAudienceDashboard, http.MethodGet, "/api/audience/dashboard", nil)
	return a.do(ctx, r, func(res *scenario.Response) error {
		if ct.seen.same(res, known.asked) {
			return nil
		}
		out := new(audience.DashboardResponse)
		if err := decode(res, out); err != nil {
			return err
		}
		if err := known.check(out.GetLeaderboard()); err != nil {
			return err
		}
		ct.seen.keep(res.Body, known.asked)
		return nil
	})
}

// same reports whether an answer has the bytes that were right for a request that was sent a
// moment earlier. What must be on a board hardly grows within that moment: a board that is
// too old is found at the next one.
func (b *checkedBoard) same(res *scenario.Response, asked time.Time) bool {
	const moment = 100 * time.Millisecond
	b.mu.Lock()
	defer b.mu.Unlock()
	return res.Status == http.StatusOK && asked.Sub(b.from) < moment && len(b.body) > 0 && bytes.Equal(b.body, res.Body)
}

func (b *checkedBoard) keep(body []byte, asked time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.body, b.from = append(b.body[:0], body...), asked
}

// boardOf gets the audience's board and checks it.
func (ct *contest) boardOf(ctx context.Context, a *agent, known *knownBoard) error {
	out := new(audience.DashboardResponse)
	if err := a.call(ctx, stepAudienceDashboard, http.MethodGet, "/api/audience/dashboard", nil, out); err != nil {
		return err
	}
	return known.check(out.GetLeaderboard())
}

// A knownBoard is what a board must have that was asked for at a time.
type knownBoard struct {
	eye
	ct    *contest
	asked time.Time
	least map[*team]int // results of each team that the board must have
}

// known notes what a board must have, before it is asked for.
func (ct *contest) known(e eye) *knownBoard {
	k := &knownBoard{eye: e, ct: ct, asked: time.Now(), least: map[*team]int{}}
	ct.mu.Lock()
	defer ct.mu.Unlock()
	for _, t := range ct.teams {
		n := 0
		for i, r := range t.results {
			if !r.acked.IsZero() && k.asked.Sub(r.acked) > e.stale && !k.hides(t, r, k.asked) {
				n = i + 1
			}
		}
		if n > 0 {
			k.least[t] = n
		}
	}
	return k
}

// hides reports whether a result is not to be seen at a time.
func (k *knownBoard) hides(t *team, r *result, now time.Time) bool {
	return t != k.team && k.ct.times.hidden(r.finished, now)
}

// check compares a board under load: each team with its results so far, and the order.
func (k *knownBoard) check(b *resources.Leaderboard) error {
	k.ct.mu.Lock()
	defer k.ct.mu.Unlock()
	now := time.Now()
	shown := map[int64]bool{}
	for i, item := range b.GetTeams() {
		id := item.GetTeam().GetId()
		t := k.ct.teams[id]
		if t == nil {
			if k.ct.half[item.GetTeam().GetName()] != nil {
				continue // its creation had no answer
			}
			return wrong(k.step, "board-team", "team %d (%.60q) is on the board and was never created", id, item.GetTeam().GetName())
		}
		if shown[id] {
			return wrong(k.step, "board-team", "team %d is on the board twice", id)
		}
		shown[id] = true
		if err := k.checkItem(t, item, now); err != nil {
			return err
		}
		if i > 0 && !inOrder(b.GetTeams()[i-1], item) {
			return wrong(k.step, "board-order", "team %d with %d is behind team %d with %d", id, item.GetLatestScore().GetScore(),
				b.GetTeams()[i-1].GetTeam().GetId(), b.GetTeams()[i-1].GetLatestScore().GetScore())
		}
	}
	for t := range k.least {
		if !shown[t.id] {
			return wrong(k.step, "board-missing", "team %d is not on the board", t.id)
		}
	}
	return checkSublists(k.step, b)
}

// checkItem compares one team of a board.
func (k *knownBoard) checkItem(t *team, item *boardItem, now time.Time) error {
	got := item.GetTeam()
	if got.GetName() != t.name || got.GetLeaderId() != t.leader().id {
		return wrong(k.step, "board-team", "team %d is %q of %s, want %q of %s", t.id, got.GetName(), got.GetLeaderId(), t.name, t.leader().id)
	}
	if got.GetStudent() == nil || t.complete && got.GetStudent().GetStatus() != t.student {
		return wrong(k.step, "board-student", "the student flag of team %d is %v, want %v", t.id, got.GetStudent(), t.student)
	}
	scores := item.GetScores()
	if len(scores) > len(t.results) {
		return wrong(k.step, "board-scores", "team %d has %d scores, %d were reported", t.id, len(scores), len(t.results))
	}
	for i, s := range scores {
		if err := t.results[i].checkScore(k.step, t, s); err != nil {
			return err
		}
		if k.hides(t, t.results[i], now) {
			return wrong(k.step, "board-frozen", "the board shows a score of team %d that was marked at %v, behind the freeze at %v", t.id,
				s.GetMarkedAt().AsTime(), k.ct.times.freeze.UTC())
		}
	}
	if len(scores) < k.least[t] {
		return wrong(k.step, "board-stale", "the board has %d scores of team %d; %d were stored more than %v before it was asked for", len(scores),
			t.id, k.least[t], k.stale)
	}
	return checkSums(k.step, t, item)
}

// checkScore compares a score with what was reported.
func (r *result) checkScore(step scenario.Step, t *team, s *boardScore) error {
	if s.GetScore() != r.score() {
		return wrong(step, "board-scores", "a score of team %d is %d, want %d", t.id, s.GetScore(), r.score())
	}
	if !s.GetMarkedAt().AsTime().Equal(r.finished) || !s.GetStartedAt().AsTime().Equal(r.started) {
		return wrong(step, "board-times", "a score of team %d: started %v, marked %v; want %v and %v", t.id, s.GetStartedAt().AsTime(),
			s.GetMarkedAt().AsTime(), r.started.UTC(), r.finished.UTC())
	}
	return nil
}

// checkSums compares best, latest and count with the scores beside them.
func checkSums(step scenario.Step, t *team, item *boardItem) error {
	var best, latest *boardScore
	for _, s := range item.GetScores() {
		if best == nil || s.GetScore() >= best.GetScore() {
			best = s
		}
		latest = s
	}
	if !sameScore(item.GetLatestScore(), latest) {
		return wrong(step, "board-latest", "the latest score of team %d is %v, want %v", t.id, item.GetLatestScore(), latest)
	}
	if !sameScore(item.GetBestScore(), best) {
		return wrong(step, "board-best", "the best score of team %d is %v, want %v", t.id, item.GetBestScore(), best)
	}
	if int(item.GetFinishCount()) != len(item.GetScores()) {
		return wrong(step, "board-count", "team %d has finished %d times, and has %d scores", t.id, item.GetFinishCount(), len(item.GetScores()))
	}
	return nil
}

// sameScore compares scores; a team without one has a score of 0 without times.
func sameScore(got, want *boardScore) bool {
	return got.GetScore() == want.GetScore() && sameTime(got.GetMarkedAt(), want.GetMarkedAt()) && sameTime(got.GetStartedAt(), want.GetStartedAt())
}

func sameTime(got, want *timestamppb.Timestamp) bool {
	if want == nil || got == nil {
		return want == got
	}
	return got.AsTime().Equal(want.AsTime())
}

// inOrder reports whether a team may be right behind another: by the latest score, the higher
// first; then by its time, the earlier first; teams without a score last.
func inOrder(a, b *boardItem) bool {
	x, y := a.GetLatestScore(), b.GetLatestScore()
	switch {
	case y.GetMarkedAt() == nil:
		return true
	case x.GetMarkedAt() == nil:
		return false
	case x.GetScore() != y.GetScore():
		return x.GetScore() > y.GetScore()
	}
	return !x.GetMarkedAt().AsTime().After(y.GetMarkedAt().AsTime())
}

// checkSublists checks that the lists of students and of the others have the teams of the
// whole list in its order.
func checkSublists(step scenario.Step, b *resources.Leaderboard) error {
	students, others := 0, 0
	for _, item := range b.GetTeams() {
		list, at := b.GetGeneralTeams(), &others
		if item.GetTeam().GetStudent().GetStatus() {
			list, at = b.GetStudentTeams(), &students
		}
		if *at >= len(list) || list[*at].GetTeam().GetId() != item.GetTeam().GetId() || !sameScore(list[*at].GetLatestScore(), item.GetLatestScore()) {
			return wrong(step, "board-lists", "team %d is not where it belongs in the list of students or of the others", item.GetTeam().GetId())
		}
		*at++
	}
	if students != len(b.GetStudentTeams()) || others != len(b.GetGeneralTeams()) {
		return wrong(step, "board-lists", "the lists of students and of the others have %d and %d teams, want %d and %d", len(b.GetStudentTeams()),
			len(b.GetGeneralTeams()), students, others)
	}
	return nil
}
