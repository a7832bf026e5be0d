package cause

import (
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/pingcap/tidb/pkg/parser"
)

const (
	// unseenRows is the least number of rows that a statement which was not sent would
	// read without an index, and unseenShare the largest share of them with one.
	unseenRows  = 5000
	unseenShare = 0.2
)

var unreachedPage = Declare(PerDatabase, findUnreachedPage,
	Cause{Code: "DB138", Title: "missing index of a page that the run did not reach", Of: iikanji.OfStatements, Relieves: AnyLimit,
		Line:     "a statement in the source would read a whole table",
		Remedies: []Way{Plan("ddl", "add index", iikanji.RoleDatabase)}})

// findUnreachedPage reports indexes for statements that the source has and that no request of the
// run sent: a slow site reaches only a part of its pages in the time of a run. Their
// cost is not measured, so these findings have no gain and come last. Statements that
// no route reaches, and those of initialize, which write, do not count.
func findUnreachedPage(v *view) []iikanji.Finding {
	seen := map[string]bool{}
	for _, d := range v.digests {
		seen[d.Query.Digest] = true
	}
	if len(seen) == 0 {
		return nil
	}
	var load Workload
	place := map[string]sent{}
	p, db := parser.New(), v.mainSchema()
	for _, s := range v.sends() {
		st, err := v.schema.parse(p, s.Text, db)
		if err != nil || st.verb != "select" || seen[s.Digest] || !v.routed(s.service, s.Func) {
			continue
		}
		seen[s.Digest], place[s.Digest] = true, s
		load.Queries = append(load.Queries, Query{Digest: s.Digest, DB: db, SQL: s.Text, Count: 1})
	}
	return v.unseen(load, place)
}

// unseen are the findings about a workload that was not sent, of statements at
// places.
func (v *view) unseen(load Workload, place map[string]sent) []iikanji.Finding {
	var out []iikanji.Finding
	for _, p := range v.schema.Advise(load).Add {
		if p.onlyCovers() || v.leadsAlready(p) {
			continue
		}
		f := iikanji.Finding{Code: "DB138", Where: tableName(p.Table) + " " + shown(p.Index)}
		before, after := 0.0, 0.0
		for _, s := range p.Serves {
			before, after = max(before, s.RowsBefore), max(after, s.RowsAfter)
			at := place[s.Query.Digest]
			f.Evidence = append(f.Evidence, iikanji.Evidence{Source: at.service + " " + at.place,
				Text: fmt.Sprintf("%s: %s rows, %s with the index, by estimates", cut(at.Text, 120), people(s.RowsBefore), people(s.RowsAfter))})
		}
		if before < unseenRows || after > unseenShare*before {
			continue
		}
		f.Claim = fmt.Sprintf("no request of the run sent it, but the source has a statement that reads %s rows of %s, where an index on %s makes %s enough",
			people(before), p.Table.Name, leading(p.Index), people(after))
		f.Remedies = v.indexRemedies(p)
		out = append(out, f)
	}
	return out
}

// leadsAlready reports whether an index that DB101 advises begins with the same
// column as a proposal.
func (v *view) leadsAlready(p Proposal) bool {
	for _, a := range v.advice.Add {
		if tableName(a.Table) == tableName(p.Table) && a.Index.Parts[0].Column == p.Index.Parts[0].Column {
			return true
		}
	}
	return false
}

// mainSchema is the schema that most statements were sent to.
func (v *view) mainSchema() string {
	counts, best := map[string]float64{}, ""
	for _, d := range v.digests {
		if counts[d.q.DB] += d.q.Count; counts[d.q.DB] > counts[best] {
			best = d.q.DB
		}
	}
	return best
}
