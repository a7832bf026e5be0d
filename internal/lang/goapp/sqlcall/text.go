package sqlcall

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// Hole stands in the text of a statement for a part that is not constant.
const Hole = "\ufffd"

// A Text is the text of a statement.
type Text struct {
	SQL string
	// Holes counts the parts that are not constant.
	Holes int
	// Expanded: sqlx.In or sqlx.Named changes the text before it is sent.
	Expanded bool
	// In is the call of sqlx.In that expands the text; nil if none does, or if its
	// list of arguments is a slice.
	In *ast.CallExpr
	// Bound: Rebind of sqlx gives the text the placeholders of its database before it is sent.
	Bound bool

	pieces []piece
	arg    ast.Expr // the argument of the call
	shared int      // depth of constants and variables that other code uses, too
	frozen bool     // several calls run a prepared statement of this text
}

// A piece is a part of the text.
type piece struct {
	start  int         // offset in the SQL
	at     []token.Pos // place of each byte, and of the end; nil if it has none in this package
	raw    bool        // of a literal in backquotes
	format bool        // of a format of fmt.Sprintf
	shared bool        // other code uses it, too
}

// push appends a piece.
func (t *Text) push(p piece) {
	p.shared = t.shared > 0
	t.pieces = append(t.pieces, p)
}

// resolve finds the text of a statement; nil if nothing of it is known.
func (r *Result) resolve(e ast.Expr) *Text {
	t := &Text{arg: e}
	var b strings.Builder
	r.add(t, &b, e, 0)
	t.SQL = b.String()
	if strings.Trim(t.SQL, Hole+" \t\n") == "" {
		return nil
	}
	return t
}

// maxDepth bounds chains of constants and variables.
const maxDepth = 40

// add appends the text of an expression.
func (r *Result) add(t *Text, b *strings.Builder, e ast.Expr, depth int) {
	info := r.pass.TypesInfo
	e = ast.Unparen(e)
	if depth > maxDepth {
		hole(t, b)
		return
	}
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			literal(t, b, e, false)
			return
		}
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			r.add(t, b, e.X, depth+1)
			r.add(t, b, e.Y, depth+1)
			return
		}
	case *ast.Ident:
		if r.named(t, b, e, depth) {
			return
		}
	case *ast.CallExpr:
		if r.called(t, b, e, depth) {
			return
		}
	}
	if v := info.Types[e].Value; v != nil && v.Kind() == constant.String {
		t.push(piece{start: b.Len()})
		b.WriteString(constant.StringVal(v))
		return
	}
	hole(t, b)
}

func hole(t *Text, b *strings.Builder) {
	t.Holes++
	t.push(piece{start: b.Len()})
	b.WriteString(Hole)
}

// named appends the text of a constant, or of a variable that is set once.
func (r *Result) named(t *Text, b *strings.Builder, e *ast.Ident, depth int) bool {
	obj := r.pass.TypesInfo.ObjectOf(e)
	v, ok := r.values[obj]
	if !ok {
		return false
	}
	switch obj.(type) {
	case *types.Const:
	case *types.Var:
		if r.Writes[obj] != 1 || obj.Exported() && obj.Parent() == r.pass.Pkg.Scope() && r.pass.Pkg.Name() != "main" {
			return false
		}
	default:
		return false
	}
	t.Bound = t.Bound || r.bound[obj]
	if r.Uses[obj] != 1 || obj.Exported() && r.pass.Pkg.Name() != "main" {
		t.shared++
		defer func() { t.shared-- }()
	}
	if call, ok := ast.Unparen(v.expr).(*ast.CallExpr); ok && v.index == 0 && r.expands(call) {
		t.Expanded = true
		if f := typeutil.Callee(r.pass.TypesInfo, call); f.Name() == "In" && !call.Ellipsis.IsValid() {
			t.In = call
		}
		r.add(t, b, call.Args[0], depth+1)
		return true
	}
	if v.index != 0 {
		return false
	}
	if _, multi := r.pass.TypesInfo.TypeOf(v.expr).(*types.Tuple); multi {
		return false
	}
	r.add(t, b, v.expr, depth+1)
	return true
}

// expands reports whether a call is sqlx.In or sqlx.Named.
func (r *Result) expands(call *ast.CallExpr) bool {
	f, ok := typeutil.Callee(r.pass.TypesInfo, call).(*types.Func)
	return ok && f.Pkg() != nil && f.Pkg().Path() == sqlxPath && (f.Name() == "In" || f.Name() == "Named") && len(call.Args) > 0
}

// called appends the text that a call returns: fmt.Sprintf, and Rebind of sqlx,
// which keeps the question marks of MySQL and SQLite.
func (r *Result) called(t *Text, b *strings.Builder, call *ast.CallExpr, depth int) bool {
	f, ok := typeutil.Callee(r.pass.TypesInfo, call).(*types.Func)
	if !ok || f.Pkg() == nil || len(call.Args) == 0 {
		return false
	}
	switch {
	case f.FullName() == "fmt.Sprintf" && !call.Ellipsis.IsValid():
		return r.format(t, b, call, depth)
	case r.isRebind(call):
		t.Bound = true
		r.add(t, b, call.Args[0], depth+1)
		return true
	case f.FullName() == "strings.TrimSpace":
		var inner strings.Builder
		probe := &Text{}
		r.add(probe, &inner, call.Args[0], depth+1)
		if s := inner.String(); s != strings.TrimSpace(s) {
			return false
		}
		r.add(t, b, call.Args[0], depth+1)
		return true
	}
	return false
}

// format appends what fmt.Sprintf makes of a constant format: constant arguments
// as they are, others as holes.
func (r *Result) format(t *Text, b *strings.Builder, call *ast.CallExpr, depth int) bool {
	lit, ok := ast.Unparen(call.Args[0]).(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return false
	}
	var inner strings.Builder
	probe := &Text{}
	literal(probe, &inner, lit, true)
	text, at := inner.String(), probe.pieces[0].at
	raw := probe.pieces[0].raw
	arg, from := 1, 0
	flush := func(end int) {
		if end > from {
			t.push(piece{start: b.Len(), at: at[from : end+1], raw: raw, format: true})
			b.WriteString(text[from:end])
		}
	}
	for i := 0; i < len(text); i++ {
		if text[i] != '%' || i+1 >= len(text) {
			continue
		}
		flush(i)
		switch verb := text[i+1]; {
		case verb == '%':
			t.push(piece{start: b.Len()})
			b.WriteByte('%')
		case strings.IndexByte("sdvq", verb) >= 0 && arg < len(call.Args):
			r.formatted(t, b, call.Args[arg], verb, depth)
			arg++
		default:
			hole(t, b) // a flag, a width or an index
			arg++
		}
		i++
		from = i + 1
	}
	flush(len(text))
	return true
}

// formatted appends one argument of fmt.Sprintf.
func (r *Result) formatted(t *Text, b *strings.Builder, arg ast.Expr, verb byte, depth int) {
	v := r.pass.TypesInfo.Types[arg].Value
	switch {
	case verb == 'q' || v == nil && verb != 's' && verb != 'v':
		hole(t, b)
	case v == nil:
		if basic, ok := r.pass.TypesInfo.TypeOf(arg).Underlying().(*types.Basic); ok && basic.Info()&types.IsString != 0 {
			r.add(t, b, arg, depth+1)
			return
		}
		hole(t, b)
	case v.Kind() == constant.String:
		t.push(piece{start: b.Len()})
		b.WriteString(constant.StringVal(v))
	case v.Kind() == constant.Int:
		t.push(piece{start: b.Len()})
		b.WriteString(v.ExactString())
	default:
		hole(t, b)
	}
}

// literal appends a string literal with the place of each byte.
func literal(t *Text, b *strings.Builder, lit *ast.BasicLit, format bool) {
	p := piece{start: b.Len(), format: format, raw: lit.Value[0] == '`'}
	if p.raw {
		body := lit.Value[1 : len(lit.Value)-1]
		for i := range len(body) {
			if body[i] == '\r' {
				continue // the compiler drops it
			}
			p.at = append(p.at, lit.Pos()+token.Pos(1+i))
			b.WriteByte(body[i])
		}
	} else {
		body := lit.Value[1 : len(lit.Value)-1]
		for len(body) > 0 {
			pos := lit.Pos() + token.Pos(len(lit.Value)-1-len(body))
			c, multibyte, rest, err := strconv.UnquoteChar(body, '"')
			if err != nil {
				break
			}
			var buf [utf8.UTFMax]byte
			n := 1
			buf[0] = byte(c)
			if c >= utf8.RuneSelf && multibyte {
				n = utf8.EncodeRune(buf[:], c)
			}
			for i := range n {
				p.at = append(p.at, pos)
				b.WriteByte(buf[i])
			}
			body = rest
		}
	}
	p.at = append(p.at, lit.End()-1)
	t.push(p)
}

// Edits turns edits of the statement into edits of the source. ok is false if a
// part has no place of its own in the source, or if other code uses it, too.
func (t *Text) Edits(edits ...sqltext.Edit) (out []analysis.TextEdit, ok bool) {
	if t.frozen {
		return nil, false
	}
	for _, e := range edits {
		p, found := t.pieceOf(e.Start, e.End)
		if !found {
			return nil, false
		}
		if p.shared {
			return t.appended(edits)
		}
		text, fits := p.spell(e.New)
		if !fits {
			return nil, false
		}
		out = append(out, analysis.TextEdit{Pos: p.at[e.Start-p.start], End: p.at[e.End-p.start], NewText: []byte(text)})
	}
	return out, true
}

// appended adds to the end of a text that other code uses, too: q + " LIMIT 1".
func (t *Text) appended(edits []sqltext.Edit) ([]analysis.TextEdit, bool) {
	if len(edits) != 1 || t.Expanded || edits[0].Start != edits[0].End || strings.TrimSpace(t.SQL[edits[0].End:]) != "" {
		return nil, false
	}
	if _, isIdent := t.arg.(*ast.Ident); !isIdent {
		if _, isSum := t.arg.(*ast.BinaryExpr); !isSum {
			return nil, false
		}
	}
	text := " + " + strconv.Quote(edits[0].New)
	return []analysis.TextEdit{{Pos: t.arg.End(), End: t.arg.End(), NewText: []byte(text)}}, true
}

// pieceOf is the piece that has the bytes from start to end.
func (t *Text) pieceOf(start, end int) (piece, bool) {
	for _, p := range t.pieces {
		// An insertion between two pieces goes to the end of the first one.
		if p.at != nil && start >= p.start && end <= p.start+len(p.at)-1 {
			return p, true
		}
	}
	return piece{}, false
}

// spell writes text as a part of the piece's literal.
func (p piece) spell(text string) (string, bool) {
	if p.format {
		text = strings.ReplaceAll(text, "%", "%%")
	}
	if p.raw {
		return text, !strings.Contains(text, "`")
	}
	q := strconv.Quote(text)
	return q[1 : len(q)-1], true
}

// Raw reports whether the whole text is written in backquotes: no name can be
// quoted with them.
func (t *Text) Raw() bool {
	for _, p := range t.pieces {
		if p.at != nil && p.raw {
			return true
		}
	}
	return false
}

// PosOf is the place of a byte of the text in the source; NoPos if it has none.
func (t *Text) PosOf(offset int) token.Pos {
	if p, ok := t.pieceOf(offset, offset); ok {
		return p.at[offset-p.start]
	}
	return token.NoPos
}
