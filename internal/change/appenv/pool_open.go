package appenv

import (
	"fmt"
	"go/ast"
	"go/token"
	"strconv"
	"strings"
)

// addPools keeps n idle connections after each opening of a database whose pool has a
// name, or gets one: an assignment, a declaration, the first part of an if, and a return.
func (f *file) addPools(n int) (found int) {
	f.lists(func(list []ast.Stmt) {
		for i, stmt := range list {
			if f.addPool(list, i, stmt, n) {
				found++
			}
		}
	})
	for _, d := range f.tree.Decls {
		if g, ok := d.(*ast.GenDecl); ok {
			found += f.addPackagePools(g, n)
		}
	}
	return found
}

// addPool edits the list of a statement that opens a database.
func (f *file) addPool(list []ast.Stmt, i int, stmt ast.Stmt, n int) bool {
	at := stmt
	var db string
	switch s := stmt.(type) {
	case *ast.AssignStmt:
		db = f.openedBy(s.Lhs, s.Rhs)
		if len(s.Lhs) == 2 {
			at = list[checked(list, i)]
		}
	case *ast.DeclStmt:
		if names, values := oneVariable(s.Decl); values != nil {
			db = f.openedBy(names, values)
			if len(names) == 2 {
				at = list[checked(list, i)]
			}
		}
	case *ast.IfStmt: // if db, err = sql.Open(…); err != nil: db is declared before it
		if a, ok := s.Init.(*ast.AssignStmt); ok && a.Tok == token.ASSIGN {
			db = f.openedBy(a.Lhs, a.Rhs)
		}
	case *ast.ReturnStmt:
		return f.returnPool(s, n)
	}
	if db == "" {
		return false
	}
	f.keepIdle(db, list, at, n)
	return true
}

// returnPool names the pool that a function opens and returns in one statement.
func (f *file) returnPool(s *ast.ReturnStmt, n int) bool {
	if len(s.Results) != 1 || !f.opens(s.Results[0]) {
		return false
	}
	open := f.code(s.Results[0])
	keep := "pool." + setIdle + "(" + strconv.Itoa(n) + ")"
	if f.opensAlone(s.Results[0]) {
		f.replace(s, f.block(s, "pool := "+open, keep, "return pool"))
	} else {
		f.replace(s, f.block(s, "pool, err := "+open, "if err != nil {\n\treturn pool, err\n}", keep, "return pool, nil"))
	}
	return true
}

// block is a block of lines in place of a statement. Its names hide none of the list.
func (f *file) block(s ast.Stmt, lines ...string) string {
	indent := f.indent(s)
	inner := strings.ReplaceAll(strings.Join(lines, "\n"), "\n", "\n"+indent+"\t")
	return "{\n" + indent + "\t" + inner + "\n" + indent + "}"
}

// addPackagePools adds a function init for the pools of a declaration of variables. A
// pool that could not be opened is nil.
func (f *file) addPackagePools(g *ast.GenDecl, n int) (found int) {
	if g.Tok != token.VAR {
		return 0
	}
	end := f.offset(g.End())
	for _, spec := range g.Specs {
		v, ok := spec.(*ast.ValueSpec)
		if !ok {
			continue
		}
		db := f.openedBy(idents(v.Names), v.Values)
		if db == "" {
			continue
		}
		found++
		if f.keepKnown(db, n) {
			continue
		}
		text := fmt.Sprintf("\n\nfunc init() {\n\tif %s != nil {\n\t\t%s.%s(%d)\n\t}\n}", db, db, setIdle, n)
		f.edits = append(f.edits, splice{end, end, text})
	}
	return found
}

// keepKnown edits the calls of the file that limit the idle connections of a pool. It
// reports whether there are any.
func (f *file) keepKnown(db string, n int) (known bool) {
	f.lists(func(list []ast.Stmt) {
		if f.idle(db, list) != nil {
			known = true
			f.keepIdle(db, list, list[0], n)
		}
	})
	return known
}

// openedBy returns the pool to which an opening is assigned, "" for another assignment.
func (f *file) openedBy(to, from []ast.Expr) string {
	if len(from) != 1 || len(to) > 2 || !f.opens(from[0]) {
		return ""
	}
	if db := f.code(to[0]); db != "_" {
		return db
	}
	return ""
}

// opens reports whether an expression opens a database.
func (f *file) opens(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	path, name := f.of(call.Fun)
	return opensByName(path, name)
}

// opensAlone reports whether the function of an opening gives no error beside the pool.
func (f *file) opensAlone(e ast.Expr) bool {
	_, name := f.of(e.(*ast.CallExpr).Fun)
	return strings.HasPrefix(name, "Must") || name == "OpenDB"
}

// oneVariable returns names and values of a declaration of variables with one line, nil
// for another.
func oneVariable(d ast.Decl) (names, values []ast.Expr) {
	g, ok := d.(*ast.GenDecl)
	if !ok || g.Tok != token.VAR || len(g.Specs) != 1 {
		return nil, nil
	}
	v, ok := g.Specs[0].(*ast.ValueSpec)
	if !ok {
		return nil, nil
	}
	return idents(v.Names), v.Values
}

func idents(names []*ast.Ident) []ast.Expr {
	all := make([]ast.Expr, len(names))
	for i, n := range names {
		all[i] = n
	}
	return all
}
