package sqlcache

import "github.com/iikanji/iikanji/internal/rewrite/sqlcache/model"

// modelPlan is the plan for the statements of the model. The mutants of
// TestMutants are built with this file, too.
func modelPlan() Plan { return modelPlanOf(MySQL, model.Put) }

// modelPlanSQLite is the plan for a file of SQLite.
func modelPlanSQLite() Plan { return modelPlanOf(SQLite, model.PutSQLite) }

func modelPlanOf(d Dialect, put string) Plan {
	table := func(keys ...Key) []Touch { return []Touch{{Table: model.Table, Keys: keys}} }
	id := func(groups ...int) Key { return Key{Column: "id", Groups: groups} }
	group := func(groups ...int) Key { return Key{Column: "grp", Groups: groups} }
	f := func(text string) string { return Fold(d, text) }
	parents := func(column string) []Parent { return []Parent{{Text: f(model.ReadGroups), Column: column}} }
	return Plan{
		Dialect: d, SelectsOnlyRead: true,
		Targets: []Target{{Table: model.Table, Changes: []string{model.Table}}},
		Tables:  []Table{{Name: model.Table, Columns: []Column{{"id", Integer}, {"grp", Text}}}},
		Statements: []Statement{
			{Text: f(model.ReadID), Keep: true, Reads: table(id(0))},
			{Text: f(model.ReadIDs), Keep: true, Reads: table(id(0))},
			{Text: f(model.ReadGroup), Keep: true, Reads: table(group(0))},
			{Text: f(model.ReadWhole), Keep: true, Reads: table()},
			{Text: f(model.ReadCount), Keep: true, Reads: table(group(0))},
			{Text: f(model.ReadGroups), Keep: true, Reads: table()},
			{Text: f(model.ReadPair), Keep: true, Reads: append(table(id(0)), table(id(0))...)},
			{Text: f(model.SetValue), Writes: table(id(1))},
			{Text: f(model.SetGroup), Writes: table(id(1))},
			{Text: f(model.SetValueGroup), Writes: table(group(1))},
			{Text: f(model.Remove), Writes: table(id(0))},
			{Text: f(model.Insert), Writes: table(id(0), group(1))},
			{Text: f(put), Writes: table()},
		},
		Batches: []Batch{
			{Child: model.ReadID, Key: 0, Column: "id", Kind: Integer, Shape: Rows, Parents: parents("id"),
				Head: "SELECT val, id FROM m WHERE id IN (", Tail: ")"},
			{Child: model.ReadGroup, Key: 0, Column: "grp", Kind: Text, Shape: Rows, Parents: parents("grp"),
				Head: "SELECT id, val, grp FROM m WHERE grp IN (", Tail: ") ORDER BY id"},
			{Child: model.ReadCount, Key: 1, Column: "id", Kind: Integer, Shape: Totals, Parents: parents("id"),
				Head: "SELECT COUNT(*), id FROM m WHERE grp = ? AND id IN (", Tail: ") GROUP BY id",
				Empty: "SELECT COUNT(*) FROM m WHERE grp = ? AND id IN (NULL)"},
		},
	}
}
