// Package indextest reads the tables of text cases.
package indextest

import (
	"strconv"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/lang/catalog"
	"github.com/pingcap/tidb/pkg/parser"
	"github.com/pingcap/tidb/pkg/parser/ast"
)

// Tables reads CREATE TABLE statements into the facts that a server would give.
func Tables(t *testing.T, sql string) []catalog.Table {
	t.Helper()
	stmts, _, err := parser.New().ParseSQL(sql)
	if err != nil {
		t.Fatal(err)
	}
	var out []catalog.Table
	for _, s := range stmts {
		if c, ok := s.(*ast.CreateTableStmt); ok {
			out = append(out, readTable(c))
		}
	}
	return out
}

func readTable(c *ast.CreateTableStmt) catalog.Table {
	t := catalog.Table{Schema: "app", Name: c.Table.Name.O, Engine: "InnoDB"}
	index := func(name string, unique, primary bool, parts ...catalog.IndexPart) {
		ix := catalog.Index{Name: name, Kind: "btree", Unique: unique || primary, Primary: primary, Parts: parts}
		if primary {
			ix.Name = "PRIMARY"
			t.Indexes = append([]catalog.Index{ix}, t.Indexes...)
			return
		}
		t.Indexes = append(t.Indexes, ix)
	}
	for _, col := range c.Cols {
		k := catalog.Column{Name: col.Name.Name.O, Type: strings.ToLower(col.Tp.String()), Nullable: true, Width: 8}
		if n := col.Tp.GetFlen(); n > 0 && strings.Contains(k.Type, "char") {
			k.Width = iikanji.Bytes(4*n + 2)
		}
		if k.Long() {
			k.Width = 0
		}
		for _, o := range col.Options {
			switch o.Tp {
			case ast.ColumnOptionGenerated:
				k.Generated = true
			case ast.ColumnOptionAutoIncrement:
				k.Auto = true
			case ast.ColumnOptionNotNull:
				k.Nullable = false
			case ast.ColumnOptionPrimaryKey:
				k.Nullable = false
				index("", true, true, catalog.IndexPart{Column: k.Name})
			case ast.ColumnOptionUniqKey:
				index(k.Name, true, false, catalog.IndexPart{Column: k.Name})
			}
		}
		t.Columns = append(t.Columns, k)
	}
	for _, k := range c.Constraints {
		var parts []catalog.IndexPart
		for _, p := range k.Keys {
			part := catalog.IndexPart{Desc: p.Desc} // without a column it is an expression
			if p.Column != nil {
				part.Column = p.Column.Name.O
			}
			if p.Length > 0 {
				part.Prefix = p.Length
			}
			parts = append(parts, part)
		}
		index(k.Name, k.Tp == ast.ConstraintUniq || k.Tp == ast.ConstraintUniqKey, k.Tp == ast.ConstraintPrimaryKey, parts...)
	}
	return t
}

// Sizes reads lines "table rows", "table.column distinct" or
// "table.column length bytes", and lines "table.column is type" for types that
// the parser does not know, as point.
func Sizes(t *testing.T, body string, tables []catalog.Table) map[string]catalog.TableSize {
	t.Helper()
	out := map[string]catalog.TableSize{}
	for _, tab := range tables {
		out[tab.Name] = catalog.TableSize{Rows: 1000, Distinct: map[string]float64{}, Lengths: map[string]iikanji.Bytes{}}
	}
	for _, line := range strings.Split(strings.TrimSpace(body), "\n") {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		name, col, of := strings.Cut(f[0], ".")
		z := out[name]
		switch {
		case !of:
			z.Rows, _ = strconv.ParseInt(f[1], 10, 64)
		case f[1] == "is":
			for _, tab := range tables {
				for i := range tab.Columns {
					if tab.Name == name && tab.Columns[i].Name == col {
						tab.Columns[i].Type, tab.Columns[i].Width = f[2], 0
					}
				}
			}
		case f[1] == "length":
			n, _ := strconv.ParseInt(f[2], 10, 64)
			z.Lengths[col] = iikanji.Bytes(n)
		default:
			z.Distinct[col], _ = strconv.ParseFloat(f[1], 64)
		}
		out[name] = z
	}
	return out
}
