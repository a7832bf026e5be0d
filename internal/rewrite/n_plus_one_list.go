package rewrite

import (
	"fmt"
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"
)

// A loop may go over what a call returns, which is called once. It gets a name, so that the keys of
// its elements can be collected before the loop:
//
//	for _, id := range ids(r) {
//
//	list := ids(r)
//	for _, id := range list {

// listName is the name that what a loop goes over gets; "" where it is no call.
func (l *perElement) listName(loop ast.Stmt) string {
	n, ok := loop.(*ast.RangeStmt)
	if !ok {
		return ""
	}
	if _, isCall := ast.Unparen(n.X).(*ast.CallExpr); !isCall {
		return ""
	}
	switch l.pass.TypesInfo.TypeOf(n.X).Underlying().(type) {
	case *types.Slice, *types.Array, *types.Map:
		return freshNumbered(namesAround(l.pass, loop.Pos()), "list"+ordinal(l.pass, loop))
	}
	return ""
}

// named gives the list its name: a line before the others, and an edit of the loop's head.
func (l *perElement) named(source *sourceText, loop ast.Stmt, lines []string) ([]string, []analysis.TextEdit) {
	name := l.listName(loop)
	if name == "" {
		return lines, nil
	}
	x := loop.(*ast.RangeStmt).X
	return append([]string{fmt.Sprintf("%s := %s", name, source.text(x.Pos(), x.End()))}, lines...), []analysis.TextEdit{edit(x.Pos(), x.End(), name)}
}
