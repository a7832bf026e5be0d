package rewrite

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"
	"time"
)

// upper is the first time behind the rows of a span. A group begins at most one
// width before its last row; a bound that lies on a whole width needs no more.
func (o *overreads) upper(sp span, g grouping, rw *rewrite) string {
	to := o.x.text(sp.to)
	switch {
	case g.width == 0 && sp.single:
		return o.plus(to, 1, rw, sp.to)
	case g.width == 0, !sp.single && o.aligned(sp.to, g.width, 3):
		return to
	}
	return o.plus(to, g.width, rw, sp.to)
}

// plus writes a time with a duration added.
func (o *overreads) plus(e string, ns int64, rw *rewrite, at ast.Expr) string {
	pkg := rw.pkg(at.Pos(), "time")
	for _, u := range units {
		if ns%u.ns != 0 {
			continue
		}
		if ns == u.ns {
			return fmt.Sprintf("%s.Add(%s.%s)", e, pkg, u.name)
		}
		return fmt.Sprintf("%s.Add(%d * %s.%s)", e, ns/u.ns, pkg, u.name)
	}
	return e
}

// aligned reports whether a time is a whole multiple of a width: it was truncated
// to a multiple, or is a parameter for which every caller gives such a time.
func (o *overreads) aligned(e ast.Expr, width int64, depth int) bool {
	if depth == 0 {
		return false
	}
	e = ast.Unparen(e)
	if call, ok := e.(*ast.CallExpr); ok {
		sel, isSel := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		fn := o.x.callee(call)
		if !isSel || len(call.Args) != 1 {
			return isSel && isFunc(fn, "time", "Time.UTC", "Time.Local") && o.aligned(sel.X, width, depth)
		}
		n, exact := o.int64(call.Args[0])
		switch {
		case isFunc(fn, "time", "Time.Truncate"):
			return exact && n > 0 && n%width == 0
		case isFunc(fn, "time", "Time.Add"):
			return exact && n%width == 0 && o.aligned(sel.X, width, depth)
		case isFunc(fn, "time", "Time.In"):
			return o.aligned(sel.X, width, depth)
		}
		return false
	}
	return o.everySource(e, func(e ast.Expr) bool { return o.aligned(e, width, depth-1) })
}

// inYears reports whether a time lies in the years that a DATETIME can hold: it is
// the present time, or was read from text with a year of four digits.
func (o *overreads) inYears(e ast.Expr, depth int) bool {
	if depth == 0 {
		return false
	}
	e = ast.Unparen(e)
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return o.everySource(e, func(e ast.Expr) bool { return o.inYears(e, depth-1) })
	}
	fn := o.x.callee(call)
	if isFunc(fn, "time", "Now", "Parse", "ParseInLocation") {
		return true
	}
	sel, isSel := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !isSel || !isFunc(fn, "time", "Time.Add", "Time.Truncate", "Time.UTC", "Time.In", "Time.Local") {
		return false
	}
	for _, a := range call.Args {
		if n, exact := o.int64(a); isFunc(fn, "time", "Time.Add") && (!exact || n > int64(366*24*time.Hour) || n < -int64(366*24*time.Hour)) {
			return false
		}
	}
	return o.inYears(sel.X, depth)
}

// everySource reports whether a test holds for the value that defines a variable,
// or for a parameter for the argument of every call.
func (o *overreads) everySource(e ast.Expr, test func(ast.Expr) bool) bool {
	v := o.x.variable(e)
	if v == nil {
		return false
	}
	if value := o.x.fixedValue(v); value != nil {
		return test(value)
	}
	id := o.x.defs[v]
	if id == nil || len(o.x.writes(v)) > 0 {
		return false
	}
	d := enclosing[*ast.FuncDecl](o.x, id)
	if d == nil {
		return false
	}
	fn, ok := o.x.pass.TypesInfo.Defs[d.Name].(*types.Func)
	if !ok || len(o.x.calls[fn]) == 0 || len(o.x.calls[fn]) != len(o.x.uses[fn]) || fn.Exported() && o.x.pass.Pkg.Name() != "main" {
		return false
	}
	at := -1
	for i := range fn.Signature().Params().Len() {
		if fn.Signature().Params().At(i) == v {
			at = i
		}
	}
	if at < 0 {
		return false
	}
	for _, c := range o.x.calls[fn] {
		if at >= len(c.Args) || !test(c.Args[at]) {
			return false
		}
	}
	return true
}

// addParameters adds the bounds to a function's parameters, with a line of comment.
func (o *overreads) addParameters(rw *rewrite, d *ast.FuncDecl, names []string, column string) {
	list := strings.Join(names, ", ") + " " + rw.pkg(d.Pos(), "time") + ".Time"
	if params := d.Type.Params.List; len(params) > 0 {
		rw.insert(params[len(params)-1].End(), ", "+list)
	} else {
		rw.insert(d.Type.Params.Opening+1, list)
	}
	rw.insert(d.Type.Func, fmt.Sprintf("// Only rows of %s <= %s < %s are read.\n", names[0], strings.Trim(column, "`"), names[1]))
}

// passArguments adds the bounds to the arguments of the call.
func (o *overreads) passArguments(rw *rewrite, call *ast.CallExpr, args ...string) {
	list := strings.Join(args, ", ")
	if n := len(call.Args); n > 0 {
		rw.insert(call.Args[n-1].End(), ", "+list)
		return
	}
	rw.insert(call.Lparen+1, list)
}

// clampSource moves a time into the years that a DATETIME can hold. Drivers refuse
// to send a year of more than four digits.
const clampSource = `// %[1]s is the nearest time to t that a DATETIME can hold.
func %[1]s(t %[2]s.Time) %[2]s.Time {
	first, last := %[2]s.Date(1, 1, 3, 0, 0, 0, 0, %[2]s.UTC), %[2]s.Date(9999, 12, 30, 0, 0, 0, 0, %[2]s.UTC)
	switch {
	case t.Before(first):
		return first
	case t.After(last):
		return last
	}
	return t
}
`

// addClamp adds the function behind a declaration and returns its name.
func (o *overreads) addClamp(rw *rewrite, d *ast.FuncDecl) string {
	name := o.x.fresh("storedTime")
	_, to := o.x.lines(posNode(d.Body.Rbrace))
	rw.insert(to, "\n"+fmt.Sprintf(clampSource, name, rw.pkg(d.Pos(), "time")))
	return name
}
