package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
)

const (
	hotTable  = 0.05 // of the work of a run that touches a table: less is in nobody's way
	keyedTold = 4    // statements that the evidence quotes, the heaviest ones
	keyedLook = 0.3  // of a statement's time that a key of its own can save at the most
)

// db121 reports tables that statements use much and that have no key of their
// own: InnoDB then numbers the rows itself, in a column that nobody can ask
// for, so that every row is found through a second index or by scanning.
func db121(v *view) []iikanji.Finding {
	var out []iikanji.Finding
	for _, t := range v.schema.tables {
		if !strings.EqualFold(t.Engine, "InnoDB") || t.keyed() {
			continue
		}
		f := iikanji.Finding{Code: "DB121", Where: t.name()}
		work := 0.0
		for _, d := range v.digests {
			reads := v.touches(d, t)
			if !reads && (d.st == nil || d.st.into != t) {
				continue
			}
			work += workOf(d)
			if reads { // a row that is only written needs no finding
				f.Gain.Hi += d.left() * keyedLook / float64(len(d.st.tables()))
			}
			f.Evidence = append(f.Evidence, d.evidence())
		}
		if !v.felt(work) || work < hotTable*v.work {
			continue
		}
		schema := iikanji.Evidence{Source: "schema", Text: fmt.Sprintf("%s, %s, has %s", t.name(), plural(t.rows(), "row"), t.indexed())}
		f.Evidence = append([]iikanji.Evidence{schema}, f.Evidence[:min(len(f.Evidence), keyedTold)]...)
		f.Gain.Hi = round(f.Gain.Hi)
		key := t.candidate()
		says := "give it a key: a column that counts up (BIGINT AUTO_INCREMENT PRIMARY KEY), or the columns that tell its rows apart"
		if key != "" {
			says = fmt.Sprintf("make %s its primary key: it is never NULL and all %s values differ", key, people(t.rows()))
		}
		f.Claim = fmt.Sprintf("%s has no primary key and no unique one that is never NULL: its rows lie under a hidden number by which no statement can find them", t.Name)
		args := map[string]string{"table": t.Name}
		if key != "" {
			args["column"] = key
		}
		f.Remedies = v.patch(says+"; in the schema file that initialize loads", args)
		out = append(out, f)
	}
	return out
}

// touches says whether a digest reads a table.
func (v *view) touches(d digest, t *table) bool { return d.st != nil && d.st.tables()[t] }

// keyed says whether InnoDB keeps the rows of a table under a key of its
// own columns: the primary key, or the first unique one without NULLs and prefixes.
func (t *table) keyed() bool {
	return slices.ContainsFunc(t.Indexes, func(ix iikanji.Index) bool {
		return ix.Primary || ix.Unique && !slices.ContainsFunc(ix.Parts, func(p iikanji.IndexPart) bool {
			c := t.columns[strings.ToLower(p.Column)]
			return c == nil || c.Nullable || p.Prefix > 0
		})
	})
}

// candidate is the first column that tells all rows apart, as counted; "" for
// none. What the server holds of an index nobody has counted.
func (t *table) candidate() string {
	for _, c := range t.Columns {
		if _, counted := t.size.Held[c.Name]; !counted && t.leads(strings.ToLower(c.Name)) {
			continue
		}
		if !c.Nullable && !c.Long() && t.rows() >= leastKeyed && t.size.Distinct[c.Name] >= t.rows() {
			return c.Name
		}
	}
	return ""
}

// leastKeyed rows must differ in a column before it is taken for a key.
const leastKeyed = 100

// indexed lists the indexes of a table for people.
func (t *table) indexed() string {
	var names []string
	for _, ix := range t.Indexes {
		names = append(names, ix.Name+" "+shown(ix))
	}
	if len(names) == 0 {
		return "no index"
	}
	return "these indexes: " + strings.Join(names, ", ")
}
