package timeline

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/load/bench"
)

// Seconds is a run by second of its load. Slices have one value for each second;
// latencies are in milliseconds and 0 in a second without an answer.
type Seconds struct {
	From          time.Time // when the first request of the load began
	Answers       []float64
	Errors        []float64
	P50, P95, P99 []float64
	// Query is the time of statements in seconds per second; nil for a run whose
	// statements were not observed.
	Query []float64
	// CPU is the CPU use of services, for a run whose seconds were kept instead of its
	// samples; nil for others.
	CPU []ServiceCPU
}

// maxSeconds bounds the length of a load that is shown.
const maxSeconds = 3 * 3600

// SecondsOf reads the seconds of a run: from its samples, or as they were kept.
// profiles are those of an observed run.
func SecondsOf(h *history.History, id iikanji.RunID, profiles []iikanji.Profile) (*Seconds, error) {
	s, err := sampledSeconds(h, id, profiles)
	if errors.Is(err, fs.ErrNotExist) {
		return readSeconds(h, id)
	}
	return s, err
}

// sampledSeconds reads the samples of a run.
func sampledSeconds(h *history.History, id iikanji.RunID, profiles []iikanji.Profile) (*Seconds, error) {
	type answer struct {
		end, took time.Duration
		bad       bool
	}
	var all []answer
	first := time.Duration(-1)
	var began time.Time
	err := eachSample(h, id, func(_ int, head *bench.SampleHead, s bench.Sample) {
		began = head.Began
		if first < 0 || s.Start < first {
			first = s.Start
		}
		if s.Fault != iikanji.FaultCut {
			all = append(all, answer{s.End, s.End - s.Start, s.Fault != iikanji.FaultUnknown && !s.Quiet})
		}
	})
	if err != nil || len(all) == 0 {
		return nil, cmp.Or(err, error(nil))
	}
	out := &Seconds{From: began.Add(first)}
	bySecond := map[int][]time.Duration{}
	n := 0
	for _, a := range all {
		at := int((a.end - first) / time.Second)
		if at < 0 || at >= maxSeconds {
			continue
		}
		for n = max(n, at+1); len(out.Answers) < n; {
			out.Answers, out.Errors = append(out.Answers, 0), append(out.Errors, 0)
		}
		out.Answers[at]++
		if a.bad {
			out.Errors[at]++
		}
		bySecond[at] = append(bySecond[at], a.took)
	}
	for at := range n {
		times := bySecond[at]
		slices.Sort(times)
		out.P50 = append(out.P50, quantile(times, 0.5))
		out.P95 = append(out.P95, quantile(times, 0.95))
		out.P99 = append(out.P99, quantile(times, 0.99))
	}
	out.Query = queryTime(profiles, out.From, n)
	return out, nil
}

// quantile is the value of rank ⌈p·n⌉, in milliseconds.
func quantile(sorted []time.Duration, p float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	i := int(p*float64(len(sorted)) + 0.9999999)
	return sorted[min(max(i, 1), len(sorted))-1].Seconds() * 1e3
}

// queryTime spreads the time of each digest over the ticks of its executions.
func queryTime(profiles []iikanji.Profile, from time.Time, n int) []float64 {
	var out []float64
	for _, p := range profiles {
		if p.Source != iikanji.Slow {
			continue
		}
		for _, r := range p.Rows {
			if r.Ticks == nil || r.Count == 0 {
				continue
			}
			if out == nil {
				out = make([]float64, n)
			}
			for i, c := range r.Ticks.Counts {
				at := int(r.Ticks.From.Add(time.Duration(i)*r.Ticks.Step).Sub(from) / time.Second)
				if at >= 0 && at < n {
					out[at] += float64(c) / 1000 * r.Mean.Seconds()
				}
			}
		}
	}
	return out
}

// maxSlowest bounds the list of slow requests.
const maxSlowest = 100

// Slowest lists the slowest requests of a run, slowest first, of the steps that
// wanted selects by their names.
func Slowest(h *history.History, id iikanji.RunID, wanted func(step string) bool, most int) ([]Request, error) {
	most = min(most, maxSlowest)
	var out []Request
	order := func(a, b Request) int { return cmp.Or(cmp.Compare(b.Took(), a.Took()), a.Number-b.Number) }
	err := eachSample(h, id, func(n int, head *bench.SampleHead, s bench.Sample) {
		if s.Fault == iikanji.FaultCut || len(out) == most && s.End-s.Start <= out[most-1].Took() || !wanted(head.Steps[s.Step]) {
			return
		}
		r := requestOf(n, head, s)
		i, _ := slices.BinarySearchFunc(out, r, order)
		if out = slices.Insert(out, i, r); len(out) > most {
			out = out[:most]
		}
	})
	return out, err
}
