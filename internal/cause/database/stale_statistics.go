package database

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/cause/database/index"
	"github.com/iikanji/iikanji/internal/lang/catalog"
	"github.com/iikanji/iikanji/internal/site/fact"
)

const (
	staleTimes = 10.0  // least factor between the estimated and the counted distinct values
	staleRows  = 500.0 // least rows of a table
	staleStep  = 100.0 // least difference in rows of a quoted step of a plan
	staleRead  = 10.0  // least factor between the examined rows and those of a plan by counted values
)

// A stale is a column whose statistics in the server are far from its data.
type stale struct {
	t             *index.Table
	column        string // lower case
	held, counted float64
}

var staleStatistics = cause.Declare(cause.PerDatabase, findStaleStatistics,
	cause.Cause{Code: "DB205", Title: "statistics out of date", Of: iikanji.OfStatements, Relieves: cause.AnyLimit,
		Line:     "the optimizer's row estimates are far from the actual numbers",
		Remedies: []cause.Way{cause.Patch}})

// findStaleStatistics reports statements that were planned by wrong statistics. Three
// conditions must hold: an index that joins one table to another is much more,
// or much less, selective than the server estimates; the statement examined
// many times the rows of the best plan by counted values; and the difference is
// considerable. Predicates with constants do not count: for them the server
// probes the index itself.
func findStaleStatistics(v *cause.View) []iikanji.Finding {
	plans := cause.FactsOf(v, fact.TopicPlan)
	real := index.Available{}
	for _, t := range v.Schema.Tables {
		real[t] = t.Existing()
	}
	byTable := map[*index.Table]*iikanji.Finding{}
	var tables []*index.Table
	for _, d := range v.Digests {
		s, ok := staleOf(v, d)
		if !ok || d.Totals.Count == 0 {
			continue
		}
		met, need := d.Totals.Examined/d.Totals.Count, max(1, v.Schema.AccessPlan(d.Parsed, real).Rows)
		if met < staleRead*need || !v.Considerable((met-need)*d.Totals.Count) {
			continue
		}
		f := byTable[s.t]
		if f == nil {
			f = &iikanji.Finding{Code: "DB205", Where: s.t.FullName(),
				Claim: fmt.Sprintf("the statistics of %s are out of date: they have %s distinct values of %s, the table has %s",
					s.t.Name, cause.Number(s.held), s.column, cause.Number(s.counted)),
				Evidence: []iikanji.Evidence{{Source: "statistics", Text: fmt.Sprintf("cardinality of %s.%s: %.0f; counted: %.0f in %s", s.t.FullName(), s.column, s.held, s.counted, cause.Plural(s.t.Rows(), "row"))}},
				Remedies: v.Patch("run ANALYZE TABLE "+s.t.Name+" after initialize has loaded it, and find out why the server does not renew its statistics (STATS_AUTO_RECALC=0, innodb_stats_auto_recalc)",
					map[string]string{"table": s.t.Name})}
			byTable[s.t], tables = f, append(tables, s.t)
		}
		f.Gain.Hi += d.Left() * (1 - need/met)
		f.Evidence = append(f.Evidence, d.Evidence(), iikanji.Evidence{Source: "arithmetic", Text: fmt.Sprintf("with the counted values %s rows are enough, %s were read", cause.Number(need), cause.Number(met))})
		f.Evidence = append(f.Evidence, misjudged(plans[v.Self.Name+" "+d.Query.Digest])...)
	}
	var out []iikanji.Finding
	for _, t := range tables {
		byTable[t].Gain.Hi = cause.Round(byTable[t].Gain.Hi)
		out = append(out, *byTable[t])
	}
	return out
}

// staleOf is the join column of a statement whose estimate is the farthest off.
func staleOf(v *cause.View, d cause.Digest) (worst stale, ok bool) {
	if d.Parsed == nil {
		return worst, false
	}
	for _, blk := range d.Parsed.Blocks {
		for _, p := range blk.Predicates {
			t := blk.Refs[p.Ref].Table
			if p.Kind != index.PredJoin || t == nil || t.Rows() < staleRows || !leads(t, p.Col) {
				continue
			}
			s := stale{t: t, column: p.Col, counted: t.Distinct(p.Col)}
			for name, n := range t.Size.Held {
				if strings.EqualFold(name, p.Col) {
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
func leads(t *index.Table, col string) bool {
	return slices.ContainsFunc(t.Existing(), func(ix *index.Index) bool { return len(ix.Cols) > 0 && ix.Cols[0] == col })
}

// misjudged quotes the steps of an executed plan whose rows were far from the
// estimate.
func misjudged(p catalog.QueryPlan) []iikanji.Evidence {
	var out []iikanji.Evidence
	for _, s := range p.Steps {
		low, high := min(s.Rows, s.Foreseen), max(s.Rows, s.Foreseen)
		if p.Ran && s.Foreseen > 0 && high >= staleTimes*low && high-low >= staleStep {
			out = append(out, iikanji.Evidence{Source: "plan", Text: fmt.Sprintf("%s (%s): %s estimated each time, %s read", s.Table, s.Access, cause.Plural(s.Foreseen, "row"), cause.Number(s.Rows))})
		}
	}
	return out
}
