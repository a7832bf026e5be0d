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
	return Plan{
		Dialect: d,
		Tables:  []Table{{Name: model.Table, Columns: []Column{{"id", Integer}, {"grp", Text}}}},
		Statements: []Statement{
			{Text: f(model.ReadID), Keep: true, Reads: table(id(0))},
			{Text: f(model.ReadIDs), Keep: true, Reads: table(id(0))},
			{Text: f(model.ReadGroup), Keep: true, Reads: table(group(0))},
			{Text: f(model.ReadWhole), Keep: true, Reads: table()},
			{Text: f(model.ReadCount), Keep: true, Reads: table(group(0))},
			{Text: f(model.ReadPair), Keep: true, Reads: append(table(id(0)), table(id(0))...)},
			{Text: f(model.SetValue), Writes: table(id(1))},
			{Text: f(model.SetGroup), Writes: table(id(1))},
			{Text: f(model.SetValueGroup), Writes: table(group(1))},
			{Text: f(model.Remove), Writes: table(id(0))},
			{Text: f(model.Insert), Writes: table(id(0), group(1))},
			{Text: f(put), Writes: table()},
		},
	}
}
