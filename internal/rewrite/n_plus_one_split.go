package rewrite

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
)

// A loop over rows as they arrive knows none of its later elements:
//
//	for rows.Next() {
//		var p Post
//		if err := rows.Scan(&p.ID, &p.UserID); err != nil {
//			return err
//		}
//		u, err := user(p.UserID)
//		…
//	}
//
// readFirst makes two loops of it: one reads the rows, and one goes over them. Then the rewrites of
// loops over a list fit, and the connection of the rows is free while the others are asked for.
type arrivingLoop struct {
	*perElement
	loop   *ast.ForStmt
	rows   *types.Var
	prefix []ast.Stmt // reads a row
	rest   []ast.Stmt // goes on with it
	carry  []*types.Var
	fails  []*types.Var // errors that the prefix declares and the rest names
	// scanned is the error of the Scan, nil where no variable has it.
	scanned *types.Var
	errors  []string // lines that begin a round of the other loop
}

// readFirst gives a place without a fix the first half of one.
func (l *perElement) readFirst(p *place, call ast.Node, around ast.Stmt) {
	loop, ok := around.(*ast.ForStmt)
	if !ok || rowsOf(loop) == nil {
		return
	}
	why := p.why
	if why.at == nil {
		why = l.refused
	}
	o := &arrivingLoop{perElement: l, loop: loop, rows: localVar(l.pass.TypesInfo, rowsOf(loop))}
	if !o.cursor() || !o.parts(call) || !o.carried() || !o.harmless() || !o.errorLines() {
		p.why = l.refused
		return
	}
	if edits, ok := o.edits(); ok {
		p.fixes, p.how, p.why = suggested("Read the rows first", edits), "read the list first, and then the rows of all its elements by one statement", refusal{}
		return
	}
	p.why = why
}

// cursor reports whether the loop goes over the rows of a query of the function.
func (o *arrivingLoop) cursor() bool {
	_, labeled := parentOf(o.pass, o.loop).(*ast.LabeledStmt)
	return o.needs(o.rows != nil && !labeled && o.loop.Init == nil && o.loop.Post == nil && slices.ContainsFunc(o.calls.Calls, func(c *sqlcall.Call) bool {
		return c.Op == sqlcall.Query && assignedTo(o.pass, c, 0) == o.rows
	}), o.loop, "the loop does not go over the rows of a query of the function")
}

// parts divides the body behind the Scan and the check of its error.
func (o *arrivingLoop) parts(call ast.Node) bool {
	body := o.loop.Body.List
	at := slices.IndexFunc(body, func(s ast.Stmt) bool { return o.asks(s, scanMethods...) })
	if !o.needs(at >= 0, o.loop, "the loop reads its row by no Scan") {
		return false
	}
	read := o.checked(body[at:])
	if !o.needs(read > 0, body[at], "the error of the Scan is not checked at once") {
		return false
	}
	o.prefix, o.rest = body[:at+read], body[at+read:]
	if !o.needs(len(o.rest) > 0 && o.rest[0].Pos() <= call.Pos(), call, "the statement is sent before the row is read") {
		return false
	}
	for i, s := range o.prefix {
		if !o.needs(o.asks(s, scanMethods...) || o.still.quiet(s) || i == len(o.prefix)-1 && onlyLeaves(s), s, "the loop does more before it reads its row") {
			return false
		}
	}
	for _, s := range o.rest {
		if !o.needs(!o.mentions(s, o.rows) || o.onlyCloses(s), s, "the loop goes on with the rows that it reads") {
			return false
		}
	}
	return o.toTheEnd() && o.leavesNothing()
}

// onlyLeaves reports whether a statement is a check that leaves the round.
func onlyLeaves(s ast.Stmt) bool {
	i, ok := s.(*ast.IfStmt)
	if !ok || i.Else != nil || len(i.Body.List) == 0 {
		return false
	}
	switch i.Body.List[len(i.Body.List)-1].(type) {
	case *ast.ReturnStmt, *ast.BranchStmt:
		return true
	}
	return false
}

// asks reports whether a statement calls a method of the rows.
func (o *arrivingLoop) asks(s ast.Stmt, methods ...string) (found bool) {
	ast.Inspect(s, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		found = found || ok && slices.Contains(methods, sel.Sel.Name) && localVar(o.pass.TypesInfo, sel.X) == o.rows
		return true
	})
	return found
}

// onlyCloses reports whether a statement names the rows only to close them.
func (o *arrivingLoop) onlyCloses(s ast.Stmt) bool {
	ok := true
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if localVar(o.pass.TypesInfo, n.X) == o.rows && n.Sel.Name == "Close" {
				return false
			}
		case *ast.Ident:
			ok = ok && o.pass.TypesInfo.Uses[n] != o.rows
		}
		return true
	})
	return ok
}

// carried finds the variables of a round that the prefix declares and the rest names. Of those
// around the loop, the prefix may set errors only.
func (o *arrivingLoop) carried() bool {
	from, to := o.prefix[0].Pos(), o.prefix[len(o.prefix)-1].End()
	for _, s := range o.prefix {
		for _, v := range setIn(o.pass.TypesInfo, s) {
			inside := from <= v.Pos() && v.Pos() < to
			if !o.needs(inside || isError(v.Type()), s, "the row is read into a variable around the loop") {
				return false
			}
		}
	}
	ok := true
	for _, s := range o.rest {
		ast.Inspect(s, func(n ast.Node) bool {
			id, isIdent := n.(*ast.Ident)
			v, isVar := o.pass.TypesInfo.Uses[id].(*types.Var)
			if !isIdent || !isVar || v.IsField() || v.Pos() < from || v.Pos() >= to {
				return true
			}
			switch {
			case isError(v.Type()):
				if !slices.Contains(o.fails, v) {
					o.fails = append(o.fails, v)
				}
			case !slices.Contains(o.carry, v):
				o.carry = append(o.carry, v)
			}
			return true
		})
	}
	for _, v := range o.carry {
		ok = ok && !strings.Contains(types.TypeString(v.Type(), nil), "RawBytes")
	}
	return o.needs(ok && len(o.carry) > 0, o.loop, "no variable has the row, or one has bytes that the next row takes") && o.apart()
}

// apart reports whether the prefix reads nothing that the rest of the round before sets.
func (o *arrivingLoop) apart() bool {
	rest := &ast.BlockStmt{List: o.rest}
	set := setIn(o.pass.TypesInfo, rest)
	ok := true
	for _, s := range o.prefix {
		ast.Inspect(s, func(n ast.Node) bool {
			id, isIdent := n.(*ast.Ident)
			v, isVar := o.pass.TypesInfo.Uses[id].(*types.Var)
			ok = ok && !(isIdent && isVar && !isError(v.Type()) && v.Pos() < o.loop.Pos() && slices.Contains(set, v))
			return ok
		})
	}
	return o.needs(ok, o.loop, "the loop sets what it uses to read its next row")
}

// setIn are the variables that a node sets, or whose addresses it takes.
func setIn(info *types.Info, n ast.Node) (out []*types.Var) {
	add := func(e ast.Expr) {
		id := rootIdent(ast.Unparen(e))
		if id == nil {
			return
		}
		if v, ok := info.ObjectOf(id).(*types.Var); ok && id.Name != "_" {
			out = append(out, v)
		}
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, l := range n.Lhs {
				add(l)
			}
		case *ast.IncDecStmt:
			add(n.X)
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				add(n.X)
			}
		}
		return true
	})
	return out
}

// harmless reports whether the rest has no effect but on variables: where reading a later row
// fails, it has not run for the rows before.
func (o *arrivingLoop) harmless() bool {
	w := &tableWrites{perElement: o.perElement, all: true, known: map[*types.Func]bool{}}
	for _, s := range o.rest {
		if !w.noneIn(s, true) {
			if w.culprit == nil {
				w.culprit = s
			}
			return o.no(w.culprit, "the loop does more than read: that would come after all rows are read")
		}
	}
	return true
}

// edits end the loop behind its prefix, and begin another one over what it has read.
func (o *arrivingLoop) edits() ([]analysis.TextEdit, bool) {
	source := newSource(o.pass, o.loop.Pos())
	if source == nil {
		return nil, o.no(o.loop, "the file cannot be read")
	}
	taken, nth := namesAround(o.pass, o.loop.Pos()), ordinal(o.pass, o.loop)
	list := freshNumbered(taken, "list"+nth)
	round, ok := o.oneRow(source, list)
	if len(o.carry) > 1 {
		round, ok = o.severalValues(source, list, freshNumbered(taken, "row"+nth), freshNumbered(taken, "scanned"+nth))
	}
	if !ok {
		return nil, false
	}
	round.head = append(round.head, o.errors...)
	indent := source.indent(o.loop.Pos())
	opening := layOut(append(round.declares, fmt.Sprintf("var %s []%s", list, round.element)), indent) + indent
	between := fmt.Sprintf("\n%s\t%s = append(%s, %s)\n%s}\n%s%s", indent, list, list, round.value, indent, indent, strings.Join(round.head, "\n"+indent+"\t"))
	end := o.prefix[len(o.prefix)-1].End()
	return []analysis.TextEdit{edit(o.loop.Pos(), o.loop.Pos(), opening), edit(end, end, between)}, true
}

// A readRow is what one loop keeps of a row for the other one.
type readRow struct {
	declares       []string // lines before the loops
	element, value string   // type and value of an element of the list
	head           []string // first lines of the other loop
}

// oneRow keeps the only variable.
func (o *arrivingLoop) oneRow(source *sourceText, list string) (readRow, bool) {
	v := o.carry[0]
	name, ok := typeName(o.pass, source.file, v.Type())
	r := readRow{element: name, value: v.Name(), head: []string{fmt.Sprintf("for _, %s := range %s {", v.Name(), list)}}
	return r, o.needs(ok, o.loop, nameTaken) && o.needs(goAtLeast(o.pass, o.loop.Pos(), "go1.22") || !o.shares(v), o.loop, "the loop keeps the address of its row")
}

// severalValues keeps the variables in a struct.
func (o *arrivingLoop) severalValues(source *sourceText, list, row, kind string) (readRow, bool) {
	r := readRow{element: kind, declares: []string{"type " + kind + " struct {"}, head: []string{fmt.Sprintf("for _, %s := range %s {", row, list)}}
	var values []string
	for _, v := range o.carry {
		name, ok := typeName(o.pass, source.file, v.Type())
		if !o.needs(ok, o.loop, nameTaken) {
			return r, false
		}
		r.declares = append(r.declares, v.Name()+" "+name)
		r.head = append(r.head, fmt.Sprintf("%s := %s.%s", v.Name(), row, v.Name()))
		values = append(values, v.Name())
	}
	r.declares = append(r.declares, "}")
	r.value = kind + "{" + strings.Join(values, ", ") + "}"
	return r, true
}

// shares reports whether the rest keeps the address of a variable, or a closure that names it.
func (o *arrivingLoop) shares(v *types.Var) bool {
	x := sharedIndex(o.pass)
	for _, id := range x.uses[v] {
		if !o.ofRest(id) {
			continue
		}
		if enclosing[*ast.FuncLit](x, id) != nil && enclosing[*ast.FuncLit](x, id).Pos() > o.loop.Pos() {
			return true
		}
		for e, ok := ast.Expr(id), true; ok; e, ok = x.parent[e].(ast.Expr) {
			if u, isUnary := e.(*ast.UnaryExpr); isUnary && u.Op == token.AND {
				return true
			}
			if sel, isSel := e.(*ast.SelectorExpr); isSel {
				if s := o.pass.TypesInfo.Selections[sel]; s != nil && s.Kind() == types.MethodVal {
					if _, byPointer := s.Obj().(*types.Func).Signature().Recv().Type().(*types.Pointer); byPointer {
						return true
					}
				}
			}
		}
	}
	return false
}
