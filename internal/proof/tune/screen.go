package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/load"
	"github.com/iikanji/iikanji/internal/proof/judge"
	"github.com/iikanji/iikanji/internal/proof/stats"
)

const (
	// leastFactors is the least number of candidates that are screened: fewer are
	// tried alone in as many runs.
	leastFactors = 3
	// mostFactors is the largest number that a design has room for.
	mostFactors = 17
	// screenShare is the largest part of the rest of the search that a screening of more
	// than shortScreen runs takes: the others that wait, as rewrites of source, need time, too.
	screenShare = 1. / 3
	shortScreen = 8
	// afterScreen is how many runs must be left to try the candidates that a
	// screening favours.
	afterScreen = 4
)

// A screening is what is known of candidates from a factorial design.
type screening struct {
	found   map[string]judge.Screening // by the candidate's key
	broken  map[string]bool            // likewise, of those whose design could not be finished
	binding string                     // the limit under which they were screened
}

// screened is what a screening found of a candidate with a key.
func (q *queue) screened(key string) (judge.Screening, bool) {
	if q.screening.binding != q.binding() {
		return judge.Screening{}, false
	}
	s, ok := q.screening.found[key]
	return s, ok
}

// believe sets the chance and the gain of candidates that were screened.
func (q *queue) believe(cs []Candidate) []Candidate {
	cs = slices.Clone(cs)
	for i := range cs {
		if s, ok := q.screened(cs[i].Key()); ok {
			cs[i].Chance, cs[i].Gain = s.Belief(cs[i].Chance)
			cs[i].Gain = max(0, cs[i].Gain)
		}
		if cs[i].rewrites() {
			cs[i].Chance *= q.prospects(cs[i])
		}
		cs[i].Chance *= q.anotherChance(cs[i])
	}
	return cs
}

// factors are the candidates to screen together with first, best first, and not
// more than the time allows; nil if they are too few.
func (q *queue) factors(first Candidate) []Candidate {
	if first.rewrites() {
		return nil // each run of a design would build the app anew
	}
	parts := slices.DeleteFunc(q.handful(first, mostFactors), func(c Candidate) bool {
		_, known := q.screened(c.Key())
		return known || q.screening.broken[c.Key()]
	})
	if _, known := q.screened(first.Key()); known || q.screening.broken[first.Key()] || q.ledger.Open != nil {
		return nil
	}
	for len(parts) >= leastFactors {
		n := stats.FactorialRuns(len(parts))
		if n > 0 && q.cost > 0 && q.timeFor() >= q.cost*time.Duration(n+afterScreen) && (n <= shortScreen || float64(n) <= screenShare*q.runsLeft()) {
			return parts
		}
		parts = parts[:len(parts)-1]
	}
	return nil
}

// unscreened is the handful to try together where the time does not suffice for a
// screening; nil if the candidate was screened: it is tried alone.
func (q *queue) unscreened(first Candidate) []Candidate {
	if _, known := q.screened(first.Key()); known {
		return nil
	}
	return slices.DeleteFunc(q.handful(first, mostParts), func(c Candidate) bool {
		_, known := q.screened(c.Key())
		return known
	})
}

// screen makes the runs of a factorial design and notes what each part brings. About
// half of the parts are applied in each run. Those that the design
// favours are then tried together, as one change. tried is false if there was
// nothing to screen or if the design could not be finished.
func (t *Tuner) screen(ctx context.Context, parts []Candidate) (tried bool, err error) {
	if len(parts) < leastFactors {
		return false, nil
	}
	d := &design{shared: t.shared, restorer: t.restorer, runner: t.runner, planner: t.planner, queue: t.queue, variants: map[string]*iikanji.Change{}}
	if err := d.plan(ctx, parts); err != nil || len(d.parts) < leastFactors {
		return err == nil && len(d.parts) < len(parts), err
	}
	t.say("screening %d candidates together in %d runs: each run has about half of them", len(d.parts), stats.FactorialRuns(len(d.parts)))
	t.fresh = nil
	err = d.run(ctx)
	if e := d.away(ctx); err == nil {
		err = e
	}
	if err != nil {
		return true, err
	}
	if d.why != "" {
		t.say("the screening ended: %s", d.why)
		if d.learned { // the next design has them in the schema file
			return true, nil
		}
		for _, p := range d.parts { // not screened again: they are tried in smaller groups
			t.screening.broken[p.Key()] = true
		}
		return false, nil
	}
	d.note()
	return true, t.favoured(ctx, d.parts)
}

// A screening favours a candidate that it does not prove if its gain on ln(score) is
// considerable, and would be as large by chance in one of ten screenings. A smaller one
// is worth less than the risk to keep a change without an effect.
const (
	favours      = 0.1
	considerable = 0.05
)

// favoured tries the parts that a screening favours, as one change if there are
// several. Each alone would need many pairs more, and their sum needs few.
func (t *Tuner) favoured(ctx context.Context, parts []Candidate) error {
	var best []Candidate
	for _, p := range parts {
		if s, ok := t.screened(p.Key()); ok && (s.Proven(judge.LeastWorth) || s.P <= favours && s.Effect >= considerable) {
			best = append(best, p)
		}
	}
	if len(best) < 2 {
		return nil // the queue has it first
	}
	_, err := t.together(ctx, best, "the screening favours each")
	return err
}

// proved reports whether a screening under the present limit proved a gain of a
// candidate.
func (q *queue) proved(key string) bool {
	s, ok := q.screened(key)
	return ok && s.Proven(judge.LeastWorth)
}

// alone is the verdict of a screening on one change; nil if it proved no gain.
func (q *queue) alone(c Candidate, planned *iikanji.Change) *iikanji.Verdict {
	s, ok := q.screened(c.Key())
	if !ok || !s.Proven(judge.Worth(planned)) {
		return nil
	}
	v := s.Verdict(q.judge, judge.Worth(planned))
	v.Why = fmt.Sprintf("%s, proven alone in a screening of %d runs", percentText(s.Effect), len(s.On)+len(s.Off))
	return &v
}

// A design is a factorial design under way.
type design struct {
	shared
	*restorer
	*runner
	*planner
	*queue
	parts    []Candidate
	first    []*iikanji.Change // planned on the site as it is
	variants map[string]*iikanji.Change
	applied  []*iikanji.Change // in the order of application
	keys     []string          // of applied
	rows     [][]bool
	runs     []*iikanji.Run
	why      string // the reason why the design could not be finished
	// learned: the design ended because of what the search did not know, that
	// initialize makes tables anew.
	learned bool
}

// plan plans each part on the site as it is. Parts that cannot be planned are
// recorded as not tried.
func (d *design) plan(ctx context.Context, parts []Candidate) error {
	for _, p := range parts {
		c, refused, err := d.look(ctx, d.inFile(p))
		if err != nil {
			return err
		}
		if refused != nil {
			d.skip(p, refused)
			continue
		}
		d.parts, d.first = append(d.parts, p), append(d.first, c)
	}
	return nil
}

// inFile is the candidate as it has to be planned now.
func (pl *planner) inFile(c Candidate) Candidate {
	if pl.ledger.Wiped {
		c.Remedy = change.IntoSchemaFile(c.Remedy)
	}
	return c
}

// skip records a candidate that cannot be planned.
func (pl *planner) skip(c Candidate, refused error) {
	pl.say("not tried: %s: %s", c.Remedy.Says, firstLine(refused.Error()))
	pl.ledger.Attempts = append(pl.ledger.Attempts, Attempt{Candidate: c, Key: c.Key(), Says: c.Remedy.Says, Binding: pl.binding(), Skipped: refused.Error()})
}

// run makes the runs. A run that fails its checks or shows a wrong answer ends the
// design: which part is the cause is found in smaller groups.
func (d *design) run(ctx context.Context) error {
	rows := stats.Factorial(len(d.parts), d.rng)
	for i := 0; i < len(rows) && d.why == ""; {
		d.show(func(v *View) {
			v.Phase, v.Doing, v.Purpose = "trial", fmt.Sprintf("screening %d candidates, run %d of %d", len(d.parts), i+1, len(rows)), "which of them bring something?"
			v.Pairs, v.Effect = 0, nil
		})
		if err := d.put(ctx, rows[i]); err != nil || d.why != "" {
			return err
		}
		run, void, err := d.bench(ctx, load.Spec{Load: d.options.Short, Trial: len(d.applied) > 0}, d.applied...)
		if err != nil {
			return err
		}
		if void != "" {
			continue
		}
		if d.suspect(run) {
			return nil
		}
		if err := d.checkWiped(ctx); err != nil || d.why != "" {
			return err
		}
		d.rows, d.runs = append(d.rows, rows[i]), append(d.runs, run)
		i++
	}
	return nil
}

// suspect reports whether a run shows that a part may be harmful to the site.
func (d *design) suspect(run *iikanji.Run) bool {
	c := judge.Case{Known: d.knownFaults(), Pairs: []judge.Pair{{A: run, B: run}}}
	switch {
	case judge.Failed(run):
		d.why = fmt.Sprintf("run %d failed its checks with %d of them", run.ID, len(d.applied))
	case d.judge.NewFault(c):
		d.why = fmt.Sprintf("run %d shows a new fault with %d of them", run.ID, len(d.applied))
	}
	return d.why != ""
}

// checkWiped ends the design if initialize undid a part.
func (d *design) checkWiped(ctx context.Context) error {
	wiped, err := d.wiped(ctx, d.applied)
	if wiped {
		d.learned = !d.ledger.Wiped
		d.ledger.Wiped = true
		d.why = "initialize makes a table anew and wipes a part of it out"
	}
	return err
}

// A wanted is a part that a row has, with the earlier parts of the row whose places it
// alters: it is planned anew, on the state that these leave. The key names all of them.
type wanted struct {
	part  int
	under []int
	key   string
}

// wantedOf are the parts of a row in their order.
func (d *design) wantedOf(row []bool) []wanted {
	var all []wanted
	for i, on := range row {
		if !on {
			continue
		}
		w := wanted{part: i, key: fmt.Sprint(i)}
		for _, o := range all {
			if touch(d.first[o.part], d.first[i]) {
				w.under, w.key = append(w.under, o.part), w.key+fmt.Sprint(" ", o.part)
			}
		}
		all = append(all, w)
	}
	return all
}

// put brings the site into the state of a row. A part that the site has already stays,
// unless a part below it at the same place goes or comes.
func (d *design) put(ctx context.Context, row []bool) error {
	all := d.wantedOf(row)
	stays, keep := map[int]bool{}, map[string]bool{}
	for _, w := range all {
		stays[w.part] = slices.Contains(d.keys, w.key) && !slices.ContainsFunc(w.under, func(part int) bool { return !stays[part] })
		keep[w.key] = stays[w.part]
	}
	for n := len(d.applied) - 1; n >= 0; n-- {
		if keep[d.keys[n]] {
			continue
		}
		if err := d.acts.Revert(ctx, d.applied[n].ID, "the next run of the screening"); err != nil {
			return err
		}
		d.applied, d.keys = slices.Delete(d.applied, n, n+1), slices.Delete(d.keys, n, n+1)
	}
	for _, w := range all {
		if stays[w.part] {
			continue
		}
		if err := d.add(ctx, w.part, w.key); err != nil || d.why != "" {
			return err
		}
	}
	return nil
}

// add applies one part.
func (d *design) add(ctx context.Context, part int, key string) error {
	c := d.variants[key]
	if c == nil {
		c = d.first[part]
		if strings.Contains(key, " ") {
			planned, refused, err := d.look(ctx, d.inFile(d.parts[part]))
			if err != nil {
				return err
			}
			if refused != nil {
				d.why = fmt.Sprintf("%s cannot be made together with others: %s", d.parts[part].Remedy.Says, firstLine(refused.Error()))
				return nil
			}
			c = planned
		}
		if err := d.store.AddChange(c, change.Diff(c)); err != nil {
			return err
		}
		d.variants[key] = c
	}
	err := d.acts.Apply(ctx, c.ID)
	if err == nil {
		d.applied, d.keys = append(d.applied, c), append(d.keys, key)
		return nil
	}
	now, e := d.store.LoadChange(c.ID)
	var moved *change.MovedError
	if ctx.Err() != nil || errors.As(err, &moved) || e != nil || now.Stage != iikanji.Reverted {
		return errors.Join(err, e)
	}
	d.why = "the site did not take " + c.Says + ": " + firstLine(err.Error())
	return nil
}

// away undoes the parts, even when ctx is done.
func (d *design) away(ctx context.Context) error {
	return d.undo(ctx, d.applied, "the screening is over")
}

// note keeps the results of the runs.
func (d *design) note() {
	for i, s := range d.judge.Screen(d.rows, d.runs) {
		p := d.parts[i]
		d.screening.found[p.Key()] = s
		d.say("screened: %s: %s (± %.1f)%s", p.Remedy.Says, percentText(s.Effect), 100*s.SE, cmp.Or(map[bool]string{true: ", a gain is proven"}[s.Proven(judge.LeastWorth)]))
	}
}

// percentText prints an effect on ln(score).
func percentText(d float64) string { return fmt.Sprintf("%+.1f %%", stats.Percent(d)) }
