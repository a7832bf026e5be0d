package settings

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A script is one file with the places where its names are assigned.
type script struct {
	path    string
	lang    language
	toks    []token
	names   map[string][]int  // the tokens behind the "=", by name
	items   map[string][]int  // the same of name["key"] = …
	aliases map[string]string // what a name stands for: an imported module, or a part of one
	busy    map[string]bool   // names whose value is being read
	all     *reading
}

// A reading is that of all files of an app.
type reading struct {
	env     Environment
	scripts []*script
	steps   int
	found   []Connection
}

// Limits of one reading.
const (
	maxSteps = 300_000
	maxDeep  = 60
	maxFound = 200
)

// A parser evaluates an expression at a token.
type parser struct {
	*script
	toks []token
	i    int
	open int // brackets around the token: ends of lines do not count
	deep int
}

// at is the parser at a token of the script.
func (s *script) at(i, deep int) *parser { return &parser{script: s, toks: s.toks, i: i, deep: deep} }

func (p *parser) tok() token {
	for p.open > 0 && p.i < len(p.toks) && p.toks[p.i].kind == '\n' {
		p.i++
	}
	if p.i >= len(p.toks) {
		return token{}
	}
	return p.toks[p.i]
}

func (p *parser) is(texts ...string) bool {
	t := p.tok()
	return (t.kind == 'o' || t.kind == 'w') && slices.Contains(texts, t.text)
}

func (p *parser) take(texts ...string) bool {
	if !p.is(texts...) {
		return false
	}
	p.i++
	return true
}

func (p *parser) where() string { return fmt.Sprintf("%s:%d", p.path, max(p.tok().line, 1)) }

// expression evaluates what begins here, with all operators.
func (p *parser) expression() Value {
	p.deep++
	defer func() { p.deep-- }()
	if p.all.steps++; p.deep > maxDeep || p.all.steps > maxSteps {
		p.i = len(p.toks)
		return Because("the source, which is nested too deeply")
	}
	v := p.either()
	switch where := p.where(); {
	case p.is("?") && p.lang != python:
		p.i++
		yes := p.expression()
		p.take(":")
		return chosen(v, yes, p.expression(), where)
	case p.lang == python && p.take("if"):
		condition := p.either()
		p.take("else")
		return chosen(condition, v, p.expression(), where)
	}
	return v
}

// chosen is one of two values by a condition.
func chosen(condition, yes, no Value, where string) Value {
	switch condition.Kind {
	case Text:
		if condition.Text == "" {
			return no
		}
		return yes
	case Null:
		return no
	case Structure:
		return yes
	}
	if yes.Kind == Text && no.Kind == Text && yes.Text == no.Text {
		return yes
	}
	return Because("a condition at %s", where)
}

// either evaluates a || b and its likes: the first that is something.
func (p *parser) either() Value {
	v := p.both()
	for p.is("||", "or", "??", "?:") {
		operator := p.tok().text
		p.i++
		v = v.Or(p.both(), operator != "??" && p.lang != ruby)
	}
	return v
}

func (p *parser) both() Value {
	v := p.comparison()
	for p.take("&&", "and") {
		if right := p.comparison(); !v.Empty() || p.lang == ruby && v.Kind == Text {
			v = right
		}
	}
	return v
}

func (p *parser) comparison() Value {
	v := p.sum()
	for where := p.where(); p.take("==", "===", "!=", "!==", "<", ">", "<=", ">=", "in", "is", "instanceof"); {
		p.sum()
		v = Because("a condition at %s", where)
	}
	return v
}

func (p *parser) sum() Value {
	v := p.unary()
	for {
		switch {
		case p.lang != php && p.take("+"), p.lang == php && p.take("."):
			v = Join(v, p.unary())
		case (p.lang == python || p.lang == ruby) && p.is("%"):
			p.i++
			args := []Value{p.unary()}
			if args[0].Kind == Structure {
				args = args[0].Table.values()
			}
			v = Format(v, args)
		case p.is("-", "*", "/", "%", "+", "|", "&", "<<"):
			where := p.where()
			p.i++
			p.unary()
			v = Because("a number that is computed at %s", where)
		default:
			return v
		}
	}
}

// values are the fields of a list.
func (t *Table) values() (out []Value) {
	for _, key := range t.Keys {
		out = append(out, t.Fields[key])
	}
	return out
}

func (p *parser) unary() Value {
	p.all.steps++
	for p.take("await", "new", "+", "&", "\\", "typeof") {
	}
	if where := p.where(); p.take("!", "not", "-") {
		p.unary()
		return Because("a condition at %s", where)
	}
	if p.lang == php && p.is("(") && p.i+2 < len(p.toks) && p.toks[p.i+2].text == ")" && slices.Contains([]string{"int", "string", "integer"}, p.toks[p.i+1].text) {
		p.i += 3
	}
	return p.postfix()
}

// postfix evaluates a primary with its fields, indexes and calls.
func (p *parser) postfix() Value {
	start := p.tok()
	v, name := p.primary()
	for {
		switch t := p.tok(); {
		case t.kind != 'o':
			if p.lang == javaScript && (t.text == "as" || t.text == "satisfies") {
				p.typeName()
				continue
			}
			return v
		case t.text == "." && p.lang != php, t.text == "->", t.text == "?.", t.text == "?->", t.text == "::":
			p.i++
			if p.is("[") || p.is("(") {
				continue
			}
			field := strings.TrimPrefix(p.tok().text, "$")
			p.i++
			if !p.is("(") {
				v = p.field(v, name, field, start.line)
			}
			name += "." + field
		case t.text == "[" && (t.glued || p.lang != ruby):
			p.i++
			p.open++
			key := p.expression()
			p.close("]")
			v = p.index(v, name, key)
			name = ""
		case t.text == "(" && (t.glued || p.lang != ruby):
			args := p.arguments(")")
			v, name = p.call(name, v, args, t.line), ""
		case t.text == "{" && p.lang == ruby && v.Kind == Null, t.text == "!" && p.lang == javaScript:
			p.i++
			if t.text == "{" { // ENV.fetch("A") { "default" }
				p.open++
				v = v.Or(p.expression(), false)
				p.close("}")
			}
		case t.text == "{" && p.lang == ruby && strings.HasPrefix(start.text, "ENV"):
			p.i++
			p.open++
			p.close("}")
		default:
			return v
		}
	}
}

// typeName skips the type behind as.
func (p *parser) typeName() {
	for depth := 0; p.i < len(p.toks); p.i++ {
		switch t := p.tok().text; {
		case t == "<" || t == "[" || t == "{":
			depth++
		case t == ">" || depth > 0 && (t == "]" || t == "}"):
			depth--
		case depth == 0 && (t == ";" || t == "," || t == ")" || t == "}" || t == "]" || t == "||" || t == "??" || t == "=" || t == "const" || t == "export" || t == "interface"):
			return
		}
	}
}

// primary evaluates a text, a number, a table or a name; name is how a name is spelled.
func (p *parser) primary() (v Value, name string) {
	t := p.tok()
	switch {
	case t.kind == 0 || t.kind == '\n':
		return Value{Kind: Null}, ""
	case t.kind == 's':
		p.i++
		v = p.pieces(t)
		for p.lang == python && p.tok().kind == 's' { // texts behind one another are one
			v = Join(v, p.pieces(p.tok()))
			p.i++
		}
		return v, ""
	case t.kind == 'n':
		p.i++
		return Literal(t.text), ""
	case t.text == "[" || t.text == "{":
		return Value{Kind: Structure, Table: p.arguments(map[string]string{"[": "]", "{": "}"}[t.text])}, ""
	case t.text == "(":
		return p.parenthesis()
	case t.kind == 'o':
		p.i++
		return Because("it is computed at %s", p.where()), ""
	}
	p.i++
	switch t.text {
	case "null", "None", "nil", "undefined", "NULL":
		return Value{Kind: Null}, ""
	case "true", "True", "TRUE":
		return Literal("true"), ""
	case "false", "False", "FALSE":
		return Value{Kind: Null}, ""
	case "function", "fn", "lambda", "async", "class":
		return Because("a function at %s:%d", p.path, t.line), ""
	}
	return p.name(t)
}

// parenthesis evaluates (a), the list (a, b), and has nothing for (a) => b.
func (p *parser) parenthesis() (Value, string) {
	where := p.where()
	t := p.arguments(")")
	switch {
	case p.is("=>"):
		return Because("a function at %s", where), ""
	case len(t.Keys) == 1 && t.Keys[0] == "0":
		return t.Fields["0"], ""
	}
	return Value{Kind: Structure, Table: t}, ""
}

// pieces joins the pieces of a text.
func (p *parser) pieces(t token) Value {
	parts := []Value{Literal("")}
	for _, piece := range t.parts {
		switch {
		case !piece.code:
			parts = append(parts, Literal(piece.text))
		case piece.text == "":
			return Because("a text at %s:%d", p.path, t.line)
		default:
			in := &parser{script: p.script, toks: scan(piece.text, p.lang, t.line, true), deep: p.deep, open: 1}
			parts = append(parts, in.expression())
		}
	}
	return Join(parts...)
}

// close goes behind a closing bracket, past what was not understood before it.
func (p *parser) close(bracket string) {
	p.upTo(bracket, "")
	p.open--
	if p.i < len(p.toks) {
		p.i++
	}
}

// upTo goes on to one of two operators at this level, or to the bracket that ends it.
func (p *parser) upTo(a, b string) {
	depth := 0
	for ; p.i < len(p.toks); p.i++ {
		t := p.toks[p.i]
		if t.kind != 'o' {
			continue
		}
		if depth == 0 && (t.text == a || t.text == b && b != "") {
			return
		}
		switch t.text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			if depth--; depth < 0 {
				return
			}
		}
	}
}

// arguments reads a list or a table from its opening bracket to the closing one: values
// by their positions, and those with keys by their names.
func (p *parser) arguments(closing string) *Table {
	out := NewTable(p.tok().line)
	p.i++
	p.open++
	for position := 0; p.tok().kind != 0 && !p.is(closing) && p.all.steps < maxSteps; {
		if p.take(",") {
			continue
		}
		spread := p.take("...", "**", "*")
		key, keyed := p.key(closing)
		v := p.expression()
		switch {
		case spread:
			if v.Kind == Structure {
				out.take(v.Table)
			}
		case p.take("=>"):
			out.Set(v.Text, p.expression())
		case keyed:
			out.Set(key, v)
		default:
			out.Set(strconv.Itoa(position), v)
			position++
		}
		p.upTo(",", closing)
		if p.tok().kind == 'o' && !p.is(",", closing) {
			break // another bracket ends it
		}
	}
	p.open--
	if p.is(closing) {
		p.i++
	}
	return out
}

// key reads the key of an entry: host:, "host" =>, host=, and a name that is key and
// value in one.
func (p *parser) key(closing string) (string, bool) {
	t := p.tok()
	if t.kind != 'w' && t.kind != 's' && t.kind != 'n' || p.i+1 >= len(p.toks) {
		return "", false
	}
	text := t.text
	if t.kind == 's' {
		if len(t.parts) != 1 || t.parts[0].code {
			return "", false
		}
		text = t.parts[0].text
	}
	switch next := p.toks[p.i+1]; {
	case next.kind != 'o':
	case next.text == ":" && (p.lang != ruby || next.glued), next.text == "=>" && !(p.lang == javaScript), next.text == "=" && closing == ")" && p.lang == python && t.kind == 'w':
		p.i += 2
		return text, true
	case closing == "}" && p.lang == javaScript && t.kind == 'w' && (next.text == "," || next.text == "}"):
		return text, true
	}
	return "", false
}
