package cacheplan

import (
	"fmt"
	"strings"

	"github.com/pingcap/tidb/pkg/parser"
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"
	"github.com/pingcap/tidb/pkg/parser/types"

	"github.com/iikanji/iikanji/internal/rewrite/sqlcache"
)

// A Schema is what a plan needs to know of a database.
type Schema struct {
	Tables map[string]*Table // base tables by name in lower case
	// Triggers: a trigger may write any table. Tables with one have no plan.
	Triggers map[string]bool
	// Strict: the sql_mode refuses values that do not fit their column. Without it
	// a stored value may differ from the argument.
	Strict bool
	// Routines: a stored function may write.
	Routines bool
}

// A Table is a base table.
type Table struct {
	Name    string
	Columns map[string]Column // by name in lower case
	Unique  map[string]bool   // columns that are a unique key alone
	// Cascades are the tables whose rows change with rows of this one, by foreign
	// keys with CASCADE, SET NULL or SET DEFAULT.
	Cascades []string
}

// A Column is a column that may select rows.
type Column struct {
	Kind sqlcache.Kind
	Key  bool // its type has a kind, and no expression computes it
}

// ReadSchema reads CREATE TABLE statements, as SHOW CREATE TABLE prints them, and
// ALTER TABLE statements that add keys.
func ReadSchema(creates []string) (*Schema, error) {
	s := &Schema{Tables: map[string]*Table{}, Triggers: map[string]bool{}}
	parents := map[string][]string{}
	for _, text := range creates {
		node, err := parser.New().ParseOneStmt(text, "", "")
		if err != nil {
			return nil, fmt.Errorf("reading a table's definition: %w", err)
		}
		switch n := node.(type) {
		case *ast.CreateTableStmt:
			t := tableOf(n)
			s.Tables[t.Name] = t
			refer(parents, t.Name, n.Constraints)
		case *ast.AlterTableStmt:
			for _, spec := range n.Specs {
				if spec.Tp != ast.AlterTableAddConstraint {
					return nil, fmt.Errorf("reading a table's definition: %q changes a table; give the definitions as they are now", first(text))
				}
				refer(parents, n.Table.Name.L, []*ast.Constraint{spec.Constraint})
			}
		default:
			return nil, fmt.Errorf("reading a table's definition: %q creates no table", first(text))
		}
	}
	for parent, children := range parents {
		if t := s.Tables[parent]; t != nil {
			t.Cascades = children
		}
	}
	return s, nil
}

// refer notes the tables that a table's foreign keys follow.
func refer(parents map[string][]string, table string, constraints []*ast.Constraint) {
	for _, con := range constraints {
		if con.Tp == ast.ConstraintForeignKey && cascades(con.Refer) {
			parent := con.Refer.Table.Name.L
			parents[parent] = append(parents[parent], table)
		}
	}
}

func first(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

func cascades(r *ast.ReferenceDef) bool {
	changes := func(o ast.ReferOptionType) bool {
		return o == ast.ReferOptionCascade || o == ast.ReferOptionSetNull || o == ast.ReferOptionSetDefault
	}
	return r.OnDelete != nil && changes(r.OnDelete.ReferOpt) || r.OnUpdate != nil && changes(r.OnUpdate.ReferOpt)
}

func tableOf(c *ast.CreateTableStmt) *Table {
	t := &Table{Name: c.Table.Name.L, Columns: map[string]Column{}, Unique: map[string]bool{}}
	for _, d := range c.Cols {
		name := d.Name.Name.L
		col := columnOf(d.Tp)
		for _, o := range d.Options {
			switch o.Tp {
			case ast.ColumnOptionPrimaryKey, ast.ColumnOptionUniqKey:
				t.Unique[name] = true
			case ast.ColumnOptionGenerated, ast.ColumnOptionOnUpdate:
				col.Key = false
			}
		}
		t.Columns[name] = col
	}
	for _, con := range c.Constraints {
		unique := con.Tp == ast.ConstraintPrimaryKey || con.Tp == ast.ConstraintUniq || con.Tp == ast.ConstraintUniqKey || con.Tp == ast.ConstraintUniqIndex
		if unique && len(con.Keys) == 1 && con.Keys[0].Column != nil && con.Keys[0].Length <= 0 {
			t.Unique[con.Keys[0].Column.Name.L] = true
		}
	}
	return t
}

func columnOf(tp *types.FieldType) Column {
	switch tp.GetType() {
	case mysql.TypeTiny, mysql.TypeShort, mysql.TypeInt24, mysql.TypeLong, mysql.TypeLonglong:
		return Column{sqlcache.Integer, true}
	case mysql.TypeVarchar, mysql.TypeString, mysql.TypeVarString:
		return Column{sqlcache.Text, true}
	}
	return Column{}
}
