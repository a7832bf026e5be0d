package rewrite

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// aheadCode is what the rewrites of a getter's call have in common: the rows that were read
// before are in a map, and a function looks a row up there or calls the getter.
type aheadCode struct {
	call     *ast.CallExpr
	g        *getter
	loop     ast.Stmt
	source   *sourceText
	names    map[string]string // of the new variables
	row, key string            // types
	send     string            // the call that reads rows, up to its destination
}

// aheadCode chooses the names of the new variables: those of every rewrite, and more. It is
// false if the rows cannot be read there.
func (l *perElement) aheadCode(call *ast.CallExpr, g *getter, loop ast.Stmt, more ...string) (*aheadCode, bool) {
	c := &aheadCode{call: call, g: g, loop: loop, source: newSource(l.pass, loop.Pos()), names: map[string]string{}}
	if c.source == nil {
		return nil, false
	}
	handle, method, lead := call.Args[g.handle], "Select", ""
	if g.context >= 0 {
		method, lead = "SelectContext", c.text(call.Args[g.context])+", "
	}
	if obj, _, _ := types.LookupFieldOrMethod(l.pass.TypesInfo.TypeOf(handle), true, l.pass.Pkg, method); obj == nil {
		return nil, false
	}
	var ok, ok2 bool
	c.row, ok = typeName(l.pass, c.source.file, g.row)
	c.key, ok2 = typeName(l.pass, c.source.file, l.pass.TypesInfo.TypeOf(g.call.Args[0]))
	taken, n := namesAround(l.pass, loop.Pos()), ordinal(l.pass, loop)
	for _, base := range append([]string{"rows", "row", "byKey", "get", "key"}, more...) {
		c.names[base] = fresh(taken, "ahead"+upperFirst(base)+n)
		ok = ok && c.names[base] != ""
	}
	c.send = fmt.Sprintf("%s.%s(%s&%s", c.text(handle), method, lead, c.names["rows"])
	return c, ok && ok2
}

func (c *aheadCode) text(e ast.Expr) string { return c.source.text(e.Pos(), e.End()) }

// store is the code that adds the rows to the map.
func (c *aheadCode) store() []string {
	return []string{
		fmt.Sprintf("for _, %s := range %s {", c.names["row"], c.names["rows"]),
		fmt.Sprintf("%s[%s.%s] = %s", c.names["byKey"], c.names["row"], c.g.field, c.names["row"]),
		"}",
	}
}

// open begins the function that looks a row up.
func (c *aheadCode) open() string {
	result := c.row
	if c.g.pointer {
		result = "*" + c.row
	}
	return fmt.Sprintf("%s := func(%s %s) (%s, error) {", c.names["get"], c.names["key"], c.key, result)
}

// find is the rest of that function: a row that is not in the map is read by itself.
func (c *aheadCode) find() []string {
	found := c.names["row"]
	if c.g.pointer {
		found = "&" + found
	}
	args := make([]string, len(c.call.Args))
	for i, a := range c.call.Args {
		args[i] = c.text(a)
	}
	args[c.g.key] = c.names["key"]
	return []string{
		fmt.Sprintf("if %s, ok := %s[%s]; ok {", c.names["row"], c.names["byKey"], c.names["key"]),
		fmt.Sprintf("return %s, nil", found),
		"}",
		fmt.Sprintf("return %s(%s)", c.text(c.call.Fun), strings.Join(args, ", ")),
		"}",
	}
}

// edits put the lines before the loop, and call the function in place of the getter.
func (c *aheadCode) edits(lines []string) []analysis.TextEdit {
	indent := c.source.indent(c.loop.Pos())
	return []analysis.TextEdit{
		edit(c.loop.Pos(), c.loop.Pos(), layOut(lines, indent)+indent),
		edit(c.call.Pos(), c.call.End(), fmt.Sprintf("%s(%s)", c.names["get"], c.text(c.call.Args[c.g.key]))),
	}
}
