package dayreport

import (
	"cmp"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/day/turn"
)

// An Input is what a day is made of.
type Input struct {
	Site string
	// Runs are the runs of the benchmarker in their order.
	Runs []*iikanji.Run
	// Others is the number of runs of searches and proofs, which are not listed.
	Others int
	// Edits lists what was edited by hand between the state of a run and that of the next
	// one with a state, as lines; nil for nobody who looked.
	Edits func(before, after iikanji.RunID) []string
	// Notes are the texts that people added to a run.
	Notes map[iikanji.RunID][]string
	// Proofs are the results of iikanji work prove, in their order.
	Proofs []string
	Turns  []turn.Entry
	// Begin and End are the contest's; zero for the first and the last run's.
	Begin, End time.Time
	// Left are the findings of the latest observed run, the largest first.
	Left []iikanji.Finding
}

// A Run is one run of the day.
type Run struct {
	Run     iikanji.RunID   `json:"run"`
	At      time.Time       `json:"at"`
	Who     string          `json:"who,omitempty"`
	Outcome iikanji.Outcome `json:"outcome"`
	Score   float64         `json:"score"`
	// Ratio is the score over that of the last run before it that passed; 0 without one.
	// It is one run against one: it proves nothing.
	Ratio float64  `json:"ratio,omitempty"`
	Notes []string `json:"notes,omitempty"`
	Edits []string `json:"edits,omitempty"` // since the run before
}

// A Person is what one person did.
type Person struct {
	Who   string        `json:"who"`
	Runs  int           `json:"runs"`
	Turns int           `json:"turns"`
	Held  time.Duration `json:"held_ns"` // how long the turn was theirs
}

// A Gap is a time in which nobody measured.
type Gap struct {
	From  time.Time     `json:"from"`
	To    time.Time     `json:"to"`
	Long  time.Duration `json:"long_ns"`
	Until iikanji.RunID `json:"until,omitempty"` // the run that ended it; 0 for the end of the day
}

// A Day is the day of a team.
type Day struct {
	Version int               `json:"version"`
	Site    string            `json:"site"`
	Begin   time.Time         `json:"begin"`
	End     time.Time         `json:"end"`
	Runs    []Run             `json:"runs"`
	Passed  int               `json:"passed"`
	Others  int               `json:"other_runs,omitempty"` // of searches and proofs
	Best    iikanji.RunID     `json:"best,omitempty"`
	Last    iikanji.RunID     `json:"last,omitempty"`
	People  []Person          `json:"people"`
	Gaps    []Gap             `json:"gaps"`
	Turns   []turn.Entry      `json:"turns"`
	Proofs  []string          `json:"proofs"`
	Left    []iikanji.Finding `json:"left"`
}

// Version is the version of a Day as a document.
const Version = 1

// mostGaps is how many of the longest gaps are told.
const mostGaps = 3

// Of makes the day.
func Of(in Input) *Day {
	d := &Day{Version: Version, Site: in.Site, Begin: in.Begin, End: in.End, Others: in.Others, Runs: []Run{}, Turns: append([]turn.Entry{}, in.Turns...),
		Proofs: append([]string{}, in.Proofs...), Left: append([]iikanji.Finding{}, in.Left...)}
	before, best := 0.0, 0.0
	for i, r := range in.Runs {
		one := Run{Run: r.ID, At: r.Began, Who: r.Who, Outcome: r.Outcome, Score: r.Score, Notes: in.Notes[r.ID]}
		if i > 0 && in.Edits != nil {
			one.Edits = in.Edits(in.Runs[i-1].ID, r.ID)
		}
		if r.Outcome == iikanji.Passed {
			d.Passed++
			d.Last = r.ID
			if before > 0 && r.Score > 0 {
				one.Ratio = r.Score / before
			}
			before = r.Score
			if r.Score > best {
				best, d.Best = r.Score, r.ID
			}
		}
		d.Runs = append(d.Runs, one)
	}
	if n := len(in.Runs); n > 0 {
		if d.Begin.IsZero() {
			d.Begin = in.Runs[0].Began
		}
		if d.End.IsZero() {
			d.End = in.Runs[n-1].Began.Add(in.Runs[n-1].Took)
		}
	}
	d.People = people(in, d.End)
	d.Gaps = gaps(in, d.Begin, d.End)
	return d
}

// people are the persons of a day, by their number of runs.
func people(in Input, end time.Time) []Person {
	by := map[string]*Person{}
	of := func(who string) *Person {
		if by[who] == nil {
			by[who] = &Person{Who: who}
		}
		return by[who]
	}
	for _, r := range in.Runs {
		if r.Who != "" {
			of(r.Who).Runs++
		}
	}
	for i, e := range in.Turns {
		if e.What == "give" {
			continue
		}
		p := of(e.Who)
		p.Turns++
		until := e.Until
		if !end.IsZero() && until.After(end) {
			until = end
		}
		if i+1 < len(in.Turns) && in.Turns[i+1].At.Before(until) {
			until = in.Turns[i+1].At // given back, renewed, or taken from them
		}
		p.Held += max(0, until.Sub(e.At))
	}
	all := []Person{}
	for _, p := range by {
		all = append(all, *p)
	}
	slices.SortFunc(all, func(a, b Person) int { return cmp.Or(cmp.Compare(b.Runs, a.Runs), cmp.Compare(a.Who, b.Who)) })
	return all
}

// gaps are the longest times without a run, the longest first.
func gaps(in Input, begin, end time.Time) []Gap {
	all := []Gap{}
	from := begin
	add := func(to time.Time, until iikanji.RunID) {
		if to.After(from) {
			all = append(all, Gap{From: from, To: to, Long: to.Sub(from), Until: until})
		}
	}
	for _, r := range in.Runs {
		add(r.Began, r.ID)
		if over := r.Began.Add(r.Took); over.After(from) {
			from = over
		}
	}
	if len(in.Runs) > 0 {
		add(end, 0)
	}
	slices.SortStableFunc(all, func(a, b Gap) int { return cmp.Compare(b.Long, a.Long) })
	return all[:min(len(all), mostGaps)]
}
