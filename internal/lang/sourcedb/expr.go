package sourcedb

import (
	"slices"
	"strings"
)

// A reader makes the tree of a file from its tokens. It never fails: what it does not
// know it skips.
type reader struct {
	lang  lang
	toks  []lexeme
	i     int
	depth int
	ends  int // Ruby: calls without parentheses are no values within conditions
}

func newReader(source string, l lang, line int) *reader {
	return &reader{lang: l, toks: tokens(source, l, line)}
}

func (p *reader) tok() lexeme { return p.toks[min(p.i, len(p.toks)-1)] }

func (p *reader) at(n int) lexeme { return p.toks[max(0, min(p.i+n, len(p.toks)-1))] }

func (p *reader) is(s string) bool {
	t := p.tok()
	return (t.kind == tokPunct || t.kind == tokWord) && t.text == s
}

func (p *reader) isAny(list ...string) bool { return slices.ContainsFunc(list, p.is) }

// take skips a token if it is the given one.
func (p *reader) take(s string) bool {
	if p.is(s) {
		p.i++
		return true
	}
	return false
}

func (p *reader) end() bool { return p.tok().kind == tokEnd }

func (p *reader) lines() {
	for p.tok().kind == tokNewline {
		p.i++
	}
}

// power are the binary operators by how tightly they bind.
var power = map[string]int{
	"or": 1, "and": 1, "||": 2, "??": 2, "&&": 3, "==": 4, "!=": 4, "===": 4, "!==": 4, "<": 4, ">": 4, "<=": 4, ">=": 4, "is": 4, "in": 4, "instanceof": 4, "<=>": 4,
	"<<": 5, ">>": 5, "+": 6, "-": 6, "*": 7, "/": 7, "%": 7, "**": 8, "|": 4, "&": 4, "^": 4,
}

// maxNested bounds how deep expressions and blocks are.
const maxNested = 120

// expression reads an expression.
func (p *reader) expression() *node {
	line := p.tok().line
	if p.depth++; p.depth > maxNested {
		p.depth--
		p.i++
		return &node{line: line}
	}
	defer func() { p.depth-- }()
	left := p.binary(1)
	switch {
	case p.is("?") && p.lang != langPython: // a ? b : c
		p.i++
		p.lines()
		yes := p.expression()
		p.lines()
		p.take(":")
		p.lines()
		return &node{op: opCond, kids: []*node{left, yes, p.expression()}, line: line}
	case p.lang == langPHP && p.take("?:"):
		return &node{op: opOr, text: "?:", kids: []*node{left, p.expression()}, line: line}
	case p.lang == langPython && p.is("if"): // b if a else c
		p.i++
		cond := p.binary(1)
		if p.take("else") {
			return &node{op: opCond, kids: []*node{cond, left, p.expression()}, line: line}
		}
	case p.isAny("=", "||=", "??=") && (left.op == opName || left.op == opField || left.op == opIndex || left.op == opTable || left.op == opList):
		return p.assigned(left)
	}
	return left
}

// assigned reads what is behind the target of an assignment.
func (p *reader) assigned(target *node) *node {
	op := p.tok().text
	line := p.tok().line
	if op == "??=" {
		op = "||="
	}
	p.i++
	p.lines()
	v := p.expression()
	if p.lang == langRuby && p.is("rescue") {
		p.i++
		p.expression()
	}
	return &node{op: opAssign, text: op, kids: []*node{target, v}, line: line}
}

func (p *reader) binary(least int) *node {
	left := p.unary()
	for {
		t := p.tok()
		op := t.text
		n, ok := power[op]
		if t.kind != tokPunct && t.kind != tokWord || !ok {
			if p.lang == langPHP && t.kind == tokPunct && op == "." {
				n, ok = 6, true
			}
		}
		if (op == "or" || op == "and" || op == "is") && p.lang != langPython && p.lang != langRuby && p.lang != langPHP || op == "is" && p.lang != langPython || op == "in" && p.lang == langRuby {
			ok = false
		}
		if t.kind == tokString || t.kind == tokNumber || !ok || n < least {
			return left
		}
		p.i++
		p.lines()
		not := op == "is" && p.take("not")
		right := p.binary(n + 1)
		left = operation(op, left, right, t.line, not)
	}
}

func operation(op string, a, b *node, line int, not bool) *node {
	n := &node{kids: []*node{a, b}, line: line}
	switch op {
	case "||", "or":
		n.op, n.text = opOr, "||"
	case "??":
		n.op, n.text = opOr, "??"
	case "&&", "and":
		n.op = opAnd
	case "==", "===":
		n.op, n.text = opEqual, "=="
	case "!=", "!==":
		n.op, n.text = opEqual, "!="
	case "is":
		n.op, n.text = opEqual, "=="
		if not {
			n.text = "!="
		}
	case "+", ".":
		n.op = opJoin
	case "%":
		n.op = opFormat
	}
	return n
}

// prefixes are words and signs before an expression that do not change its text.
var prefixes = []string{"new", "await", "typeof", "void", "delete", "yield", "async", "+", "-", "&", "~", "@", "clone", "static", "print", "echo", "throw", "raise", "**", "*", "..."}

func (p *reader) unary() *node {
	t := p.tok()
	if p.depth++; p.depth > maxNested {
		p.depth--
		p.i++
		return &node{line: t.line}
	}
	defer func() { p.depth-- }()
	if t.kind == tokPunct || t.kind == tokWord {
		switch {
		case t.text == "!" || t.text == "not" && p.lang != langJS:
			p.i++
			return &node{op: opNot, kids: []*node{p.unary()}, line: t.line}
		case slices.Contains(prefixes, t.text) && (t.kind == tokPunct || p.prefixWord(t)):
			p.i++
			return p.unary()
		}
	}
	return p.postfix(p.primary())
}

// prefixWord reports whether a word is used as a prefix here, and not as a name.
func (p *reader) prefixWord(t lexeme) bool {
	next := p.at(1)
	if next.kind == tokPunct && slices.Contains([]string{".", "(", "=", ",", ")", "=>", ";", "]", "}", ":"}, next.text) {
		return (t.text == "await" || t.text == "async") && next.text == "("
	}
	return next.kind != tokEnd && next.kind != tokNewline && (p.lang == langJS || p.lang == langPHP || t.text == "await" || t.text == "raise" || t.text == "yield")
}

// postfix reads fields, calls, indexes and blocks behind an expression.
func (p *reader) postfix(x *node) *node {
	for range 500 {
		t := p.tok()
		if t.kind == tokNewline && p.lang == langRuby {
			j := p.i
			for p.toks[j].kind == tokNewline {
				j++
			}
			if n := p.toks[j]; n.kind == tokPunct && (n.text == "." && n.glued || n.text == "&.") {
				p.i = j
				continue
			}
			return x
		}
		if t.kind == tokWord && p.lang == langJS && (t.text == "as" || t.text == "satisfies") && p.at(1).line == t.line {
			p.i++
			p.skipType()
			continue
		}
		if t.kind == tokWord && t.text == "do" && p.lang == langRuby && p.ends == 0 && (x.op == opCall || x.op == opField || x.op == opName) {
			x = p.withBlock(x)
			continue
		}
		if t.kind != tokPunct {
			return x
		}
		switch t.text {
		case ".", "?.", "&.", "->", "?->", "::":
			if t.text == "." && p.lang == langPHP || !p.member(&x) {
				return x
			}
		case "(":
			if p.lang == langRuby && t.space {
				return x
			}
			x = p.call(x)
		case "[":
			if p.lang == langRuby && t.space || p.lang == langPython && x.op == opUnknown {
				return x
			}
			p.i++
			p.lines()
			key := p.expression()
			p.lines()
			p.until("]")
			x = &node{op: opIndex, kids: []*node{x, key}, line: t.line}
		case "{":
			if p.lang != langRuby || x.op != opCall && x.op != opField {
				return x
			}
			x = p.withBlock(x)
		case "!":
			if p.lang != langJS || p.at(1).kind == tokPunct && p.at(1).text == "=" || t.space {
				return x
			}
			p.i++
		case "<":
			if p.lang != langJS || !p.generic() {
				return x
			}
		case "=>":
			if p.lang != langJS || x.op != opName {
				return x
			}
			return p.arrow([]param{{name: x.text}}, t.line)
		default:
			return x
		}
	}
	return x
}

// member reads a field behind its sign; false if none is there.
func (p *reader) member(x **node) bool {
	sign := p.tok()
	next := p.at(1)
	switch {
	case next.kind == tokWord:
		p.i += 2
		*x = &node{op: opField, text: strings.TrimPrefix(next.text, "$"), kids: []*node{*x}, line: next.line}
	case next.kind == tokPunct && (next.text == "(" || next.text == "[") && sign.text != "->":
		p.i++ // f?.(x), a?.[k], Ruby's f.(x)
	default:
		return false
	}
	return true
}

// generic skips type arguments of a call, as in createPool<Row>(…).
func (p *reader) generic() bool {
	depth, j := 0, p.i
	for ; j < len(p.toks) && j < p.i+60; j++ {
		t := p.toks[j]
		switch {
		case t.kind == tokPunct && t.text == "<":
			depth++
		case t.kind == tokPunct && t.text == ">":
			depth--
		case t.kind == tokPunct && !slices.Contains([]string{",", ".", "|", "&", "[", "]", "{", "}", ":"}, t.text), t.kind == tokString, t.kind == tokNumber:
			return false
		}
		if depth == 0 {
			break
		}
	}
	if j+1 < len(p.toks) && depth == 0 && p.toks[j+1].text == "(" {
		p.i = j + 1
		return true
	}
	return false
}

// skipType skips a type of TypeScript.
func (p *reader) skipType() {
	depth := 0
	for ; !p.end(); p.i++ {
		switch t := p.tok(); {
		case t.kind == tokPunct && slices.Contains([]string{"(", "[", "{", "<"}, t.text):
			if before := p.at(-1); t.text == "{" && depth == 0 && (before.kind == tokWord || before.text == ">" || before.text == "]") {
				return // the body of a function
			}
			depth++
		case t.kind == tokPunct && slices.Contains([]string{")", "]", "}", ">"}, t.text):
			if depth--; depth < 0 {
				return
			}
		case depth == 0 && t.text == "=>" && p.at(-1).text != ")":
			return
		case depth == 0 && (t.kind == tokPunct && !slices.Contains([]string{"|", "&", ".", "=>", ":"}, t.text) || t.kind == tokWord && p.at(-1).line < t.line && p.at(-1).kind != tokPunct):
			return
		}
	}
}

// call reads the arguments of a call.
func (p *reader) call(x *node) *node {
	n := &node{op: opCall, kids: []*node{x}, line: p.tok().line}
	was := p.ends
	p.ends = 0
	p.i++
	p.items(")", func() { n.kids = append(n.kids, p.entry()) })
	p.ends = was
	return n
}

// maxItems bounds the entries of a list.
const maxItems = 5_000

// items reads entries to a closing sign.
func (p *reader) items(closing string, one func()) {
	for range maxItems {
		p.lines()
		if p.end() || p.take(closing) {
			return
		}
		if p.isAny(")", "]", "}") { // another one: the source is not understood
			p.i++
			return
		}
		before := p.i
		one()
		p.lines()
		if !p.take(",") && !p.is(closing) && p.i == before {
			p.i++
		}
	}
}

// until skips to behind a sign at this depth.
func (p *reader) until(closing string) {
	depth := 0
	for ; !p.end(); p.i++ {
		t := p.tok()
		if t.kind != tokPunct {
			continue
		}
		if depth == 0 && t.text == closing {
			p.i++
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

// entry reads an argument, or an entry of a table: name: value, name=value, "key" =>
// value, ...value, or an expression.
func (p *reader) entry() *node {
	t := p.tok()
	if t.kind == tokPunct && (t.text == "..." || t.text == "**" || t.text == "*") {
		p.i++
		return &node{op: opSpread, kids: []*node{p.expression()}, line: t.line}
	}
	next := p.at(1)
	named := next.kind == tokPunct && (next.text == ":" && p.lang != langPython && !(p.lang == langRuby && next.space) || next.text == "=" && p.lang == langPython)
	if t.kind == tokWord && named {
		p.i += 2
		p.lines()
		return &node{op: opPair, text: t.text, kids: []*node{p.shorthand(t)}, line: t.line}
	}
	if t.kind == tokString && next.kind == tokPunct && next.text == ":" && (p.lang == langJS || p.lang == langJSON || p.lang == langRuby && !next.space) {
		p.i += 2
		p.lines()
		return &node{op: opPair, kids: []*node{p.expression(), p.stringNode(t)}, line: t.line}
	}
	x := p.expression()
	p.lines()
	if p.is("=>") || p.is(":") && p.lang == langPython {
		p.i++
		p.lines()
		return &node{op: opPair, kids: []*node{p.expression(), x}, line: t.line}
	}
	return x
}

// shorthand is the value of an entry; Ruby's "host:," has that of the name.
func (p *reader) shorthand(key lexeme) *node {
	if p.lang == langRuby && p.isAny(",", ")", "}") {
		return name(key.text, key.line)
	}
	return p.expression()
}
