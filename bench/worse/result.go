package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/search"
	"github.com/iikanji/iikanji/internal/show/report"
)

// A result holds the outcome of all proposals.
type result struct {
	Began  time.Time     `json:"began"`
	Took   time.Duration `json:"took_ns"`
	Load   time.Duration `json:"load_ns"`
	Noisy  bool          `json:"noisy"` // runs that other programs disturbed counted, too
	Sites  []siteResult  `json:"sites"`
	Trials []trialResult `json:"trials"`
}

// A siteResult describes the site and the runs of one arena.
type siteResult struct {
	Arena  string  `json:"arena"`
	Score  float64 `json:"score"` // geometric mean of the runs of the site in its final state
	Noise  float64 `json:"noise"` // SD of the difference of two runs of one state, on ln(score)
	Runs   int     `json:"runs"`
	Voided int     `json:"voided"`
}

// A trialResult is the outcome of one proposal.
type trialResult struct {
	Arena    string          `json:"arena"`
	Name     string          `json:"name"`
	Reported string          `json:"told"`
	Says     string          `json:"says"` // description of the planned change
	Call     string          `json:"call"`
	Kept     bool            `json:"kept"`
	Parked   bool            `json:"parked"` // undone without a decision
	Runs     int             `json:"runs"`
	Scores   [][2]float64    `json:"scores"` // per pair that counted: without the change, with the change
	Verdict  iikanji.Verdict `json:"verdict"`
	NotTried string          `json:"not_tried,omitempty"`
}

// neverHeld is the reason for a missing verdict when the trials ended early.
const neverHeld = "the trials ended before it had its verdict"

// add adds the outcome of one arena.
func (r *result) add(arena string, out *held) {
	r.Took = time.Since(r.Began)
	r.Sites = append(r.Sites, siteResult{Arena: arena, Score: out.Short[1], Noise: out.Noise, Runs: out.Runs, Voided: out.Voided})
	for _, p := range proposals {
		if p.arena != arena {
			continue
		}
		t := trialResult{Arena: arena, Name: p.name, Reported: p.reported, Says: p.remedy.Says, Call: "no verdict", NotTried: neverHeld}
		for _, a := range out.Attempts {
			if a.Key == (search.Candidate{Remedy: p.remedy}).Key() {
				t.take(a, out.scores)
			}
		}
		r.Trials = append(r.Trials, t)
	}
	for _, a := range out.Attempts { // a change that was parked alone may have been tried in a bundle
		if a.Candidate.Remedy.Kind == "bundle" {
			t := trialResult{Arena: arena, Name: "what was parked, together"}
			t.take(a, out.scores)
			r.Trials = append(r.Trials, t)
		}
	}
}

// take records the outcome of a proposal's trial; a later one replaces it.
func (t *trialResult) take(a search.Attempt, scores map[iikanji.RunID]float64) {
	t.Says, t.Verdict, t.Runs, t.Parked, t.NotTried = a.Says, a.Verdict, a.Runs, a.Parked, a.Skipped
	t.Kept, t.Scores = a.Verdict.Call == iikanji.Keep, [][2]float64{}
	if v := a.Verdict; len(v.Base) == len(v.Tried) { // after the fast lane, Base and Tried are two groups instead
		for i := range v.Base {
			t.Scores = append(t.Scores, [2]float64{scores[v.Base[i]], scores[v.Tried[i]]})
		}
	}
	switch {
	case a.Skipped != "":
		t.Call = "not tried"
	case a.Dropped:
		t.Call = "kept, then dropped"
	case a.Parked:
		t.Call = "parked (undone)"
	case t.Kept:
		t.Call = "kept"
	default:
		t.Call = "reverted"
	}
}

// status returns the exit status: 3 if a proposal was kept, 1 if one has no
// verdict.
func (r *result) status() int {
	status := statusDone
	for _, t := range r.Trials {
		if t.Kept {
			return statusKept
		}
		if t.NotTried != "" {
			status = statusFailed
		}
	}
	return status
}

// print writes the result as a table, or as JSON.
func (o *options) print(w io.Writer, r *result) error {
	if o.json {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(r)
	}
	t := report.Table{Columns: []report.Column{{Name: "arena", Left: true}, {Name: "proposal", Left: true}, {Name: "effect on the score", Left: true},
		{Name: "pairs"}, {Name: "runs"}, {Name: "verdict", Left: true}, {Name: "why", Left: true}}}
	for _, row := range r.Trials {
		why := row.Verdict.Why
		if row.NotTried != "" {
			why = row.NotTried
		}
		t.Rows = append(t.Rows, []string{row.Arena, row.Name, effect(row.Verdict.Effect), fmt.Sprint(len(row.Verdict.Tried)), fmt.Sprint(row.Runs), row.Call, why})
	}
	if err := t.Write(w, report.Markdown, 0); err != nil {
		return err
	}
	for _, s := range r.Sites {
		if _, err := fmt.Fprintf(w, "\n%s: score %.0f with what was kept; two runs of one state differ by %.1f %% (standard deviation); %d runs, %d of them void\n",
			s.Arena, s.Score, 100*s.Noise, s.Runs, s.Voided); err != nil {
			return err
		}
	}
	note := ""
	if r.Noisy {
		note = "; runs counted that were disturbed from outside: not to be trusted"
	}
	_, err := fmt.Fprintf(w, "\nruns of %s, %s in all%s\n", r.Load, r.Took.Round(time.Second), note)
	return err
}

// effect formats an effect on ln(score) with its interval, in percent.
func effect(e iikanji.Interval) string {
	if e.Level == 0 {
		return "-"
	}
	pct := func(x float64) string { return fmt.Sprintf("%+.1f", 100*math.Expm1(x)) }
	return fmt.Sprintf("%s %% (%s to %s)", pct(e.Mid), pct(e.Lo), pct(e.Hi))
}
