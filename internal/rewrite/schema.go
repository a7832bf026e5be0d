package rewrite

import (
	"strings"

	"github.com/iikanji/iikanji/internal/lang/sqlschema"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// Schema reads the tables and unique keys that SQL files define. Statements that are not
// understood are left out: what is unknown allows no fix. A table that two files define
// differently keeps only what both have.
func Schema(texts ...string) Facts {
	f := Facts{Tables: map[string]Table{}}
	seen := map[string]bool{}
	for _, text := range texts {
		for _, s := range sqltext.Unknown.Statements(text) {
			st, ok := sqlschema.Of(s)
			if !ok {
				continue
			}
			d, err := st.Read()
			if err != nil {
				continue
			}
			name := strings.ToLower(d.Table)
			if d.Verb != sqlschema.CreateTable {
				f.add(name, d.Keys)
				continue
			}
			t := created(d)
			if seen[name] {
				t = common(t, f.Tables[name])
			}
			seen[name] = true
			f.Tables[name] = t
		}
	}
	return f
}

func (f Facts) add(table string, keys []sqlschema.Key) {
	t, ok := f.Tables[table]
	if !ok {
		return
	}
	t.Unique = append(t.Unique, uniqueColumns(keys)...)
	f.Tables[table] = t
}

// created is the table of a CREATE TABLE.
func created(d sqlschema.Definition) Table {
	t := Table{Columns: map[string]Column{}, Unique: uniqueColumns(d.Keys)}
	for _, c := range d.Columns {
		t.Columns[strings.ToLower(c.Name)] = Column{Type: c.ServerType(), NotNull: c.NotNull}
	}
	return t
}

func uniqueColumns(keys []sqlschema.Key) (out [][]string) {
	for _, k := range keys {
		if columns := k.Columns(); columns != nil {
			out = append(out, columns)
		}
	}
	return out
}

// common is what two definitions of a table share.
func common(a, b Table) Table {
	out := Table{Columns: map[string]Column{}}
	for name, c := range a.Columns {
		if b.Columns[name] == c {
			out.Columns[name] = c
		}
	}
	for _, k := range a.Unique {
		for _, l := range b.Unique {
			if strings.Join(k, ",") == strings.Join(l, ",") {
				out.Unique = append(out.Unique, k)
			}
		}
	}
	return out
}
