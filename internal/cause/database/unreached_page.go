package database

import (
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/cause/database/index"
	"github.com/pingcap/tidb/pkg/parser"
)

const (
	// unseenRows is the least number of rows that a statement which was not sent would
	// read without an index, and unseenShare the largest share of them with one.
	unseenRows  = 5000
	unseenShare = 0.2
)

var unreachedPage = cause.Declare(cause.PerDatabase, findUnreachedPage,
	cause.Cause{Code: "DB138", Title: "missing index of a page that the run did not reach", Of: iikanji.OfStatements, Relieves: cause.AnyLimit,
		Line:     "a statement in the source would read a whole table",
		Remedies: []cause.Way{cause.Plan("ddl", "add index", iikanji.RoleDatabase)}})

// findUnreachedPage reports indexes for statements that the source has and that no request of the
// run sent: a slow site reaches only a part of its pages in the time of a run. Their
// cost is not measured, so these findings have no gain and come last. Statements that
// no route reaches, and those of initialize, which write, do not count.
func findUnreachedPage(v *cause.View) []iikanji.Finding {
	seen := map[string]bool{}
	for _, d := range v.Digests {
		seen[d.Query.Digest] = true
	}
	if len(seen) == 0 {
		return nil
	}
	var load index.Workload
	place := map[string]cause.SentStatement{}
	p, db := parser.New(), mainSchema(v)
	for _, s := range v.Sends() {
		st, err := v.Schema.Parse(p, s.Text, db)
		if err != nil || st.Verb != "select" || seen[s.Digest] || !v.Routed(s.Service, s.Func) || v.OnlyResets(s.Service, s.Func) {
			continue
		}
		seen[s.Digest], place[s.Digest] = true, s
		load.Queries = append(load.Queries, index.Query{Digest: s.Digest, DB: db, SQL: s.Text, Count: 1})
	}
	return unseen(v, load, place)
}

// unseen are the findings about a workload that was not sent, of statements at
// places.
func unseen(v *cause.View, load index.Workload, place map[string]cause.SentStatement) []iikanji.Finding {
	var out []iikanji.Finding
	for _, p := range v.Schema.Advise(load).Add {
		if p.OnlyCovers() || leadsAlready(v, p) {
			continue
		}
		f := iikanji.Finding{Code: "DB138", Where: tableName(p.Table) + " " + shown(p.Index)}
		before, after := 0.0, 0.0
		for _, s := range p.Serves {
			before, after = max(before, s.RowsBefore), max(after, s.RowsAfter)
			at := place[s.Query.Digest]
			f.Evidence = append(f.Evidence, iikanji.Evidence{Source: at.Service + " " + at.Place,
				Text: fmt.Sprintf("%s: %s rows, %s with the index, by estimates", cause.Cut(at.Text, 120), cause.Number(s.RowsBefore), cause.Number(s.RowsAfter))})
		}
		if before < unseenRows || after > unseenShare*before {
			continue
		}
		f.Claim = fmt.Sprintf("no request of the run sent it, but the source has a statement that reads %s rows of %s, where an index on %s makes %s enough",
			cause.Number(before), p.Table.Name, leading(p.Index), cause.Number(after))
		f.Remedies = indexRemedies(v, p)
		out = append(out, f)
	}
	return out
}

// leadsAlready reports whether an index that DB101 advises begins with the same
// column as a proposal.
func leadsAlready(v *cause.View, p index.Proposal) bool {
	for _, a := range v.Advice.Add {
		if tableName(a.Table) == tableName(p.Table) && a.Index.Parts[0].Column == p.Index.Parts[0].Column {
			return true
		}
	}
	return false
}

// mainSchema is the schema that most statements were sent to.
func mainSchema(v *cause.View) string {
	counts, best := map[string]float64{}, ""
	for _, d := range v.Digests {
		if counts[d.Totals.DB] += d.Totals.Count; counts[d.Totals.DB] > counts[best] {
			best = d.Totals.DB
		}
	}
	return best
}
