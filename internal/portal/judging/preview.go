package judging

import (
	"time"

	"github.com/iikanji/iikanji/internal/portal/board"
)

// A Moved is a team whose rank or standing judgements change.
type Moved struct {
	Team     string
	From, To int // ranks; 0 for none
	Was, Is  float64
}

// Preview lists what judgements would change on the staff's board, in the order of the new
// board. It changes nothing.
func Preview(d *board.Data, judgements []board.Judgement, now time.Time) []Moved {
	next := *d
	next.Judgements = append(append([]board.Judgement(nil), d.Judgements...), judgements...)
	return Compare(d, &next, now)
}

// Compare lists the teams whose rank or standing differs on the staff's boards of two states, in
// the order of the second board.
func Compare(d, next *board.Data, now time.Time) []Moved {
	staff := board.Reader{Role: board.Staff}
	before := map[string]board.Row{}
	for _, r := range board.Of(d, staff, now).Rows {
		before[r.Team] = r
	}
	var out []Moved
	for _, r := range board.Of(next, staff, now).Rows {
		was := before[r.Team]
		if was.Rank != r.Rank || was.Standing != r.Standing {
			out = append(out, Moved{r.Team, was.Rank, r.Rank, was.Standing, r.Standing})
		}
	}
	return out
}
