package apitest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/board"
	"github.com/iikanji/iikanji/internal/portal/contest"
	"github.com/iikanji/iikanji/internal/portal/queue"
)

// Round is the id of the round.
const Round = "cup_final"

// Instants of the contest: 8 hours from Start, frozen for the last one.
var (
	Start  = time.Date(2027, 2, 6, 1, 0, 0, 0, time.UTC)
	Middle = Start.Add(4 * time.Hour)
	Frozen = Start.Add(7*time.Hour + 30*time.Minute)
	Ended  = Start.Add(9 * time.Hour)
)

// Callers of each role.
var (
	Spectator = api.Who{Role: api.Spectator}
	Member    = api.Who{Account: "u1", Name: "花子", Role: api.Leader, Team: "t03"}
	Judge     = api.Who{Account: "s1", Name: "judge", Role: api.Judge}
	Organiser = api.Who{Account: "s2", Name: "organiser", Role: api.Organiser}
)

// A Portal is a portal in memory. It implements api.Portal.
type Portal struct {
	mu       sync.Mutex
	now      time.Time
	contest  *contest.Contest
	data     *board.Data
	jobs     []api.Job
	messages []api.Message
	watchers map[chan api.Frame]board.Reader
}

var _ api.Portal = (*Portal)(nil)

// names are of the teams: long ones, Japanese ones, ones that look like markup.
var names = []string{"冬の雪だるま", "Team One", "いい感じにスピードアップする会", "<b>bold</b>", "夜更かし", "a", "Ωmega & co", "チーム名がとても長いので画面の幅に入らないかもしれない会",
	"半角ｶﾅ", "🚀🚀🚀", "Sleepless", "三人寄れば文殊の知恵", "guests", "robot"}

// New is a portal at an instant.
func New(now time.Time) *Portal {
	c, err := contest.Parse("cup.toml", []byte(File))
	if err != nil {
		panic("BUG: " + err.Error())
	}
	p := &Portal{now: now, contest: c, watchers: map[chan api.Frame]board.Reader{}}
	r := &c.Rounds[0]
	p.data = &board.Data{Round: r, Clock: contest.NewClock(r), Noise: 0.02}
	for i, name := range names {
		t := board.Team{ID: fmt.Sprintf("t%02d", i+1), Name: name, Division: "general"}
		switch {
		case name == "guests":
			t.Division = "guest"
		case name == "robot":
			t.Division = "agent"
		case i%3 == 0:
			t.Division = "student"
		}
		t.Ranked = c.Ranked(t.Division)
		p.data.Teams = append(p.data.Teams, t)
	}
	p.data.Teams[10].Gone, p.data.Teams[10].GoneAt = "withdrawn", Start.Add(2*time.Hour)
	p.data.Ghosts, p.data.Awards = ghosts(), []board.Award{{Prize: "jury", Team: "t04", At: Start.Add(3 * time.Hour), Reason: "a <b>bold</b> idea"}}
	p.fill()
	p.messages = []api.Message{
		{ID: "m1", Round: Round, Kind: "announcement", At: Start.Add(time.Minute), By: "organiser", Text: "競技を開始しました。\nGood luck!", Public: true},
		{ID: "m2", Round: Round, Kind: "question", At: Start.Add(40 * time.Minute), By: "花子", Team: "t03", Text: "Redis を使ってもよいですか？ <script>alert(1)</script>"},
		{ID: "m3", Round: Round, Kind: "answer", At: Start.Add(45 * time.Minute), By: "judge", Team: "t03", To: "m2", Text: "Yes, on your own hosts.", Public: true},
		{ID: "m4", Round: Round, Kind: "question", At: Start.Add(80 * time.Minute), By: "someone", Team: "t05", Text: "a private question"},
	}
	return p
}

// File is the contest's file: its registration is open until the round has ended.
const File = `name = { ja = "冬の社内大会", en = "Winter cup" }
zone = "Asia/Tokyo"
local = true
[registration]
open = 2027-01-10T10:00
close = 2027-02-07T18:00
teams = 20
reserved = 2
approval = true
terms = { ja = "仲良く。", en = "Be kind." }
[[registration.questions]]
id = "shirt"
text = { ja = "T シャツのサイズ", en = "Size of your T-shirt" }
[[divisions]]
id = "student"
rule = "all student"
title = { ja = "学生", en = "Students" }
[[rounds]]
id = "final"
title = { ja = "本選", en = "Final" }
problem = "xsuportal"
start = 2027-02-06T10:00
hours = 8
freeze = "1h"
[rounds.final]
reboot = true
runs = 3
pass = 2
[[rounds.prizes]]
id = "jump"
kind = "biggest_jump"
of = "ratio"
title = { ja = "急上昇賞", en = "Biggest jump" }
[[rounds.prizes]]
id = "student"
kind = "best_of"
of = "student"
title = { ja = "学生賞", en = "Best students" }
[[rounds.prizes]]
id = "first"
kind = "first_above"
at = 5000
title = { ja = "一番乗り", en = "First above 5,000" }
[[rounds.prizes]]
id = "clean"
kind = "longest_clean"
title = { ja = "安定賞", en = "Most reliable" }
[[rounds.prizes]]
id = "jury"
kind = "manual"
title = { ja = "審査員特別賞", en = "Jury's prize" }
[[rounds.prizes]]
id = "idea"
kind = "manual"
title = { ja = "アイデア賞", en = "Best idea" }
[[rounds.hints]]
id = "explain"
title = { ja = "遅いクエリ", en = "Slow statements" }
text = { ja = "EXPLAIN で読む行数を調べます。\n<b>bold</b>", en = "EXPLAIN shows how many rows a statement reads.\n<b>bold</b>" }
after = "30m"
[[rounds.hints]]
id = "images"
text = { ja = "画像は静的に配信できます。", en = "Images can be served as files." }
above = 2000
[[rounds.hints]]
id = "cache"
title = { ja = "キャッシュ", en = "Caches" }
text = { ja = "変わらない値はメモリに置けます。", en = "Values that do not change can stay in memory." }
after = "7h"
above = 90000
[problem.xsuportal]
arena = "xsuportal"
`

// fill makes the runs of all teams until now, the same each time.
func (p *Portal) fill() {
	state := uint64(38)
	next := func(n int) int {
		state = state*6364136223846793005 + 1442695040888963407
		return int(state>>33) % n
	}
	for i, t := range p.data.Teams {
		at, score := Start.Add(time.Duration(5+next(10))*time.Minute), 900.0+float64(next(300))
		for n := int64(1); at.Before(Start.Add(8 * time.Hour)); n++ {
			j := api.Job{ID: fmt.Sprintf("%s-%02d", t.ID, n), Round: Round, Team: t.ID, Number: n, Lane: queue.Live, Attempt: 1, By: "u1", Note: []string{"index on isu", "", "画像を静的配信にした", "revert"}[next(4)],
				Enqueued: at, Started: at.Add(30 * time.Second), Ended: at.Add(110 * time.Second), State: api.Done, Counts: true}
			score *= 1 + float64(next(30+i))/100
			result := &api.Result{Outcome: iikanji.Passed, Score: float64(int(score)), Raw: float64(int(score * 1.05)), Deducted: float64(int(score * 0.05)), Load: time.Minute,
				Points: []iikanji.PointStat{{Event: "contestant page", Count: int64(score), Points: score * 1.05}}, Growth: growth(score), Log: "load begins\nload ends\n", Digest: "d"}
			if next(8) == 0 {
				result.Outcome, result.Score, result.Reasons = iikanji.Failed, 0, []string{"critical error: the board is older than 5 s"}
				result.Faults = []iikanji.Fault{{Kind: iikanji.FaultCheck, Step: "GET /api/board", Check: "board-fresh", Message: "the board is 7.2 s old", Count: 3, Fatal: true}}
			}
			j.Result = result
			p.add(j)
			at = at.Add(time.Duration(8+next(35)) * time.Minute)
		}
	}
	slices.SortStableFunc(p.data.Results, func(a, b board.Result) int { return a.At.Compare(b.At) })
}

// growth is the points of each second of a run of a score.
func growth(score float64) []float64 {
	out := make([]float64, 60)
	for i := range out {
		out[i] = score / 60 * (0.8 + 0.4*float64(i)/60)
	}
	return out
}

// add keeps a job as it is now: those that begin later are not there.
func (p *Portal) add(j api.Job) {
	if j.Enqueued.After(p.now) {
		return
	}
	switch {
	case j.Started.After(p.now):
		j.State, j.Started, j.Ended, j.Result = api.Queued, time.Time{}, time.Time{}, nil
		j.Place, j.Starts, j.Why = 2, 20*time.Second, queue.WhyLeast
	case j.Ended.After(p.now):
		j.Progress = &api.Progress{At: p.now.Sub(j.Started), Phase: "load", Score: j.Result.Score / 2, Growth: j.Result.Growth[:30]}
		j.State, j.Ended, j.Result = api.Running, time.Time{}, nil
	default:
		p.data.Results = append(p.data.Results, board.Result{Job: j.ID, Team: j.Team, Number: j.Number, Enqueued: j.Enqueued, At: j.Ended,
			Outcome: j.Result.Outcome, Score: j.Result.Score, Note: j.Note, Clean: j.Number > 4 && len(j.Result.Faults) == 0})
	}
	p.jobs = append(p.jobs, j)
}

// Set moves the portal's time.
func (p *Portal) Set(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = now
}

// Finish adds a result of a team and tells those who watch.
func (p *Portal) Finish(team string, score float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := board.Result{Job: fmt.Sprintf("%s-new%d", team, len(p.data.Results)), Team: team, Enqueued: p.now.Add(-time.Minute), At: p.now, Outcome: iikanji.Passed, Score: score}
	p.data.Results = append(p.data.Results, r)
	for w, reader := range p.watchers {
		b := p.board(reader)
		select {
		case w <- frame(b.Version, "board", b):
		default:
		}
	}
}

// board is the board of a reader with its version.
func (p *Portal) board(reader board.Reader) *api.Board {
	b := api.BoardOf(Round, board.Of(p.data, reader, p.now))
	text, err := json.Marshal(b)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	sum := sha256.Sum256(text)
	b.Version = hex.EncodeToString(sum[:8])
	return b
}

func frame(id, kind string, v any) api.Frame {
	data, err := json.Marshal(v)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return api.MakeFrame(id, kind, data)
}

// Stream implements api.Portal: the whole board at each change.
func (p *Portal) Stream(ctx context.Context, who api.Who, round, _ string) (<-chan api.Frame, error) {
	if round != Round {
		return nil, api.ErrNotFound
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	w := make(chan api.Frame, 16)
	b := p.board(who.Reader())
	w <- frame(b.Version, "board", b)
	p.watchers[w] = who.Reader()
	context.AfterFunc(ctx, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.watchers, w)
		close(w)
	})
	return w, nil
}
