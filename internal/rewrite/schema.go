package rewrite

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser"
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"
	"github.com/pingcap/tidb/pkg/parser/types"

	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// Schema reads CREATE TABLE, CREATE UNIQUE INDEX and ALTER TABLE … ADD UNIQUE of
// SQL files. Statements that do not parse are left out: what is unknown allows no
// fix. A table that two files define differently keeps only what both have.
func Schema(texts ...string) Facts {
	f := Facts{Tables: map[string]Table{}}
	seen := map[string]bool{}
	for _, text := range texts {
		for _, s := range definitions(text) {
			node, err := parser.New().ParseOneStmt(s, "", "")
			if err != nil {
				continue
			}
			switch n := node.(type) {
			case *ast.CreateTableStmt:
				name := n.Table.Name.L
				t := created(n)
				if seen[name] {
					t = common(t, f.Tables[name])
				}
				seen[name] = true
				f.Tables[name] = t
			case *ast.CreateIndexStmt:
				if n.KeyType == ast.IndexKeyTypeUnique {
					f.add(n.Table.Name.L, keyColumns(n.IndexPartSpecifications))
				}
			case *ast.AlterTableStmt:
				for _, spec := range n.Specs {
					if spec.Constraint != nil && uniqueConstraint(spec.Constraint) {
						f.add(n.Table.Name.L, keyColumns(spec.Constraint.Keys))
					}
				}
			}
		}
	}
	return f
}

// definitions are the statements of a text that may define a table or a key. INSERTs
// of a dump are skipped before they are parsed.
func definitions(text string) (out []string) {
	tokens, _ := sqltext.Unknown.Tokens(text)
	start, first := 0, sqltext.Token{Kind: sqltext.Mark}
	for i, t := range tokens {
		if first.Kind == sqltext.Mark && t.Kind == sqltext.Word {
			first, start = t, t.Start
		}
		last := i == len(tokens)-1
		if t.Text != ";" && !last {
			continue
		}
		end := t.End
		if t.Text == ";" {
			end = t.Start
		}
		if first.Is("CREATE", "ALTER") {
			out = append(out, text[start:end])
		}
		first = sqltext.Token{Kind: sqltext.Mark}
	}
	return out
}

func (f Facts) add(table string, key []string) {
	t, ok := f.Tables[table]
	if ok && key != nil {
		t.Unique = append(t.Unique, key)
		f.Tables[table] = t
	}
}

// created is the table of a CREATE TABLE.
func created(n *ast.CreateTableStmt) Table {
	t := Table{Columns: map[string]Column{}}
	for _, c := range n.Cols {
		col := Column{Type: strings.ToLower(c.Tp.CompactStr())}
		if mysql.HasUnsignedFlag(c.Tp.GetFlag()) {
			col.Type += " unsigned"
		}
		for _, o := range c.Options {
			switch o.Tp {
			case ast.ColumnOptionPrimaryKey, ast.ColumnOptionUniqKey:
				t.Unique = append(t.Unique, []string{c.Name.Name.L})
				col.NotNull = col.NotNull || o.Tp == ast.ColumnOptionPrimaryKey
			case ast.ColumnOptionNotNull:
				col.NotNull = true
			}
		}
		t.Columns[c.Name.Name.L] = col
	}
	for _, c := range n.Constraints {
		if key := keyColumns(c.Keys); uniqueConstraint(c) && key != nil {
			t.Unique = append(t.Unique, key)
		}
	}
	return t
}

func uniqueConstraint(c *ast.Constraint) bool {
	switch c.Tp {
	case ast.ConstraintPrimaryKey, ast.ConstraintUniq, ast.ConstraintUniqKey, ast.ConstraintUniqIndex:
		return true
	}
	return false
}

// keyColumns are the columns of a key; nil if a part is an expression or a prefix.
func keyColumns(parts []*ast.IndexPartSpecification) (out []string) {
	for _, p := range parts {
		if p.Column == nil || p.Length != types.UnspecifiedLength && p.Length > 0 {
			return nil
		}
		out = append(out, p.Column.Name.L)
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
