package database

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/cause/database/index"
	"github.com/iikanji/iikanji/internal/lang/catalog"
)

const (
	hotTable   = 0.05 // least share of the run's work on a table
	keyedShown = 4    // statements in the evidence
	keyedLook  = 0.3  // largest share of a statement's time that a primary key saves
)

var noPrimaryKey = cause.Declare(cause.PerDatabase, findNoPrimaryKey,
	cause.Cause{Code: "DB121", Title: "table without a primary key", Of: iikanji.OfStatements, Relieves: cause.AnyLimit,
		Line:     "rows are stored under a hidden key and found by scanning",
		Remedies: []cause.Way{cause.Patch}})

// findNoPrimaryKey reports frequently used tables without a primary key and without a
// unique key of NOT NULL columns. InnoDB then clusters the rows by a hidden
// number, so that every row is found through a secondary index or by a scan.
func findNoPrimaryKey(v *cause.View) []iikanji.Finding {
	var out []iikanji.Finding
	for _, t := range v.Schema.Tables {
		if !strings.EqualFold(t.Engine, "InnoDB") || keyed(t) {
			continue
		}
		f := iikanji.Finding{Code: "DB121", Where: t.FullName()}
		work := 0.0
		for _, d := range v.Digests {
			reads := touches(v, d, t)
			if !reads && (d.Parsed == nil || d.Parsed.Into != t) {
				continue
			}
			work += cause.WorkOf(d)
			if reads { // writing does not search for a row
				f.Gain.Hi += d.Left() * keyedLook / float64(len(d.Parsed.Tables()))
			}
			f.Evidence = append(f.Evidence, d.Evidence())
		}
		if !v.Considerable(work) || work < hotTable*v.Work {
			continue
		}
		schema := iikanji.Evidence{Source: "schema", Text: fmt.Sprintf("%s, %s, has %s", t.FullName(), cause.Plural(t.Rows(), "row"), indexed(t))}
		f.Evidence = append([]iikanji.Evidence{schema}, f.Evidence[:min(len(f.Evidence), keyedShown)]...)
		f.Gain.Hi = cause.Round(f.Gain.Hi)
		key := candidate(t)
		says := "add a primary key: the columns that identify a row, or a new column (BIGINT AUTO_INCREMENT PRIMARY KEY)"
		if key != "" {
			says = fmt.Sprintf("make %s its primary key: it is never NULL and all %s values differ", key, cause.Number(t.Rows()))
		}
		f.Claim = fmt.Sprintf("%s has no primary key and no unique key without NULLs: InnoDB stores its rows under a hidden number that no statement can use", t.Name)
		args := map[string]string{"table": t.Name}
		if key != "" {
			args["column"] = key
		}
		free, ties := unsorted(v, t.Table, func(st *index.Statement, t *index.Table) bool { return st.ReadsRows(t) })
		if len(free) > 0 {
			says += "; a key of columns that exist reorders the rows of statements without an ORDER BY: give them one first"
			f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "row order", Text: strings.Join(free, "; ")})
		}
		f.Remedies = v.Patch(says+"; in the schema file that initialize loads", args)
		for i := range f.Remedies {
			f.Remedies[i].Unsorted = append(free, ties...)
		}
		out = append(out, f)
	}
	return out
}

// touches reports whether a digest reads a table.
func touches(v *cause.View, d cause.Digest, t *index.Table) bool {
	return d.Parsed != nil && d.Parsed.Tables()[t]
}

// keyed reports whether InnoDB clusters a table by its own columns: by the
// primary key, or by the first unique key without NULLs and prefixes.
func keyed(t *index.Table) bool {
	return slices.ContainsFunc(t.Indexes, func(ix catalog.Index) bool {
		return ix.Primary || ix.Unique && !slices.ContainsFunc(ix.Parts, func(p catalog.IndexPart) bool {
			c := t.ByName[strings.ToLower(p.Column)]
			return c == nil || c.Nullable || p.Prefix > 0
		})
	})
}

// candidate is the first column whose counted distinct values equal the number
// of rows, "" for none. The server's estimate for an indexed column is not a
// count.
func candidate(t *index.Table) string {
	for _, c := range t.Columns {
		if _, counted := t.Size.Held[c.Name]; !counted && leads(t, strings.ToLower(c.Name)) {
			continue
		}
		if !c.Nullable && !c.Long() && t.Rows() >= leastKeyed && t.Size.Distinct[c.Name] >= t.Rows() {
			return c.Name
		}
	}
	return ""
}

// leastKeyed is the least number of rows that must differ in a column before it
// is proposed as a key.
const leastKeyed = 100

// indexed lists the indexes of a table for people.
func indexed(t *index.Table) string {
	var names []string
	for _, ix := range t.Indexes {
		names = append(names, ix.Name+" "+shown(ix))
	}
	if len(names) == 0 {
		return "no index"
	}
	return "these indexes: " + strings.Join(names, ", ")
}
