package search

import (
	"fmt"
	"strings"
	"time"
)

// A TimePlan is how a search intends to divide its time. It is an estimate: a run's time
// is known only from the first run on, and void runs are repeated.
type TimePlan struct {
	Time    time.Duration `json:"time_ns"` // of everything; 0 means no limit
	Run     time.Duration `json:"run_ns"`  // time of a run of the short load, with its reset
	Runs    int           `json:"runs"`    // that the time holds; 0 without a limit
	Noise   int           `json:"noise_runs"`
	Observe int           `json:"observe_runs"` // before the first trial
	Search  int           `json:"search_runs"`  // for trials and further observations; 0 without a limit
	Sweep   bool          `json:"sweep"`        // all promising changes are tried as one
	Compare int           `json:"compare_runs"`
	Full    time.Duration `json:"full_ns"` // least load of a run of the last comparison
	Least   time.Duration `json:"least_ns"`
	Allowed int           `json:"allowed_runs,omitempty"` // limit of the number of runs; 0 means no limit
}

// TimePlan is the plan for the whole time; had is how many runs of an earlier search
// serve as calibration.
func (s *State) TimePlan(had int) TimePlan {
	p := TimePlan{Time: s.Options.Time, Run: s.RunCost(), Noise: max(0, s.calibrationRuns()-had), Observe: 1,
		Sweep: s.Scarce(), Compare: 2 * s.Options.Pairs, Full: s.fullLoad(), Allowed: s.Options.Runs}
	if lasts := s.lasts(p.Full); lasts < p.Full {
		p.Full = max(0, lasts-s.leastOverhead())
	}
	if p.Time <= 0 {
		return p
	}
	p.Runs = int(p.Time / p.Run)
	p.Least = s.scarceTime(s.count(FewestCalibration), p.Run)
	observed := max(p.Run, s.runTime(s.Options.Watch))
	rest := p.Time - time.Duration(p.Noise)*p.Run - observed - time.Duration(p.Compare)*s.runTime(p.Full) - s.spare()
	p.Search = max(0, int(rest/p.Run))
	return p
}

// String is the plan in a sentence.
func (p TimePlan) String() string {
	noise := fmt.Sprintf("%d to measure the noise", p.Noise)
	if p.Noise == 0 {
		noise = "none to measure the noise, which is known"
	}
	overhead := time.Duration(LeastOverhead.Value() * float64(time.Second))
	compare := fmt.Sprintf("%d for the last comparison", p.Compare)
	if p.Full+overhead > p.Run {
		compare = fmt.Sprintf("%d with a load of %s and more for the last comparison", p.Compare, Brief(p.Full))
	}
	var b strings.Builder
	if p.Time <= 0 {
		fmt.Fprintf(&b, "no time limit; runs of about %s: %s, %d to observe, as many as needed to try changes, %s", Brief(p.Run), noise, p.Observe, compare)
	} else {
		try := fmt.Sprintf("%d to try changes", p.Search)
		switch {
		case p.Search == 0:
			try = "none to try changes"
		case p.Sweep:
			try = fmt.Sprintf("%d for a sweep of all promising changes", p.Search)
		}
		fmt.Fprintf(&b, "%s hold about %d runs of %s: %s, %d to observe, %s, %s", Brief(p.Time), p.Runs, Brief(p.Run), noise, p.Observe, try, compare)
		if p.Search == 0 {
			fmt.Fprintf(&b, "; a search with runs of this length needs %s", Brief(p.Least))
		}
	}
	if p.Allowed > 0 {
		fmt.Fprintf(&b, "; at most %d runs are allowed", p.Allowed)
	}
	return b.String()
}

// Brief formats a duration to the second: 78s, 15m0s.
func Brief(d time.Duration) string {
	if d = d.Round(time.Second); d < 2*time.Minute {
		return fmt.Sprintf("%ds", int(d.Seconds()))
	}
	return d.String()
}

// aFew is the part of the runs by which two plans may differ and be shown as one.
const aFew = 10

// Differs reports whether a plan divides the time otherwise than an earlier one. The time
// of a run varies a little from run to run.
func (p TimePlan) Differs(before TimePlan) bool {
	change := p.Search - before.Search
	return p.Noise != before.Noise || p.Sweep != before.Sweep || p.Compare != before.Compare || max(change, -change) > before.Search/aFew
}
