package tune

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

// timePlan is the plan for the whole time; had is how many runs of an earlier search
// serve as calibration.
func (b *budget) timePlan(had int) TimePlan {
	p := TimePlan{Time: b.options.Time, Run: b.runCost(), Noise: max(0, b.calibrationRuns()-had), Observe: 1,
		Sweep: b.scarce(), Compare: 2 * b.options.Pairs, Full: b.fullLoad(), Allowed: b.options.Runs}
	if p.Time <= 0 {
		return p
	}
	p.Runs = int(p.Time / p.Run)
	p.Least = b.options.scarceTime(fewestCalibration, p.Run)
	observed := max(p.Run, b.options.Watch+b.overhead())
	rest := p.Time - time.Duration(p.Noise)*p.Run - observed - time.Duration(p.Compare)*(p.Full+b.overhead()) - b.spare()
	p.Search = max(0, int(rest/p.Run))
	return p
}

// String is the plan in a sentence.
func (p TimePlan) String() string {
	noise := fmt.Sprintf("%d to measure the noise", p.Noise)
	if p.Noise == 0 {
		noise = "none to measure the noise, which is known"
	}
	compare := fmt.Sprintf("%d for the last comparison", p.Compare)
	if p.Full+leastOverhead > p.Run {
		compare = fmt.Sprintf("%d with a load of %s and more for the last comparison", p.Compare, brief(p.Full))
	}
	var b strings.Builder
	if p.Time <= 0 {
		fmt.Fprintf(&b, "no time limit; runs of about %s: %s, %d to observe, as many as needed to try changes, %s", brief(p.Run), noise, p.Observe, compare)
	} else {
		try := fmt.Sprintf("%d to try changes", p.Search)
		switch {
		case p.Search == 0:
			try = "none to try changes"
		case p.Sweep:
			try = fmt.Sprintf("%d for a sweep of all promising changes", p.Search)
		}
		fmt.Fprintf(&b, "%s hold about %d runs of %s: %s, %d to observe, %s, %s", brief(p.Time), p.Runs, brief(p.Run), noise, p.Observe, try, compare)
		if p.Search == 0 {
			fmt.Fprintf(&b, "; a search with runs of this length needs %s", brief(p.Least))
		}
	}
	if p.Allowed > 0 {
		fmt.Fprintf(&b, "; at most %d runs are allowed", p.Allowed)
	}
	return b.String()
}

// brief formats a duration to the second: 78s, 15m0s.
func brief(d time.Duration) string {
	if d = d.Round(time.Second); d < 2*time.Minute {
		return fmt.Sprintf("%ds", int(d.Seconds()))
	}
	return d.String()
}

// differs reports whether a plan divides the time otherwise than an earlier one. The time
// of a run varies a little from run to run.
func (p TimePlan) differs(before TimePlan) bool {
	change := p.Search - before.Search
	return p.Noise != before.Noise || p.Sweep != before.Sweep || p.Compare != before.Compare || max(change, -change) > before.Search/10
}

// showPlan shows the plan of the time at the start of a search.
func (s shared) showPlan() {
	plan := s.timePlan(s.calibrated)
	s.shown = &plan
	s.say("plan: %s", plan)
}

// updatePlan shows the plan again if runs take another time than it assumes.
func (s shared) updatePlan() {
	if s.shown == nil { // one trial or a ladder
		return
	}
	before := *s.shown
	if *s.shown = s.timePlan(s.calibrated); s.shown.differs(before) {
		s.say("a run takes %s; plan: %s", brief(s.shown.Run), *s.shown)
	}
}
