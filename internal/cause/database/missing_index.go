package database

import (
	"fmt"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/cause/database/index"
	"github.com/iikanji/iikanji/internal/lang/catalog"
)

var missingIndex = cause.Declare(cause.PerDatabase, findMissingIndex,
	cause.Cause{Code: "DB101", Title: "missing index", Of: iikanji.OfStatements, Relieves: cause.AnyLimit,
		Line:     "a heavy query reads many rows that an index would skip",
		Remedies: []cause.Way{cause.Plan("ddl", "add index", iikanji.RoleDatabase)}},
	cause.Cause{Code: "DB102", Title: "wrong-column index", Of: iikanji.OfStatements, Relieves: cause.AnyLimit,
		Line:     "an index begins with the right column and continues with one that the query does not use",
		Remedies: []cause.Way{cause.Plan("ddl", "add index", iikanji.RoleDatabase)}})

// findMissingIndex reports indexes to add: DB101, DB102 where an existing index continues
// with the wrong column, DB108 for geometry.
func findMissingIndex(v *cause.View) []iikanji.Finding {
	var out []iikanji.Finding
	for _, p := range v.Advice.Add {
		if p.OnlyCovers() && v.OnHistories(p) {
			continue // once the history is no longer read, neither are these rows
		}
		f := iikanji.Finding{Code: "DB101", Where: tableName(p.Table) + " " + shown(p.Index)}
		rows := [2]float64{}
		for _, s := range p.Serves {
			g := index.Saving(s)
			f.Gain.Lo, f.Gain.Hi = f.Gain.Lo+g.Lo, f.Gain.Hi+g.Hi
			if s.Work() > 0 {
				rows[0] += s.Before() * s.Query.Reads()
				rows[1] += s.After() * s.Query.Reads()
				f.Evidence = append(f.Evidence, served(s))
				f.Evidence = append(f.Evidence, tooShort(v, s)...)
			}
		}
		f.Gain = iikanji.Range{Lo: cause.Round(f.Gain.Lo), Hi: cause.Round(f.Gain.Hi)}
		if !v.Considerable(p.Work()) {
			continue
		}
		f.Claim = fmt.Sprintf("%s has no index on %s: %s rows are read where %s are enough",
			p.Table.Name, leading(p.Index), cause.Number(rows[0]), cause.Number(rows[1]))
		switch {
		case p.Gathers:
			f.Claim = fmt.Sprintf("matches of %s are counted by different columns, and no index contains all of them: each count reads rows, or looks them up one by one", p.Table.Name)
		case p.OnlyCovers():
			f.Claim = fmt.Sprintf("%s rows of %s are looked up one by one, for columns that an index on %s could contain", cause.Number(rows[0]), p.Table.Name, leading(p.Index))
		case p.Index.Kind == "spatial":
			f.Code = "DB108"
			f.Claim = fmt.Sprintf("%s is searched by area and has no spatial index that the server can use", p.Table.Name)
		case p.Wrong:
			f.Code = "DB102"
			f.Claim = fmt.Sprintf("index %s %s of %s continues with a column that no query uses: %s rows are read where %s are enough",
				p.Replaces.Name, shown(*p.Replaces), p.Table.Name, cause.Number(rows[0]), cause.Number(rows[1]))
			f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "schema", Text: "index " + p.Replaces.Name + " " + shown(*p.Replaces)})
		case p.Replaces != nil:
			f.Claim = fmt.Sprintf("index %s %s of %s is too short: %s rows are read where %s are enough",
				p.Replaces.Name, shown(*p.Replaces), p.Table.Name, cause.Number(rows[0]), cause.Number(rows[1]))
		}
		f.Remedies = indexRemedies(v, p)
		out = append(out, f)
	}
	return out
}

func served(s index.Served) iikanji.Evidence {
	text := fmt.Sprintf("%s× %s: %s rows each, %s with the index", cause.Number(s.Query.Count), cause.Cut(s.Query.SQL, 120), cause.Number(s.Before()), cause.Number(s.After()))
	if s.Query.Cached > 0 {
		text += fmt.Sprintf("; the query cache answered %s of them", cause.Number(s.Query.Cached))
	}
	if s.SortBefore && !s.SortAfter {
		text += ", and no sort"
	}
	if s.TempBefore && !s.TempAfter {
		text += ", and no temporary table"
	}
	return iikanji.Evidence{Source: "digest " + s.Query.Digest, Text: text}
}

// tooShort is evidence that the logged time of a statement is too short for the rows that it read.
func tooShort(v *cause.View, s index.Served) []iikanji.Evidence {
	logged, ok := v.TooShort(s.Query.Digest)
	if !ok {
		return nil
	}
	return []iikanji.Evidence{{Source: "trace", Text: fmt.Sprintf("the logged times, %.2g s in all, contradict %s rows: a trace of SQLite ends the time of a SELECT before its rows are read; counted are %.1f s, 50 ns a row",
		logged, cause.Number(s.Before()*s.Query.Reads()), s.Query.Seconds)}}
}

// indexRemedies are the remedies of kind ddl. Args["columns"] is the column
// list as in DDL, with directions and prefixes.
func indexRemedies(v *cause.View, p index.Proposal) []iikanji.Remedy {
	args := map[string]string{"act": "add index", "schema": p.Table.Schema, "table": p.Table.Name, "columns": columnList(p.Index), "index": p.Index.Kind}
	says := fmt.Sprintf("add index %s on %s", shown(p.Index), p.Table.Name)
	if p.Replaces != nil {
		args["drop"] = p.Replaces.Name
		says += " in place of " + p.Replaces.Name
	}
	if p.Index.Kind == "spatial" {
		for _, c := range p.Table.Columns {
			if c.Name != p.Index.Parts[0].Column {
				continue
			}
			if c.Nullable {
				args["not null"] = "true"
				says += ", after making the column NOT NULL"
			}
			if v.Schema.Server.SpatialWantsSRID() && c.SRID == nil {
				args["srid"] = "0"
				says += ", and declaring SRID 0 (otherwise the server ignores the index)"
			}
		}
	}
	changed := []catalog.Index{p.Index}
	if p.Replaces != nil {
		changed = append(changed, *p.Replaces)
	}
	best := ordered(v, v.OnSelf("ddl", says, args), p.Table, changed...)
	if best.Proves(iikanji.RowsSorted) {
		return []iikanji.Remedy{best}
	}
	return inOrder(v, p, best)
}

// asGood is how much more the statements may cost with an index that keeps the order of all
// rows than with the best one, for the latter not to be offered.
const asGood = 1.5

// inOrder are the remedies where the best index may reorder rows: a narrower one that does
// not, alone if it is nearly as good, otherwise behind the best.
func inOrder(v *cause.View, p index.Proposal, best iikanji.Remedy) []iikanji.Remedy {
	narrow, ok := v.Schema.Narrower(p, func(ix catalog.Index) bool {
		free, _ := unsorted(v, p.Table, func(st *index.Statement, t *index.Table) bool { return st.MayReorder(t, ix) })
		return len(free) > 0
	})
	if !ok {
		return []iikanji.Remedy{best}
	}
	args := map[string]string{"act": "add index", "schema": p.Table.Schema, "table": p.Table.Name, "columns": columnList(narrow.Index), "index": narrow.Index.Kind}
	says := fmt.Sprintf("add index %s on %s, which keeps the order of rows", shown(narrow.Index), p.Table.Name)
	keeps := ordered(v, v.OnSelf("ddl", says, args), p.Table, narrow.Index)
	if narrow.Cost() <= asGood*p.Cost() {
		return []iikanji.Remedy{keeps}
	}
	return []iikanji.Remedy{best, keeps}
}

func tableName(t catalog.Table) string {
	if t.Schema == "" {
		return t.Name
	}
	return t.Schema + "." + t.Name
}

// shown formats the parts of an index for people.
func shown(ix catalog.Index) string { return "(" + columnList(ix) + ")" }

func columnList(ix catalog.Index) string {
	var parts []string
	for _, p := range ix.Parts {
		parts = append(parts, p.String())
	}
	return strings.Join(parts, ", ")
}

// leading names the columns of an index in a sentence.
func leading(ix catalog.Index) string {
	if len(ix.Parts) == 1 {
		return ix.Parts[0].Column
	}
	return shown(ix)
}
