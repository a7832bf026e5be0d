package rewrite

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// gorm writes the statements of a chain as gorm does.
func (c *mapperChain) gorm(last *ast.CallExpr) (out []string) {
	if len(last.Args) == 0 || (c.end == "Count" || c.end == "Pluck" || c.end == "Scan") && c.model == nil && c.table == "" {
		return nil
	}
	of := last.Args[0]
	if conditions := last.Args[1:]; len(conditions) > 0 && c.end != "Pluck" {
		if !c.condition(conditions) {
			return nil
		}
	}
	if c.model != nil {
		of = c.model
	}
	var tables []string
	key, deleted := "", ""
	model := element(c.x.typeOf(of))
	switch {
	case model != nil:
		tables, key, deleted = c.tables(model), c.primary(structOf(model)), c.deleted(structOf(model))
	case c.table == "":
		return nil
	}
	if c.table != "" {
		tables = []string{c.table}
	}
	for _, table := range tables {
		fields, order := "*", slices.Clone(c.order)
		if c.fields != "" {
			fields = c.fields
		}
		switch c.end {
		case "Count":
			fields = "count(*)"
		case "Pluck":
			if fields = wholeText(c.x, last.Args[0]); fields == "" {
				return nil
			}
			fields = "`" + fields + "`"
		case "First":
			order = append(order, "`"+table+"`.`"+key+"`")
		case "Last":
			order = append(order, "`"+table+"`.`"+key+"` DESC")
		}
		if (c.end == "First" || c.end == "Last") && key == "" {
			return nil
		}
		one := slices.Contains([]string{"First", "Take", "Last"}, c.end)
		for _, where := range c.gormWheres(table, key, deleted) {
			text := "SELECT " + fields + " FROM `" + table + "`" + where
			if len(order) > 0 {
				text += " ORDER BY " + strings.Join(order, ",")
			}
			switch {
			case c.limited || one && c.path == gormPath:
				out = append(out, text+" LIMIT ?")
			}
			switch {
			case one && c.path == oldGormPath && len(order) > 0:
				out = append(out, text+" ASC LIMIT 1", text+" LIMIT 1")
			case one:
				out = append(out, text+" LIMIT 1")
			case !c.limited:
				out = append(out, text)
			}
		}
	}
	return out
}

// gormWheres are the forms that the WHERE of a chain may have, each with a space before.
func (c *mapperChain) gormWheres(table, key, deleted string) []string {
	quoted := func(column string, own bool) string {
		if own {
			return "`" + table + "`.`" + column + "`"
		}
		return "`" + column + "`"
	}
	soft := ""
	if deleted != "" && !c.unscoped {
		soft = quoted(deleted, true) + " IS NULL"
	}
	write := func(own bool) string {
		var parts []string
		several := len(c.where) > 1 || soft != ""
		for _, w := range c.where {
			text := w.text
			switch {
			case w.key:
				text = quoted(key, true) + " = ?"
			case w.column != "":
				text = quoted(w.column, w.own || own) + " = ?"
			case c.path == oldGormPath:
				text = "(" + text + ")"
			case several && (strings.Contains(strings.ToUpper(text), " AND ") || strings.Contains(strings.ToUpper(text), " OR ")):
				text = "(" + text + ")"
			}
			parts = append(parts, text)
		}
		all := strings.Join(parts, " AND ")
		switch {
		case soft == "":
		case all == "":
			all = soft
		case c.path == oldGormPath:
			all = soft + " AND (" + all + ")"
		default:
			all += " AND " + soft
		}
		if all == "" {
			return ""
		}
		return " WHERE " + all
	}
	forms := []string{write(false)}
	if other := write(true); other != forms[0] {
		forms = append(forms, other)
	}
	return forms
}

// xorm writes the statements of a chain as xorm does.
func (c *mapperChain) xorm(last *ast.CallExpr) (out []string) {
	if len(last.Args) == 0 {
		return nil
	}
	model := element(c.x.typeOf(last.Args[0]))
	if model == nil || len(last.Args) > 1 || c.fields != "" || c.limited {
		return nil
	}
	s := structOf(model)
	key := c.primary(s)
	if lit := literalOf(c.x, last.Args[0]); lit != nil && len(lit.Elts) > 0 && !c.equalities(lit) {
		return nil
	}
	var parts []string
	for _, w := range c.where {
		switch {
		case w.key && key == "":
			return nil
		case w.key:
			parts = append(parts, "`"+key+"`=?")
		case w.column != "":
			parts = append(parts, "`"+w.column+"`=?")
		default:
			parts = append(parts, "("+w.text+")")
		}
	}
	var fields []string
	for _, name := range c.columns(s) {
		fields = append(fields, "`"+name+"`")
	}
	for _, table := range c.tables(model) {
		for _, wrapped := range []bool{false, true} {
			where := strings.Join(parts, " AND ")
			if len(parts) == 1 && !wrapped { // a single text has no brackets in some versions
				where = strings.TrimSuffix(strings.TrimPrefix(where, "("), ")")
			}
			text := " FROM `" + table + "`"
			if where != "" {
				text += " WHERE " + where
			}
			if len(c.order) > 0 {
				text += " ORDER BY " + strings.Join(c.order, ", ")
			}
			switch c.end {
			case "Count":
				text = "SELECT count(*)" + text
			case "Get":
				text = "SELECT " + strings.Join(fields, ", ") + text + " LIMIT 1"
			case "Exist":
				text = "SELECT 1" + text + " LIMIT 1"
			default:
				text = "SELECT " + strings.Join(fields, ", ") + text
			}
			if !slices.Contains(out, text) {
				out = append(out, text)
			}
		}
	}
	return out
}

// literalOf is the literal of a destination: &T{…}, or that which sets its variable.
func literalOf(x *index, e ast.Expr) *ast.CompositeLit {
	e = ast.Unparen(e)
	if v := x.variable(e); v != nil {
		if id := x.defs[v]; id != nil {
			if a, ok := x.parent[id].(*ast.AssignStmt); ok {
				e = ast.Unparen(valueOf(id, a.Lhs, a.Rhs))
			}
		}
	}
	if u, ok := e.(*ast.UnaryExpr); ok {
		e = ast.Unparen(u.X)
	}
	if v := x.variable(e); v != nil {
		if _, isStruct := v.Type().Underlying().(*types.Struct); isStruct {
			if id := x.defs[v]; id != nil {
				if a, ok := x.parent[id].(*ast.AssignStmt); ok {
					e = ast.Unparen(valueOf(id, a.Lhs, a.Rhs))
				}
			}
		}
	}
	lit, _ := e.(*ast.CompositeLit)
	return lit
}
