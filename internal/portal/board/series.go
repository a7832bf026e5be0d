package board

import (
	"time"

	"github.com/iikanji/iikanji"
)

// A Point is a result in a chart.
type Point struct {
	Minute float64   `json:"minute"` // of play, without pauses
	At     time.Time `json:"at"`
	Score  float64   `json:"score"`
	Passed bool      `json:"passed"`
}

// A Series is the line of one team.
type Series struct {
	Team   string  `json:"team"`
	Name   string  `json:"name"`
	Points []Point `json:"points"`
}

// Series are the lines of some teams, in that order. A reader's own team has all of its
// results. An unknown team has no line.
func (v *View) Series(teams ...string) []Series {
	var out []Series
	for _, id := range teams {
		for _, t := range v.teams {
			if t.ID == id {
				out = append(out, Series{t.ID, t.Name, v.points(v.Results(id))})
			}
		}
	}
	return out
}

// Results are the results of a team that the reader may see, in their order.
func (v *View) Results(team string) []Result {
	if v.Reader.Role == Member && team == v.Reader.Team {
		return v.own
	}
	return v.seen[team]
}

func (v *View) points(results []Result) []Point {
	out := make([]Point, len(results))
	for i, r := range results {
		out[i] = Point{Minute: v.data.Clock.Minute(r.At).Minutes(), At: r.At, Passed: r.Outcome == iikanji.Passed}
		if out[i].Passed {
			out[i].Score = r.Score
		}
	}
	return out
}
