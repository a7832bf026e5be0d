package judge

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/stats"
)

// A measure is one kind of work per successful request of one run.
type measure struct {
	name  string
	value float64
}

// workOf reads a run's work per successful request: CPU of each service,
// bytes sent to clients, and what the database counted, or its statement
// profiles. The load generator's own work does not count.
func workOf(r *iikanji.Run) []measure {
	count, errors := answered(r)
	if count <= errors {
		return nil
	}
	per := 1 / float64(count-errors)
	var ms []measure
	add := func(name string, v float64) {
		if v > 0 {
			ms = append(ms, measure{name, v * per})
		}
	}
	for _, u := range r.Usage {
		if u.Who != "generator" && u.Who != "other" {
			add(u.Who+ofService, float64(u.User+u.System))
		}
	}
	var received iikanji.Bytes
	for _, s := range r.Steps {
		received += s.Received
	}
	add("bytes answered", float64(received))
	for _, name := range slices.Sorted(maps.Keys(r.Counts)) {
		add(name, r.Counts[name])
	}
	for _, p := range r.Profiles {
		if p.Source == iikanji.Slow && len(r.Counts) == 0 {
			addStatements(&p, add)
		}
	}
	return ms
}

func addStatements(p *iikanji.Profile, add func(string, float64)) {
	var queries, examined, lock float64
	var sent iikanji.Bytes
	for _, row := range p.Rows {
		queries += float64(row.Count)
		if q := row.Query; q != nil {
			examined += float64(q.Examined)
			lock += float64(q.Lock)
			sent += q.BytesSent
		}
	}
	add("queries", queries)
	add("rows examined", examined)
	add("bytes from the database", float64(sent))
	add("lock wait", lock)
}

// workLevel is the two-sided confidence of a work's interval.
const workLevel = 0.90

// compareWork compares every work that all runs of all pairs have, by the
// plain t of its logarithm's differences; the one that fell most comes first.
// With one pair there is no interval, and the result is empty.
func compareWork(pairs []Pair) []iikanji.Work {
	if len(pairs) < 2 {
		return nil
	}
	diffs := map[string][]float64{}
	for _, p := range pairs {
		a := workOf(p.A)
		for _, b := range workOf(p.B) {
			i := slices.IndexFunc(a, func(m measure) bool { return m.name == b.name })
			if i >= 0 {
				diffs[b.name] = append(diffs[b.name], math.Log(b.value/a[i].value))
			}
		}
	}
	var works []iikanji.Work
	for name, d := range diffs {
		if len(d) == len(pairs) {
			m := stats.Moderate(d, stats.Prior{})
			works = append(works, iikanji.Work{Name: name, Effect: iikanji.Interval{
				Mid: m.Mean, Lo: m.Lower((1 - workLevel) / 2), Hi: m.Upper((1 - workLevel) / 2), Level: workLevel}})
		}
	}
	slices.SortFunc(works, func(x, y iikanji.Work) int {
		return cmp.Or(cmp.Compare(x.Effect.Mid, y.Effect.Mid), cmp.Compare(x.Name, y.Name))
	})
	return works
}

// Limits of what is kept for its cost.
const (
	muchLess = 0.5 // of the work per request is left, at most
	moreWork = 1.1 // times as much of another work is too much
)

// cheapens reports whether a change of which a gain is unlikely or undecided saves so much work
// per request that it may stay: some work is halved with its whole interval, no other rose, and
// a loss of the score is not likely. Work varies much less than the score.
func (m estimate) cheapens(j Judge, v *iikanji.Verdict) bool {
	if m.Upper(j.Looks.Early) <= 0 {
		return false
	}
	less := false
	for _, w := range v.Work {
		less = less || w.Effect.Hi <= math.Log(muchLess)
		if w.Effect.Lo > 0 && w.Effect.Mid > math.Log(moreWork) {
			return false
		}
	}
	return less
}

// lessWork finds a work that fell by at least a tenth, with its whole interval
// below 0; -1 for none.
func lessWork(works []iikanji.Work) int {
	return slices.IndexFunc(works, func(w iikanji.Work) bool {
		return w.Effect.Mid <= math.Log(0.9) && w.Effect.Hi < 0
	})
}
