package appenv

import (
	"errors"
	"go/ast"
	"strconv"
)

const (
	setOpen = "SetMaxOpenConns"
	setIdle = "SetMaxIdleConns"
)

// setPool lets n connections at least be open, and keeps n idle ones: with
// database/sql's default of two idle connections, a larger pool reconnects all the time.
//
// It lowers no limit and adds none. A request that reads rows or has a transaction may
// need a second connection for another statement. Where as many requests as the limit
// do so at once, each waits for the others, until a time-out.
func (src *source) setPool(n int) error {
	found := 0
	for _, f := range src.files {
		found += f.setPools(n)
	}
	if found == 0 { // no limit of open connections: keep idle ones after the opening
		for _, f := range src.files {
			found += f.addPools(n)
		}
	}
	if found == 0 {
		return errors.New("the source does not open a database in a way that is known here")
	}
	return nil
}

// setPools edits the existing calls.
func (f *file) setPools(n int) (found int) {
	f.lists(func(list []ast.Stmt) {
		for _, stmt := range list {
			db, size := f.limits(stmt, setOpen)
			if db == "" {
				continue
			}
			found++
			if f.below(size, n) {
				f.replace(size, strconv.Itoa(n))
			}
			f.keepIdle(db, list, stmt, n)
		}
	})
	return found
}

// below reports whether a limit is a number below n. Numbers below 1 are no limit of
// open connections.
func (f *file) below(limit ast.Expr, n int) bool {
	now, err := strconv.Atoi(f.code(limit))
	return err == nil && now > 0 && now < n
}

// limits parses a statement as a call of a pool's method with one argument.
func (f *file) limits(stmt ast.Stmt, method string) (db string, size ast.Expr) {
	e, ok := stmt.(*ast.ExprStmt)
	if !ok {
		return "", nil
	}
	call, ok := e.X.(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return "", nil
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != method {
		return "", nil
	}
	return f.code(sel.X), call.Args[0]
}

// idle returns the argument of the call in the same list that limits a pool's
// idle connections, nil without one.
func (f *file) idle(db string, list []ast.Stmt) (size ast.Expr) {
	for _, stmt := range list {
		if of, n := f.limits(stmt, setIdle); of == db {
			size = n
		}
	}
	return size
}

// keepIdle lets a pool keep n idle connections at least. Where the list has no call that
// limits them, it is added after a statement.
func (f *file) keepIdle(db string, list []ast.Stmt, stmt ast.Stmt, n int) {
	idle := f.idle(db, list)
	switch {
	case idle == nil:
		f.after(stmt, db+"."+setIdle+"("+strconv.Itoa(n)+")")
	case f.below(idle, n) || f.code(idle) == "0": // 0: none are kept
		f.replace(idle, strconv.Itoa(n))
	}
}
