package main

import (
	"slices"

	"github.com/iikanji/iikanji/internal/load/bench"
	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/show/progress"
	"github.com/iikanji/iikanji/internal/show/report"
)

// A growth is the score of a run over its load, for a sparkline.
type growth struct {
	seconds []float64 // points of each second of the load
	score   float64   // at the begin of the latest second
}

// growthCols is the widest chart.
const growthCols = 60

// add takes the score at a time of the load, in seconds.
func (g *growth) add(at, score float64) {
	second := int(at)
	if second < 0 || second > 24*3600 {
		return
	}
	if second < len(g.seconds)-1 { // the load of another run
		*g = growth{}
	}
	if len(g.seconds) == 0 { // scores may begin above 0
		g.score = score
	}
	for len(g.seconds) <= second {
		if n := len(g.seconds); n > 0 {
			g.score += g.seconds[n-1]
		}
		g.seconds = append(g.seconds, 0)
	}
	g.seconds[second] = max(0, score-g.score)
}

// line draws the points per second, without the second that has not ended.
func (g *growth) line(cols int) string {
	if len(g.seconds) < 2 {
		return ""
	}
	return report.Spark(g.seconds[:len(g.seconds)-1], cols)
}

// chart is a line with the points of each second and their largest number, for a
// screen of cols columns; "" before the first second has ended.
func (g *growth) chart(cols int) string {
	const head = "  points/s "
	most := 0.0
	for _, v := range g.seconds[:max(len(g.seconds)-1, 0)] {
		most = max(most, v)
	}
	tail := "  peak " + report.Count(int64(most))
	line := g.line(min(growthCols, cols-len(head)-len(tail)-1))
	if line == "" {
		return ""
	}
	return head + line + tail
}

// record takes the progress of a run, and returns what writes it into the progress
// file.
func (g *growth) record(p bench.Progress) func(*progress.State) {
	load := p.Phase == string(scenario.Load)
	if load {
		g.add(p.Elapsed.Seconds(), p.Score)
	}
	return func(s *progress.State) {
		s.Run = progress.Run{Phase: p.Phase, Elapsed: p.Elapsed, Left: p.Left, Score: p.Score, Requests: p.Requests, Errors: p.Errors, Timeouts: p.Timeouts}
		if load {
			s.Run.Growth = slices.Clone(g.seconds)
		}
	}
}
