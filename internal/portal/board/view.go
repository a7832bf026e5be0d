package board

import (
	"time"

	"github.com/iikanji/iikanji"
)

// A View is what one reader may see of a round at an instant.
type View struct {
	Reader Reader
	// Frozen: results of other teams from FrozenAt on are hidden.
	Frozen   bool
	FrozenAt time.Time
	// Rows are the teams in the order of their ranks; those without a rank are last. While
	// the board is frozen they are the same for every reader but staff.
	Rows []Row
	// Own is the row of the reader's team with all of its results, ranked among Rows.
	Own *Row
	// Runs is how many results the rows are made of.
	Runs int

	data  *Data
	now   time.Time
	teams []Team
	seen  map[string][]Result // the visible results of each team that count
	own   []Result            // those of the reader's team, with hidden ones
}

// A Row is one line of a board.
type Row struct {
	Rank         int       `json:"rank"` // 1 for the first; 0 for none
	DivisionRank int       `json:"division_rank"`
	Team         string    `json:"team"`
	Name         string    `json:"name"`
	Division     string    `json:"division"`
	Standing     float64   `json:"standing"`
	StandingAt   time.Time `json:"standing_at,omitzero"`
	Last         float64   `json:"last"`
	LastPassed   bool      `json:"last_passed"`
	LastAt       time.Time `json:"last_at,omitzero"` // zero without a run
	Best         float64   `json:"best"`
	Runs         int       `json:"runs"`
	Trend        int       `json:"trend"` // of the last passed run against the one before: -1, 0 or 1
	Spark        []float64 `json:"spark"` // the latest scores, the oldest first; 0 for a failed run
	Gone         string    `json:"gone,omitempty"`
	// Joined: the difference to the next row is within the noise of single runs.
	Joined bool `json:"joined,omitempty"`
	Final  bool `json:"final,omitempty"` // Standing is the verdict of the final judging
}

// sparkLength is how many scores a row shows.
const sparkLength = 20

// Of is the one function of visibility: what a reader may see at an instant. Everything that
// is shown of a round derives from its result.
func Of(d *Data, reader Reader, now time.Time) *View {
	v := &View{Reader: reader, data: d, now: now, seen: map[string][]Result{}}
	v.Frozen = d.Clock.Frozen(now)
	if v.Frozen {
		v.FrozenAt = d.Clock.Freeze
	}
	judged := map[string][]Judgement{}
	for _, j := range d.Judgements {
		judged[j.Job] = append(judged[j.Job], j)
	}
	for _, r := range d.Results {
		if r.At.After(now) {
			continue
		}
		if reader.Role == Member && r.Team == reader.Team {
			if own := amend(r, judged[r.Job], now, time.Time{}); v.counts(own) {
				v.own = append(v.own, own)
			}
		}
		limit := time.Time{}
		if v.Frozen && reader.Role != Staff {
			limit = v.FrozenAt
		}
		if !limit.IsZero() && !r.At.Before(limit) {
			continue
		}
		if r = amend(r, judged[r.Job], now, limit); v.counts(r) {
			v.seen[r.Team] = append(v.seen[r.Team], r)
			v.Runs++
		}
	}
	for _, t := range d.Teams {
		if t.Gone != "" && t.GoneAt.After(now) {
			t.Gone = ""
		}
		v.teams = append(v.teams, t)
	}
	v.rank(v.finals(now))
	return v
}

// amend applies the judgements that are visible; limit is the instant of a freeze, or zero.
func amend(r Result, judgements []Judgement, now, limit time.Time) Result {
	for _, j := range judgements {
		if j.At.After(now) || !limit.IsZero() && !j.At.Before(limit) {
			continue
		}
		r.Outcome, r.Score = j.Outcome, j.Score
	}
	return r
}

// counts reports whether a result is part of the board: void runs are not.
func (v *View) counts(r Result) bool {
	return (r.Outcome == iikanji.Passed || r.Outcome == iikanji.Failed) && v.data.Clock.Counts(r.Team, r.Enqueued, r.At)
}

// finals are the verdicts that the reader may see.
func (v *View) finals(now time.Time) map[string]FinalScore {
	published := v.data.Published
	if v.Reader.Role != Staff && (published.IsZero() || now.Before(published)) {
		return nil
	}
	out := map[string]FinalScore{}
	for _, f := range v.data.Finals {
		out[f.Team] = f
	}
	return out
}
