package board

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/internal/portal/contest"
)

// A Ghost is a past course of scores. It is shown beside the teams of a round and has no rank.
type Ghost struct {
	ID     string
	Name   string
	Source string // what it was made of, for people
	// Public: its owner agreed that everyone sees it; else staff alone does.
	Public bool
	Points []GhostPoint // by minute
}

// A GhostPoint is a score that a ghost had reached at a minute of play; 0 for a failed run.
type GhostPoint struct {
	Minute float64 `json:"minute"`
	Score  float64 `json:"score"`
	Label  string  `json:"label,omitempty"` // what made it so
}

// Bounds of a ghost.
const (
	mostGhostPoints = 2000
	mostGhostMinute = 366 * 24 * 60
	mostGhostScore  = 1e15
)

// CheckGhost refuses points that are no course of a round: they need times that do not go back,
// and scores that are numbers.
func CheckGhost(points []GhostPoint) error {
	if len(points) == 0 || len(points) > mostGhostPoints {
		return fmt.Errorf("a ghost has 1 to %d points, not %d", mostGhostPoints, len(points))
	}
	before := 0.0
	for i, p := range points {
		switch {
		case !(p.Minute >= before && p.Minute <= mostGhostMinute):
			return fmt.Errorf("point %d: its minute is before that of the point before it, or out of bounds", i+1)
		case !(p.Score >= 0 && p.Score <= mostGhostScore):
			return fmt.Errorf("point %d: its score is no number from 0", i+1)
		}
		before = p.Minute
	}
	return nil
}

// ParseGhost reads lines of minute, score and an optional label, divided by commas or tabs. A
// first line without numbers is a heading; empty lines and those that begin with # are left out.
func ParseGhost(text string) ([]GhostPoint, error) {
	var out []GhostPoint
	for i, line := range strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		sep := ","
		if strings.Contains(line, "\t") {
			sep = "\t"
		}
		cells := strings.SplitN(line, sep, 3)
		if len(cells) < 2 {
			return nil, fmt.Errorf("line %d: want minute, score and perhaps a label", i+1)
		}
		minute, badMinute := strconv.ParseFloat(strings.TrimSpace(cells[0]), 64)
		score, badScore := strconv.ParseFloat(strings.TrimSpace(cells[1]), 64)
		if err := errors.Join(badMinute, badScore); err != nil {
			if len(out) == 0 && badMinute != nil && badScore != nil {
				continue
			}
			return nil, fmt.Errorf("line %d: minute and score are numbers", i+1)
		}
		p := GhostPoint{Minute: minute, Score: score}
		if len(cells) == 3 {
			p.Label = strings.Trim(strings.TrimSpace(cells[2]), `"`)
		}
		if out = append(out, p); len(out) > mostGhostPoints {
			break
		}
	}
	return out, CheckGhost(out)
}

// A GhostLine is what a reader sees of a ghost: its course up to the present minute of play.
type GhostLine struct {
	ID     string  `json:"id"`
	Name   string  `json:"name"`
	Source string  `json:"source,omitempty"`
	Public bool    `json:"public"`
	Score  float64 `json:"score"` // at this minute
	Best   float64 `json:"best"`  // up to this minute
	Label  string  `json:"label,omitempty"`
	Points []Point `json:"points"`
	Ended  bool    `json:"ended,omitempty"` // no point comes any more
}

// Ghosts are the ghosts that the reader may see, as far as they have come.
func (v *View) Ghosts() []GhostLine {
	var out []GhostLine
	played := v.played()
	for _, g := range v.data.Ghosts {
		if !g.Public && v.Reader.Role != Staff {
			continue
		}
		line := GhostLine{ID: g.ID, Name: g.Name, Source: g.Source, Public: g.Public, Points: []Point{}, Ended: true}
		for _, p := range g.Points {
			if p.Minute > played {
				line.Ended = false
				break
			}
			line.Score, line.Best = p.Score, max(line.Best, p.Score)
			if p.Label != "" {
				line.Label = p.Label
			}
			line.Points = append(line.Points, Point{Minute: p.Minute, Score: p.Score, Passed: p.Score > 0})
		}
		out = append(out, line)
	}
	return out
}

// played is how many minutes of play a ghost may show. In an open round no clock is common to
// all, so it shows its whole course; so it does in a window round to those without a window.
func (v *View) played() float64 {
	c := v.data.Clock
	switch c.Kind {
	case contest.Open:
		return math.Inf(1)
	case contest.Window:
		began := c.Windows[v.Reader.Team]
		if began.IsZero() {
			return math.Inf(1)
		}
		return v.now.Sub(began).Minutes()
	}
	if v.now.Before(c.Start) {
		return -1
	}
	return c.Minute(v.now).Minutes()
}
