package appenv

import (
	"go/ast"
	"go/token"
	"strconv"
	"strings"
)

const driver = "github.com/go-sql-driver/mysql"

// A config is a mysql.Config that the source makes.
type config struct {
	*file
	literal *ast.CompositeLit // nil if a function makes it
	// variable is the name of the variable that holds it, "" without a plain
	// one. list[made] makes the config; after list[ready] its fields can be set.
	variable    string
	list        []ast.Stmt
	made, ready int
}

// setConfigs sets parameters in each mysql.Config.
func (f *file) setConfigs(params []param) (found int, err error) {
	for _, c := range f.configs() {
		found++
		for _, p := range params {
			if p.socket {
				c.setSocket(p.value)
				continue
			}
			c.setField(dsnParams[p.name].field, p.value)
		}
	}
	return found, nil
}

// configs returns the configs: first those in a variable, then other literals.
func (f *file) configs() []*config {
	var all []*config
	held := map[*ast.CompositeLit]bool{}
	f.lists(func(list []ast.Stmt) {
		for i, stmt := range list {
			a, ok := stmt.(*ast.AssignStmt)
			if !ok || len(a.Rhs) != 1 {
				continue
			}
			name, ok := a.Lhs[0].(*ast.Ident)
			lit, made := f.makesConfig(a.Rhs[0])
			if !ok || !made || name.Name == "_" {
				continue
			}
			c := &config{file: f, literal: lit, variable: name.Name, list: list, made: i, ready: i}
			if len(a.Lhs) == 2 { // the call also returns an error
				c.ready = checked(list, i)
			}
			held[lit] = true
			all = append(all, c)
		}
	})
	ast.Inspect(f.tree, func(n ast.Node) bool {
		if lit, ok := n.(*ast.CompositeLit); ok && !held[lit] && f.isConfig(lit) {
			all = append(all, &config{file: f, literal: lit})
		}
		return true
	})
	return all
}

// makesConfig reports whether an expression is a new mysql.Config. The literal
// is nil if a function of the driver makes it.
func (f *file) makesConfig(e ast.Expr) (*ast.CompositeLit, bool) {
	if u, ok := e.(*ast.UnaryExpr); ok && u.Op == token.AND {
		e = u.X
	}
	switch e := e.(type) {
	case *ast.CompositeLit:
		return e, f.isConfig(e)
	case *ast.CallExpr:
		path, name := f.of(e.Fun)
		if path != driver || name != "ParseDSN" || len(e.Args) != 1 {
			return nil, path == driver && name == "NewConfig"
		}
		_, literal := inner(e.Args[0]) // a literal argument is edited itself
		return nil, !literal
	}
	return nil, false
}

func (f *file) isConfig(lit *ast.CompositeLit) bool {
	path, name := f.of(lit.Type)
	return path == driver && name == "Config"
}

// setField sets a field: in its last assignment, else in the literal, else after
// the statement that makes the config.
func (c *config) setField(field, value string) {
	if found := c.assigned(field); found != nil {
		c.replace(found[len(found)-1].value, value)
		return
	}
	if c.literal == nil {
		c.after(c.list[c.ready], c.variable+"."+field+" = "+value)
		return
	}
	if at := c.element(field); at != nil {
		c.replace(at, value)
		return
	}
	brace := c.offset(c.literal.Lbrace) + 1
	text := field + ": " + value
	if len(c.literal.Elts) > 0 {
		text += ","
		first := c.offset(c.literal.Elts[0].Pos())
		if gap := string(c.text[brace:first]); strings.Contains(gap, "\n") {
			text = "\n" + gap[strings.LastIndexByte(gap, '\n')+1:] + text
		} else {
			text += " "
		}
	}
	c.edits = append(c.edits, splice{brace, brace, text})
}

// element returns the value of a field in the literal; nil without one.
func (c *config) element(field string) ast.Expr {
	for _, e := range c.literal.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if key, ok := kv.Key.(*ast.Ident); ok && key.Name == field {
				return kv.Value
			}
		}
	}
	return nil
}

// An assignment sets a field to a value; stmt is the index, in the config's
// list, of the statement that contains it.
type assignment struct {
	value ast.Expr
	stmt  int
}

// assigned returns the assignments to a field after the statement that makes the
// config.
func (c *config) assigned(field string) []assignment {
	var found []assignment
	if c.variable == "" {
		return nil
	}
	for i := c.made + 1; i < len(c.list); i++ {
		ast.Inspect(c.list[i], func(n ast.Node) bool {
			a, ok := n.(*ast.AssignStmt)
			if !ok || len(a.Lhs) != len(a.Rhs) {
				return true
			}
			for k, lhs := range a.Lhs {
				sel, ok := lhs.(*ast.SelectorExpr)
				if !ok || sel.Sel.Name != field {
					continue
				}
				if x, ok := sel.X.(*ast.Ident); ok && x.Name == c.variable {
					found = append(found, assignment{a.Rhs[k], i})
				}
			}
			return true
		})
	}
	return found
}

// setSocket sets the config's address to a unix socket. Existing assignments
// stay: otherwise the variables that they read could be unused.
func (c *config) setSocket(path string) {
	network, address := strconv.Quote("unix"), strconv.Quote(path)
	if c.variable == "" {
		for field, value := range map[string]string{"Net": network, "Addr": address} {
			c.setField(field, value)
		}
		return
	}
	last := c.ready
	var is [2]string
	for k, field := range []string{"Net", "Addr"} {
		if c.literal != nil {
			if at := c.element(field); at != nil {
				is[k] = c.code(at)
			}
		}
		if found := c.assigned(field); found != nil {
			is[k] = c.code(found[len(found)-1].value)
			last = max(last, found[len(found)-1].stmt)
		}
	}
	if is != [2]string{network, address} {
		c.after(c.list[last], c.variable+".Net, "+c.variable+".Addr = "+network+", "+address)
	}
}
