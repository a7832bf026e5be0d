package cause

import (
	"strings"

	"github.com/iikanji/iikanji"
)

// A Schema is the tables that statements may name.
type Schema struct {
	Server iikanji.Dialect
	tables map[string]*table // by lower-case schema.name
	byName map[string][]*table
	share  map[string]float64 // measured selectivities, by iikanji.SelectivityKey
}

// A table is an iikanji.Table with lookup maps and derived numbers.
type table struct {
	iikanji.Table
	size    iikanji.TableSize
	columns map[string]*iikanji.Column // by lower-case name
	primary []string                   // lower-case columns of the primary key
	values  map[string]float64         // distinct values by lower-case column
}

// NewSchema makes an empty schema of a server.
func NewSchema(server iikanji.Dialect) *Schema {
	return &Schema{Server: server, tables: map[string]*table{}, byName: map[string][]*table{}, share: map[string]float64{}}
}

// Add adds a table, or replaces the table of the same name.
func (s *Schema) Add(t iikanji.Table, size iikanji.TableSize) {
	nt := &table{Table: t, size: size, columns: map[string]*iikanji.Column{}}
	for i := range t.Columns {
		nt.columns[strings.ToLower(t.Columns[i].Name)] = &nt.Columns[i]
	}
	for _, ix := range t.Indexes {
		if ix.Primary {
			for _, p := range ix.Parts {
				nt.primary = append(nt.primary, strings.ToLower(p.Column))
			}
		}
	}
	nt.count()
	key, name := strings.ToLower(t.Schema+"."+t.Name), strings.ToLower(t.Name)
	if old := s.tables[key]; old != nil {
		*old = *nt
		return
	}
	s.tables[key] = nt
	s.byName[name] = append(s.byName[name], nt)
}

// Measured stores the measured share of a table's rows that satisfy a predicate
// of a [Question].
func (s *Schema) Measured(schema, table, predicate string, share float64) {
	s.share[iikanji.SelectivityKey(schema, table, predicate)] = share
}

// find looks a table up: in the named schema, in the default schema, or in the
// only schema that has it.
func (s *Schema) find(schema, name, byDefault string) *table {
	name = strings.ToLower(name)
	if schema == "" {
		schema = byDefault
	}
	if t := s.tables[strings.ToLower(schema)+"."+name]; t != nil {
		return t
	}
	if all := s.byName[name]; len(all) == 1 && (schema == "" || byDefault == "") {
		return all[0]
	}
	return nil
}

// rows is the number of rows, at least 1.
func (t *table) rows() float64 { return max(1, float64(t.size.Rows)) }

// count fills values: the counted distinct values, and the number of rows for a
// unique column.
func (t *table) count() {
	t.values = map[string]float64{}
	for _, ix := range t.Indexes {
		if ix.Unique && len(ix.Parts) == 1 && ix.Parts[0].Prefix == 0 {
			t.values[strings.ToLower(ix.Parts[0].Column)] = t.rows()
		}
	}
	for name, n := range t.size.Distinct {
		t.values[strings.ToLower(name)] = max(1, n)
	}
}

// distinct is the number of distinct values of a column, 0 when unknown.
func (t *table) distinct(col string) float64 { return t.values[col] }

func (t *table) name() string {
	if t.Schema == "" {
		return t.Name
	}
	return t.Schema + "." + t.Name
}

// text reports whether a column holds characters.
func text(c *iikanji.Column) bool {
	return strings.Contains(c.Type, "char") || strings.Contains(c.Type, "text") ||
		strings.HasPrefix(c.Type, "enum") || strings.HasPrefix(c.Type, "set")
}

// numeric reports whether a column holds numbers.
func numeric(c *iikanji.Column) bool {
	for _, w := range []string{"int", "decimal", "float", "double", "bit", "year"} {
		if strings.Contains(c.Type, w) {
			return true
		}
	}
	return false
}

// leastForms is the least number of statements with ranges of one table that make
// it a search by conditions.
const leastForms = 3
