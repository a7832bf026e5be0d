package rewrite

import (
	"go/ast"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// A test may have values of the row in its text, which fmt.Sprintf makes:
//
//	fmt.Sprintf("… WHERE id = ? AND ST_Contains(ST_PolygonFromText(%s), ST_GeomFromText(%s))", area.text(), point)
//
// The rewrite reads such a part as an argument, and writes it into the text of the list.

// spliceMark stands in a condition for a part that is put into the text of the list.
const spliceMark = "\x00"

// withSplices is the call with a placeholder and an argument for each part that is put into
// its text; nil if it has parts in another way. spliced are the positions of these arguments.
func (o *overreads) withSplices(c *sqlcall.Call) (call *sqlcall.Call, spliced map[int]bool) {
	if c.Text == nil || c.Text.Holes == 0 {
		return c, nil
	}
	made := o.sprintf(c.QueryArg)
	if made == nil || c.Spread || c.Named || c.Text.Expanded {
		return nil, nil
	}
	text, verbs := marked(made)
	tokens, ok := sqltext.Unknown.Tokens(text)
	if !ok || len(verbs) == 0 || len(verbs) != len(made.Args)-1 {
		return nil, nil
	}
	copied := *c
	copied.Text, copied.Args, spliced = &sqlcall.Text{SQL: text}, nil, map[int]bool{}
	left, parts := c.Args, made.Args[1:]
	for _, t := range tokens {
		if t.Kind != sqltext.Placeholder {
			continue
		}
		from := &left
		if slices.Contains(verbs, t.Start) {
			spliced[len(copied.Args)] = true
			from = &parts
		}
		if len(*from) == 0 {
			return nil, nil
		}
		copied.Args, *from = append(copied.Args, (*from)[0]), (*from)[1:]
	}
	if len(left)+len(parts) > 0 {
		return nil, nil
	}
	return &copied, spliced
}

// marked is the format of a call of fmt.Sprintf with a question mark for each verb, and their
// offsets; nothing where it has other verbs than %s and %v.
func marked(made *ast.CallExpr) (text string, verbs []int) {
	lit, ok := ast.Unparen(made.Args[0]).(*ast.BasicLit)
	if !ok {
		return "", nil
	}
	format, err := strconv.Unquote(lit.Value)
	if err != nil {
		return "", nil
	}
	for {
		before, after, more := strings.Cut(format, "%")
		text += before
		if !more {
			return text, verbs
		}
		if after == "" || after[0] != 's' && after[0] != 'v' {
			return "", nil
		}
		verbs = append(verbs, len(text))
		text += "?"
		format = after[1:]
	}
}

// sprintf is the call of fmt.Sprintf that makes a text, directly or through a variable that
// is set once.
func (o *overreads) sprintf(e ast.Expr) *ast.CallExpr {
	e = ast.Unparen(e)
	if v := o.x.variable(e); v != nil && isLocal(v) {
		e = o.x.fixedValue(v)
	}
	call, ok := e.(*ast.CallExpr)
	if !ok || !isFunc(o.x.callee(call), "fmt", "Sprintf") || call.Ellipsis.IsValid() {
		return nil
	}
	return call
}

// splicedText is a part as the list's statement has it: a text of the row's columns between
// quotes as an expression over these columns, and one that is known before the list is read
// as it is.
func (t *rowTest) splicedText(e ast.Expr) (string, bool) {
	if call := t.sprintf(e); call != nil {
		lit, ok := ast.Unparen(call.Args[0]).(*ast.BasicLit)
		if !ok {
			return "", false
		}
		format, err := strconv.Unquote(lit.Value)
		if n := len(format); err == nil && n > 2 && format[0] == '\'' && format[n-1] == '\'' {
			if text, ok := t.formattedAs(format[1:n-1], call.Args[1:]); ok {
				return text, true
			}
		}
	}
	if v := t.x.variable(ast.Unparen(e)); v != nil && within(posNode(v.Pos()), t.s.loop) || !t.before(e) || !isText(t.x.typeOf(e)) {
		return "", false
	}
	t.parts = append(t.parts, t.x.text(e))
	return spliceMark, true
}

// splice puts a condition with parts into the text of the list's statement, which becomes a
// format.
func (t *rowTest) splice(rw *rewrite, condition string) {
	c := t.rd.first
	source := newSource(t.x.pass, c.Pos())
	if source == nil || c.QueryArg == nil || c.Text == nil || c.Text.Expanded || c.Text.In != nil {
		rw.failed = true
		return
	}
	removed, ok := withoutText(t.x.pass, t.sql, source, c)
	if !ok {
		rw.failed = true
		return
	}
	for _, e := range removed {
		rw.put(e.Pos, e.End, "")
	}
	text := sqltext.Apply(c.Text.SQL, t.list().and(condition))
	text = strings.ReplaceAll(strings.ReplaceAll(text, "%", "%%"), spliceMark, "%s")
	rw.replace(c.QueryArg, rw.pkg(c.Pos(), "fmt")+".Sprintf("+goString(text)+", "+strings.Join(t.parts, ", ")+")")
}
