package index

import (
	"strings"

	"github.com/iikanji/iikanji/internal/lang/catalog"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// A Schema is the tables that statements may name.
type Schema struct {
	Server catalog.Dialect
	Tables map[string]*Table // by lower-case schema.name
	byName map[string][]*Table
	share  map[string]float64 // measured selectivities, by fact.SelectivityKey
}

// A Table is an catalog.Table with lookup maps and derived numbers.
type Table struct {
	catalog.Table
	Size    catalog.TableSize
	ByName  map[string]*catalog.Column // by lower-case name
	primary []string                   // lower-case columns of the primary key
	values  map[string]float64         // distinct values by lower-case column
}

// NewSchema makes an empty schema of a server.
func NewSchema(server catalog.Dialect) *Schema {
	return &Schema{Server: server, Tables: map[string]*Table{}, byName: map[string][]*Table{}, share: map[string]float64{}}
}

// Add adds a table, or replaces the table of the same name.
func (s *Schema) Add(t catalog.Table, size catalog.TableSize) {
	nt := &Table{Table: t, Size: size, ByName: map[string]*catalog.Column{}}
	for i := range t.Columns {
		nt.ByName[strings.ToLower(t.Columns[i].Name)] = &nt.Columns[i]
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
	if old := s.Tables[key]; old != nil {
		*old = *nt
		return
	}
	s.Tables[key] = nt
	s.byName[name] = append(s.byName[name], nt)
}

// Measured stores the measured share of a table's rows that satisfy a predicate
// of a [Question].
func (s *Schema) Measured(schema, table, predicate string, share float64) {
	s.share[fact.SelectivityKey(schema, table, predicate)] = share
}

// find looks a table up: in the named schema, in the default schema, or in the
// only schema that has it.
func (s *Schema) find(schema, name, byDefault string) *Table {
	name = strings.ToLower(name)
	if schema == "" {
		schema = byDefault
	}
	if t := s.Tables[strings.ToLower(schema)+"."+name]; t != nil {
		return t
	}
	if all := s.byName[name]; len(all) == 1 && (schema == "" || byDefault == "") {
		return all[0]
	}
	return nil
}

// Rows is the number of rows, at least 1.
func (t *Table) Rows() float64 { return max(1, float64(t.Size.Rows)) }

// count fills values: the counted distinct values, and the number of rows for a
// unique column.
func (t *Table) count() {
	t.values = map[string]float64{}
	for _, ix := range t.Indexes {
		if ix.Unique && len(ix.Parts) == 1 && ix.Parts[0].Prefix == 0 {
			t.values[strings.ToLower(ix.Parts[0].Column)] = t.Rows()
		}
	}
	for name, n := range t.Size.Distinct {
		t.values[strings.ToLower(name)] = max(1, n)
	}
}

// Distinct is the number of distinct values of a column, 0 when unknown.
func (t *Table) Distinct(col string) float64 { return t.values[col] }

// FullName is the name with the schema, where that is known.
func (t *Table) FullName() string {
	if t.Schema == "" {
		return t.Name
	}
	return t.Schema + "." + t.Name
}

// text reports whether a column holds characters.
func text(c *catalog.Column) bool {
	return strings.Contains(c.Type, "char") || strings.Contains(c.Type, "text") ||
		strings.HasPrefix(c.Type, "enum") || strings.HasPrefix(c.Type, "set")
}

// numeric reports whether a column holds numbers.
func numeric(c *catalog.Column) bool {
	for _, w := range []string{"int", "decimal", "float", "double", "bit", "year"} {
		if strings.Contains(c.Type, w) {
			return true
		}
	}
	return false
}

// LeastForms is the least number of statements with ranges of one table that make
// it a search by conditions.
const LeastForms = 3
