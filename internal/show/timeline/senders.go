package timeline

import (
	"cmp"
	"math"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/load/bench"
	"github.com/iikanji/iikanji/internal/proof/attribute"
)

const (
	maxDigests = 40
	maxSteps   = 40
	// leastFit is the share of a digest's variance that its routes must explain.
	leastFit = 0.5
	// leastShare is the share of a digest's executions of a route that counts as
	// one of its senders.
	leastShare = 0.1
)

// Senders finds the steps that send each digest of an observed run. Digests whose
// routes are not found are missing.
func Senders(h *history.History, id iikanji.RunID, profiles []iikanji.Profile) (map[string][]string, error) {
	rows := digestRows(profiles)
	if len(rows) == 0 {
		return nil, nil
	}
	from, step, n := rows[0].Ticks.From, rows[0].Ticks.Step, 0
	for _, r := range rows {
		n = max(n, len(r.Ticks.Counts))
	}
	counts := map[string][]float64{}
	err := eachSample(h, id, func(_ int, head *bench.SampleHead, s bench.Sample) {
		name := head.Steps[s.Step]
		if counts[name] == nil {
			if len(counts) == maxSteps {
				return
			}
			counts[name] = make([]float64, n+1)
		}
		spread(counts[name], float64(head.Began.Add(s.Start).Sub(from))/float64(step), float64(head.Began.Add(s.End).Sub(from))/float64(step))
	})
	if err != nil {
		return nil, err
	}
	var steps []string
	for name := range counts {
		steps = append(steps, name)
	}
	slices.Sort(steps)
	var routes, digests []attribute.Series
	for _, name := range steps {
		routes = append(routes, attribute.Series{Counts: counts[name], Timed: true})
	}
	for _, r := range rows {
		series := make([]float64, n)
		for i, c := range r.Ticks.Counts {
			series[i] = float64(c) / 1000
		}
		digests = append(digests, attribute.Series{Counts: series})
	}
	out := map[string][]string{}
	for i, r := range attribute.Find(routes, digests) {
		if r.R2 < leastFit {
			continue
		}
		for _, s := range r.Senders {
			if s.Share >= leastShare && s.Route < len(steps) {
				out[rows[i].Query.Digest] = append(out[rows[i].Query.Digest], steps[s.Route])
			}
		}
	}
	return out, nil
}

// digestRows are the heaviest digests with ticks of one clock.
func digestRows(profiles []iikanji.Profile) (rows []iikanji.Row) {
	for _, p := range profiles {
		for _, r := range p.Rows {
			if p.Source == iikanji.Slow && r.Ticks != nil && r.Query != nil && r.Ticks.Step > 0 {
				rows = append(rows, r)
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b iikanji.Row) int { return cmp.Compare(b.Total, a.Total) })
	rows = slices.DeleteFunc(rows, func(r iikanji.Row) bool {
		return !r.Ticks.From.Equal(rows[0].Ticks.From) || r.Ticks.Step != rows[0].Ticks.Step
	})
	return rows[:min(len(rows), maxDigests)]
}

// spread adds one request to the ticks, evenly over its time.
func spread(counts []float64, from, to float64) {
	if to <= from {
		to = from + 1e-9
	}
	last := min(int(math.Floor(to)), len(counts)-1)
	for at := max(int(math.Floor(from)), 0); at <= last; at++ {
		part := min(to, float64(at+1)) - max(from, float64(at))
		if part > 0 {
			counts[at] += part / (to - from)
		}
	}
}
