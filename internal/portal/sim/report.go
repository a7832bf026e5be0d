package sim

import (
	"math"
	"slices"
	"time"
)

// A Report is what a simulation measured.
type Report struct {
	Teams     int           `json:"teams"`
	Workers   int           `json:"workers"`
	Jobs      int           `json:"jobs"`
	Results   int           `json:"results"`
	Broken    int           `json:"broken"`
	Cancelled int           `json:"cancelled"`
	Lost      int           `json:"lost_attempts"`
	Voids     int           `json:"void_runs"`
	Twice     int           `json:"results_sent_twice"`
	Strays    int           `json:"strays"`
	Boards    int           `json:"boards_compared"`
	Busy      float64       `json:"busy"` // share of the slots' time
	Median    time.Duration `json:"median_wait_ns"`
	Longest   time.Duration `json:"longest_wait_ns"`
	// Limit is what no wait may exceed: max(10 min, 3 medians) and one run.
	Limit time.Duration `json:"wait_limit_ns"`
	// Jain is the fairness index of the mean waits of the teams with equal demand: 1 if all
	// wait equally long (R. Jain, D. Chiu, W. Hawe 1984).
	Jain float64 `json:"jain"`
	// Expected is the median relative error of the expected starts. A wait below shortWait
	// counts as shortWait: an error of 5 s of 10 s matters to nobody.
	Expected float64 `json:"expected_start_error"`
	// Told is how many expected starts were compared.
	Told int `json:"expected_starts"`
	// Digest is of the final board and all results: a seed gives it again.
	Digest string        `json:"digest"`
	Took   time.Duration `json:"took_ns"`
}

// shortWait is the least wait that an error is relative to.
const shortWait = 30 * time.Second

// jain is (Σx)² / (n Σx²).
func jain(x []float64) float64 {
	sum, squares := 0.0, 0.0
	for _, v := range x {
		sum, squares = sum+v, squares+v*v
	}
	if squares == 0 {
		return 1
	}
	return sum * sum / (float64(len(x)) * squares)
}

func medianOf[T float64 | time.Duration](x []T) T {
	if len(x) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(x))[len(x)/2]
}

// waits fills in what the waits show.
func (s *simulation) waits() {
	r := &s.report
	var all []time.Duration
	var means, errors []float64
	for _, t := range s.teams {
		sum := time.Duration(0)
		for _, w := range t.waits {
			all, sum = append(all, w), sum+w
		}
		if t.kind == steady && len(t.waits) > 0 {
			means = append(means, sum.Seconds()/float64(len(t.waits)))
		}
		for _, p := range t.told {
			errors = append(errors, math.Abs(p.was.Seconds()-p.told.Seconds())/max(p.was, shortWait).Seconds())
		}
	}
	if len(all) > 0 {
		r.Longest = slices.Max(all)
	}
	r.Median, r.Jain, r.Expected, r.Told = medianOf(all), jain(means), medianOf(errors), len(errors)
	r.Limit = max(10*time.Minute, 3*r.Median) + s.o.Run
	r.Busy = s.busy.Seconds() / (float64(s.o.Workers) * s.o.Length.Seconds())
}
