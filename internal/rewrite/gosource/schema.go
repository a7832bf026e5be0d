package gosource

import (
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/lang/catalog"
	"github.com/iikanji/iikanji/internal/rewrite"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// SchemaOf is what code levers may assume of the databases, from facts about their
// tables. A table name that several schemas have with different columns is left
// out: a statement does not show which of them it reads.
func SchemaOf(known []iikanji.Fact) rewrite.Facts {
	tables, sizes := map[string]catalog.Table{}, map[string]catalog.TableSize{}
	for f, t := range fact.TopicTable.In(known) {
		tables[f.Target+" "+f.Key] = t
	}
	for f, z := range fact.TopicSize.In(known) {
		sizes[f.Target+" "+f.Key] = z
	}
	out := rewrite.Facts{Tables: map[string]rewrite.Table{}}
	twice := map[string]bool{}
	for key, t := range tables {
		name := strings.ToLower(t.Name)
		_, taken := out.Tables[name]
		twice[name] = twice[name] || taken
		out.Tables[name] = tableOf(t, sizes[key])
	}
	for name := range twice {
		if twice[name] {
			delete(out.Tables, name)
		}
	}
	return out
}

func tableOf(t catalog.Table, z catalog.TableSize) rewrite.Table {
	out := rewrite.Table{Rows: z.Rows, Columns: map[string]rewrite.Column{}}
	for _, c := range t.Columns {
		out.Columns[strings.ToLower(c.Name)] = rewrite.Column{Type: c.Type, MeanBytes: float64(z.Lengths[c.Name]), NotNull: !c.Nullable}
	}
	for _, ix := range t.Indexes {
		if cols := wholeColumns(ix); ix.Unique && len(cols) > 0 {
			out.Unique = append(out.Unique, cols)
		}
	}
	return out
}

// wholeColumns are the columns of an index; nil if it has a part that is an
// expression or a prefix: such an index does not make the columns unique.
func wholeColumns(ix catalog.Index) []string {
	var cols []string
	for _, p := range ix.Parts {
		if p.Column == "" || p.Prefix > 0 {
			return nil
		}
		cols = append(cols, strings.ToLower(p.Column))
	}
	return cols
}
