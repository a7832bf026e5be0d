package cacheplan

import (
	"fmt"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/sqlschema"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
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
		d, err := definitionOf(text)
		if err != nil {
			return nil, fmt.Errorf("reading a table's definition: %w", err)
		}
		name := strings.ToLower(d.Table)
		if d.Verb == sqlschema.CreateTable {
			s.Tables[name] = tableOf(d)
		}
		for _, k := range d.Keys {
			if k.Refers != nil && cascades(k.Refers) {
				parent := strings.ToLower(k.Refers.Table)
				parents[parent] = append(parents[parent], name)
			}
		}
	}
	for parent, children := range parents {
		if t := s.Tables[parent]; t != nil {
			t.Cascades = children
		}
	}
	return s, nil
}

// definitionOf reads one statement that creates a table, or adds keys to one.
func definitionOf(text string) (sqlschema.Definition, error) {
	all := sqltext.MySQL.Statements(text)
	if len(all) != 1 {
		return sqlschema.Definition{}, fmt.Errorf("%q is not one statement", first(text))
	}
	s, ok := sqlschema.Of(all[0])
	if !ok || s.Verb != sqlschema.CreateTable && s.Verb != sqlschema.AlterTable {
		return sqlschema.Definition{}, fmt.Errorf("%q creates no table", first(text))
	}
	d, err := s.Read()
	if err == nil && len(d.Other) > 0 {
		err = fmt.Errorf("%q changes a table; give the definitions as they are now", first(text))
	}
	return d, err
}

func first(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

func cascades(r *sqlschema.Reference) bool {
	changes := func(action string) bool {
		return action == "CASCADE" || action == "SET NULL" || action == "SET DEFAULT"
	}
	return changes(r.OnDelete) || changes(r.OnUpdate)
}

func tableOf(d sqlschema.Definition) *Table {
	t := &Table{Name: strings.ToLower(d.Table), Columns: map[string]Column{}, Unique: map[string]bool{}}
	for _, c := range d.Columns {
		col := columnOf(c)
		col.Key = col.Key && !c.Computed && !c.OnUpdate
		t.Columns[strings.ToLower(c.Name)] = col
	}
	for _, k := range d.Keys {
		if columns := k.Columns(); len(columns) == 1 {
			t.Unique[columns[0]] = true
		}
	}
	return t
}

func columnOf(c sqlschema.Column) Column {
	base, _, _ := strings.Cut(c.ServerType(), "(")
	switch base {
	case "tinyint", "smallint", "mediumint", "int", "bigint":
		return Column{sqlcache.Integer, true}
	case "char", "varchar", "binary", "varbinary":
		return Column{sqlcache.Text, tellsASCIIApart(c)}
	}
	return Column{}
}
