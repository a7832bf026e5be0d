package summary

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
)

// A Comparison is where the time of two states goes: the share of each row, and the
// mean time of one answer or statement. Sums do not compare, because a faster site
// answers more requests in the same time.
type Comparison struct {
	Before string     `json:"before"` // what the first side is, in words
	After  string     `json:"after"`
	Rows   []Compared `json:"rows"` // those that took most first
}

// A Compared is one route, digest or service in both states.
type Compared struct {
	Key string `json:"key"`
	A   Side   `json:"before"`
	B   Side   `json:"after"`
}

// A Side is one state of a Compared.
type Side struct {
	Known bool    `json:"known"`
	Share float64 `json:"share"`                // of the time of all rows, 0..1
	Rate  float64 `json:"per_second,omitempty"` // how often
	Mean  float64 `json:"mean_ms"`              // milliseconds of one answer or statement; of a service: CPU per request
	P95   float64 `json:"p95_ms,omitempty"`     // weighted mean of the runs
	Rows  float64 `json:"examined,omitempty"`   // rows examined by one statement

	total float64 // milliseconds
}

// A group is the runs of one state.
type group struct {
	name string
	runs []*iikanji.Run
}

// requests counts the answers of the runs.
func (g group) requests() float64 {
	n := 0.0
	for _, r := range g.runs {
		for _, s := range r.Steps {
			n += float64(s.Count) // without those that the cache of a simulated browser answered
		}
	}
	return n
}

// compare finds the two states and compares them.
func (l *loader) compare() error {
	var seen []*Observed
	for i := range l.s.Observed {
		if l.s.Observed[i].detail != nil {
			seen = append(seen, &l.s.Observed[i])
		}
	}
	a, b := l.groups()
	scored := len(a.runs) > 0 && len(b.runs) > 0
	if len(seen) > 0 {
		first, last := observedGroup(seen[0]), observedGroup(seen[len(seen)-1])
		l.s.Digests = compareSides(first, last, digestsOf(seen[0]), digestsOf(seen[len(seen)-1]))
		if !scored { // a history of diagnose
			a, b = first, last
		}
	}
	if len(a.runs) > 0 && len(b.runs) > 0 {
		l.s.Routes = compareSides(a, b, routesOf(a), routesOf(b))
		l.s.CPU = compareSides(a, b, cpuOf(a), cpuOf(b))
	}
	if len(seen) == 1 { // there is one state only
		l.s.Digests.After = ""
		if !scored {
			l.s.Routes.After, l.s.CPU.After = "", ""
		}
	}
	return nil
}

// groups are the runs before and after: those of the last comparison, or the
// calibration and the latest runs, or the first and the last valid run.
func (l *loader) groups() (a, b group) {
	if h := l.s.Headline; h != nil {
		return l.group("without a change", h.Untouched), l.group("with all kept changes", h.Final)
	}
	var clean []*Run
	for i := range l.s.Runs {
		if r := &l.s.Runs[i]; r.Clean && r.Part != PartObserved {
			clean = append(clean, r)
		}
	}
	if len(clean) < 2 {
		return a, b
	}
	last := clean[len(clean)-1]
	first := slices.IndexFunc(clean, func(r *Run) bool { return r.Scenario == last.Scenario && SameLoad(r.Load, last.Load) && r != last })
	if first < 0 {
		return a, b
	}
	var same []iikanji.RunID
	for _, r := range clean[first:] {
		if !slices.Equal(r.With, clean[first].With) || !SameLoad(r.Load, last.Load) {
			break
		}
		if r != last {
			same = append(same, r.ID)
		}
	}
	return l.group(stateSays(clean[first].With), same), l.group(stateSays(last.With), []iikanji.RunID{last.ID})
}

// stateSays names a state by its changes.
func stateSays(with []iikanji.ChangeID) string {
	switch len(with) {
	case 0:
		return "without a change"
	case 1:
		return fmt.Sprintf("with change %d", with[0])
	}
	return "with changes " + list(with)
}

func list[T ~int](ids []T) string {
	var parts []string
	for _, id := range ids {
		parts = append(parts, fmt.Sprint(int(id)))
	}
	return strings.Join(parts, ", ")
}

func (l *loader) group(state string, ids []iikanji.RunID) group {
	g := group{}
	for _, id := range ids {
		if run := l.loaded[id]; run != nil {
			g.runs = append(g.runs, run)
		}
	}
	g.name = fmt.Sprintf("%s (run %s)", state, list(ids))
	if len(ids) > 1 {
		g.name = fmt.Sprintf("%s (runs %s)", state, list(ids))
	}
	return g
}

func observedGroup(o *Observed) group {
	return group{name: fmt.Sprintf("%s (run %d)", stateSays(o.With), o.Run), runs: []*iikanji.Run{o.detail.Run}}
}

// compareSides joins the rows of both states by key.
func compareSides(a, b group, as, bs map[string]Side) Comparison {
	c := Comparison{Before: a.name, After: b.name}
	share(as)
	share(bs)
	for key := range as {
		c.Rows = append(c.Rows, Compared{Key: key, A: as[key], B: bs[key]})
	}
	for key := range bs {
		if _, both := as[key]; !both {
			c.Rows = append(c.Rows, Compared{Key: key, B: bs[key]})
		}
	}
	slices.SortFunc(c.Rows, func(x, y Compared) int {
		return cmp.Or(cmp.Compare(max(y.A.Share, y.B.Share), max(x.A.Share, x.B.Share)), cmp.Compare(x.Key, y.Key))
	})
	return c
}

// share fills in the shares.
func share(sides map[string]Side) {
	all := 0.0
	for _, s := range sides {
		all += s.total
	}
	for key, s := range sides {
		if all > 0 {
			s.Share = s.total / all
			sides[key] = s
		}
	}
}

// seconds is the time of the load of all runs.
func (g group) seconds() float64 {
	sum := 0.0
	for _, r := range g.runs {
		sum += r.Took.Seconds()
	}
	return max(sum, 1e-9)
}

// routesOf sums up the steps of runs: the waiting time of clients, by route.
func routesOf(g group) map[string]Side {
	type sum struct{ count, total, p95 float64 }
	sums := map[string]*sum{}
	for _, r := range g.runs {
		for _, st := range r.Steps {
			if st.Count == 0 {
				continue
			}
			if sums[st.Step] == nil {
				sums[st.Step] = &sum{}
			}
			s := sums[st.Step]
			s.count += float64(st.Count)
			s.total += st.Total.Seconds() * 1e3
			s.p95 += float64(st.Count) * st.P95.Seconds() * 1e3
		}
	}
	sides := map[string]Side{}
	for key, s := range sums {
		sides[key] = Side{Known: true, Rate: s.count / g.seconds(), Mean: s.total / s.count, P95: s.p95 / s.count, total: s.total}
	}
	return sides
}

// cpuOf sums up the CPU time of each service.
func cpuOf(g group) map[string]Side {
	n := g.requests()
	sides := map[string]Side{}
	if n == 0 {
		return sides
	}
	for _, r := range g.runs {
		for _, u := range r.Usage {
			s := sides[u.Who]
			s.Known = true
			ms := (u.User + u.System).Seconds() * 1e3
			s.Mean += ms / n
			s.total += ms
			sides[u.Who] = s
		}
	}
	return sides
}

// digestsOf sums up the statements of an observed run, by fingerprint.
func digestsOf(o *Observed) map[string]Side {
	seconds := observedGroup(o).seconds()
	sides := map[string]Side{}
	for _, r := range o.detail.rows(iikanji.Slow) {
		if r.Count == 0 {
			continue
		}
		s := sides[r.Key]
		s.Known = true
		s.Rate += float64(r.Count) / seconds
		s.total += r.Total.Seconds() * 1e3
		s.Mean, s.P95 = r.Mean.Seconds()*1e3, r.P95.Seconds()*1e3
		if r.Query != nil {
			s.Rows = float64(r.Query.Examined) / float64(r.Count)
		}
		sides[r.Key] = s
	}
	return sides
}
