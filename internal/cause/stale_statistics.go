package cause

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
)

const (
	staleTimes = 10.0  // least factor between the estimated and the counted distinct values
	staleRows  = 500.0 // least rows of a table
	staleStep  = 100.0 // least difference in rows of a quoted step of a plan
	staleRead  = 10.0  // least factor between the examined rows and those of a plan by counted values
)

// A stale is a column whose statistics in the server are far from its data.
type stale struct {
	t             *table
	column        string // lower case
	held, counted float64
}

var staleStatistics = Declare(PerDatabase, findStaleStatistics,
	Cause{Code: "DB205", Title: "statistics out of date", Of: iikanji.OfStatements, Relieves: AnyLimit,
		Line:     "the optimizer's row estimates are far from the actual numbers",
		Remedies: []Way{Patch}})

// findStaleStatistics reports statements that were planned by wrong statistics. Three
// conditions must hold: an index that joins one table to another is much more,
// or much less, selective than the server estimates; the statement examined
// many times the rows of the best plan by counted values; and the difference is
// considerable. Predicates with constants do not count: for them the server
// probes the index itself.
func findStaleStatistics(v *view) []iikanji.Finding {
	plans := known[iikanji.QueryPlan](v, iikanji.TopicQueryPlan)
	real := avail{}
	for _, t := range v.schema.tables {
		real[t] = t.real()
	}
	byTable := map[*table]*iikanji.Finding{}
	var tables []*table
	for _, d := range v.digests {
		s, ok := v.stale(d)
		if !ok || d.q.Count == 0 {
			continue
		}
		met, need := d.q.Examined/d.q.Count, max(1, v.schema.accessPlan(d.st, real).rows)
		if met < staleRead*need || !v.considerable((met-need)*d.q.Count) {
			continue
		}
		f := byTable[s.t]
		if f == nil {
			f = &iikanji.Finding{Code: "DB205", Where: s.t.name(),
				Claim: fmt.Sprintf("the statistics of %s are out of date: they have %s distinct values of %s, the table has %s",
					s.t.Name, people(s.held), s.column, people(s.counted)),
				Evidence: []iikanji.Evidence{{Source: "statistics", Text: fmt.Sprintf("cardinality of %s.%s: %.0f; counted: %.0f in %s", s.t.name(), s.column, s.held, s.counted, plural(s.t.rows(), "row"))}},
				Remedies: v.patch("run ANALYZE TABLE "+s.t.Name+" after initialize has loaded it, and find out why the server does not renew its statistics (STATS_AUTO_RECALC=0, innodb_stats_auto_recalc)",
					map[string]string{"table": s.t.Name})}
			byTable[s.t], tables = f, append(tables, s.t)
		}
		f.Gain.Hi += d.left() * (1 - need/met)
		f.Evidence = append(f.Evidence, d.evidence(), iikanji.Evidence{Source: "arithmetic", Text: fmt.Sprintf("with the counted values %s rows are enough, %s were read", people(need), people(met))})
		f.Evidence = append(f.Evidence, misjudged(plans[v.self.Name+" "+d.Query.Digest])...)
	}
	var out []iikanji.Finding
	for _, t := range tables {
		byTable[t].Gain.Hi = round(byTable[t].Gain.Hi)
		out = append(out, *byTable[t])
	}
	return out
}

// stale is the join column of a statement whose estimate is the farthest off.
func (v *view) stale(d digest) (worst stale, ok bool) {
	if d.st == nil {
		return worst, false
	}
	for _, blk := range d.st.blocks {
		for _, p := range blk.preds {
			t := blk.refs[p.ref].table
			if p.kind != predJoin || t == nil || t.rows() < staleRows || !t.leads(p.col) {
				continue
			}
			s := stale{t: t, column: p.col, counted: t.distinct(p.col)}
			for name, n := range t.size.Held {
				if strings.EqualFold(name, p.col) {
					s.held = n
				}
			}
			if off := s.off(); off >= staleTimes && (!ok || off > worst.off()) {
				worst, ok = s, true
			}
		}
	}
	return worst, ok
}

// off is the factor between the estimate and the count; 1 if one is unknown.
func (s stale) off() float64 {
	if s.held <= 0 || s.counted <= 0 {
		return 1
	}
	return max(s.held/s.counted, s.counted/s.held)
}

// leads reports whether an index begins with a column.
func (t *table) leads(col string) bool {
	return slices.ContainsFunc(t.real(), func(ix *index) bool { return len(ix.cols) > 0 && ix.cols[0] == col })
}

// misjudged quotes the steps of an executed plan whose rows were far from the
// estimate.
func misjudged(p iikanji.QueryPlan) []iikanji.Evidence {
	var out []iikanji.Evidence
	for _, s := range p.Steps {
		low, high := min(s.Rows, s.Foreseen), max(s.Rows, s.Foreseen)
		if p.Ran && s.Foreseen > 0 && high >= staleTimes*low && high-low >= staleStep {
			out = append(out, iikanji.Evidence{Source: "plan", Text: fmt.Sprintf("%s (%s): %s estimated each time, %s read", s.Table, s.Access, plural(s.Foreseen, "row"), people(s.Rows))})
		}
	}
	return out
}
