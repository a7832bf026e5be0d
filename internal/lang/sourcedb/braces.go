package sourcedb

import (
	"slices"
	"strings"
)

// parseBraces reads a file of JavaScript, TypeScript or PHP.
func parseBraces(source string, l lang) []*node {
	p := newReader(source, l, 1)
	return p.statements("")
}

// statements reads statements to a closing sign or word, or to the end.
func (p *reader) statements(closing ...string) []*node {
	var out []*node
	if p.depth++; p.depth > maxNested {
		p.depth--
		p.until("}")
		return nil
	}
	defer func() { p.depth-- }()
	for !p.end() {
		for _, c := range closing {
			if c != "" && p.is(c) {
				if c == "}" {
					p.i++
				}
				return out
			}
		}
		before := p.i
		out = append(out, p.statement()...)
		if p.i == before {
			p.i++
		}
	}
	return out
}

// inner reads the body of a condition or loop: a block or one statement.
func (p *reader) inner() []*node {
	if p.take("{") {
		return p.statements("}")
	}
	if p.lang == langPHP && p.take(":") {
		return p.statements("endif", "else", "elseif", "endforeach", "endwhile", "endfor")
	}
	return p.statement()
}

func (p *reader) condition() *node {
	if !p.take("(") {
		return &node{}
	}
	c := p.expression()
	p.until(")")
	return c
}

func (p *reader) statement() []*node {
	t := p.tok()
	if t.kind == tokPunct {
		switch t.text {
		case ";":
			p.i++
			return nil
		case "{":
			if p.lang == langJS || p.lang == langPHP {
				p.i++
				return []*node{{op: opBlock, body: p.statements("}"), line: t.line}}
			}
		}
	}
	if t.kind == tokWord && !(p.at(1).kind == tokPunct && slices.Contains([]string{"=", ".", ":", ","}, p.at(1).text)) {
		if out, ok := p.keyword(t); ok {
			return out
		}
	}
	return []*node{p.expression()}
}

// keyword reads a statement that begins with a word of the language.
func (p *reader) keyword(t lexeme) ([]*node, bool) {
	switch t.text {
	case "if", "elseif":
		return []*node{p.ifNode()}, true
	case "for", "foreach", "while", "switch":
		p.i++
		p.take("await")
		p.until2("(", ")")
		return []*node{{op: opBlock, body: p.inner(), line: t.line}}, true
	case "do", "try", "finally":
		p.i++
		return []*node{{op: opBlock, body: p.inner(), line: t.line}}, true
	case "catch":
		p.i++
		p.until2("(", ")")
		p.inner()
		return nil, true
	case "case", "default":
		for !p.end() && !p.isAny(":", ";", "}") {
			p.i++
		}
		p.take(":")
		return nil, true
	case "return":
		p.i++
		if p.isAny(";", "}") || p.end() || p.lang == langJS && p.tok().line != t.line {
			return []*node{{op: opReturn, line: t.line}}, true
		}
		return []*node{{op: opReturn, kids: []*node{p.expression()}, line: t.line}}, true
	case "function", "async":
		return p.functionStatement(t)
	case "class", "abstract", "final", "trait", "readonly":
		for p.isAny("abstract", "final", "readonly") {
			p.i++
		}
		return p.classNode(), true
	}
	if p.lang == langPHP {
		return p.phpKeyword(t)
	}
	return p.jsKeyword(t)
}

func (p *reader) functionStatement(t lexeme) ([]*node, bool) {
	if t.text == "async" && p.at(1).text == "function" {
		p.i++
	}
	if !p.is("function") || p.at(1).kind == tokPunct && p.at(1).text == "(" {
		return nil, false
	}
	return []*node{p.functionNode()}, true
}

func (p *reader) ifNode() *node {
	n := &node{op: opIf, line: p.tok().line}
	p.i++
	n.kids = []*node{p.condition()}
	n.body = p.inner()
	p.take(";")
	switch {
	case p.is("elseif"):
		n.other = []*node{p.ifNode()}
	case p.take("else"):
		if p.is("if") {
			n.other = []*node{p.ifNode()}
		} else {
			n.other = p.inner()
		}
	}
	if p.lang == langPHP {
		p.take("endif")
	}
	return n
}

func (p *reader) jsKeyword(t lexeme) ([]*node, bool) {
	switch t.text {
	case "const", "let", "var":
		p.i++
		return p.declarations(), true
	case "import":
		if p.at(1).text == "(" {
			return nil, false
		}
		return p.jsImport(), true
	case "export":
		p.i++
		if p.take("default") {
			if p.isAny("function", "class", "async") {
				return p.statement(), true
			}
			return []*node{{op: opExport, kids: []*node{p.expression()}, line: t.line}}, true
		}
		if p.isAny("{", "*") {
			p.until2("{", "}")
			return nil, true
		}
		return p.statement(), true
	case "interface", "type", "declare", "namespace", "enum":
		if p.at(1).kind != tokWord {
			return nil, false
		}
		p.i += 2
		for !p.end() && !p.isAny("{", ";", "=") {
			p.i++
		}
		if p.take("=") {
			p.skipType()
		} else {
			p.until2("{", "}")
		}
		return nil, true
	}
	return nil, false
}

// declarations reads name = value, … behind const, let and var.
func (p *reader) declarations() []*node {
	var out []*node
	for range maxItems {
		t := p.tok()
		target := p.primary()
		p.take("!")
		if p.take(":") {
			p.skipType()
		}
		if p.take("=") {
			out = append(out, &node{op: opAssign, text: ":=", kids: []*node{target, p.expression()}, line: t.line})
		} else if target.op == opName {
			out = append(out, &node{op: opAssign, text: ":=", kids: []*node{target, {op: opNull}}, line: t.line})
		}
		if !p.take(",") {
			break
		}
	}
	return out
}

// jsImport reads import a, { b as c } from 'module'.
func (p *reader) jsImport() []*node {
	n := &node{op: opImport, line: p.tok().line}
	p.i++
	p.take("type")
	for !p.end() && p.tok().kind != tokString && !p.is(";") {
		switch {
		case p.take("*"):
			p.take("as")
			n.params = append(n.params, param{name: p.tok().text, original: "*"})
			p.i++
		case p.take("{"):
			for !p.end() && !p.take("}") {
				own := p.tok().text
				p.i++
				as := own
				if p.take("as") {
					as = p.tok().text
					p.i++
				}
				n.params = append(n.params, param{name: as, original: own})
				p.take(",")
			}
		case p.take("from") || p.take(","):
		default:
			n.params = append(n.params, param{name: p.tok().text, original: "default"})
			p.i++
		}
	}
	if t := p.tok(); t.kind == tokString {
		if len(t.parts) == 1 {
			n.text = t.parts[0].text
		}
		p.i++
	}
	return []*node{n}
}

func (p *reader) phpKeyword(t lexeme) ([]*node, bool) {
	switch t.text {
	case "namespace", "use", "global", "declare", "unset", "endif", "endforeach", "endwhile", "endfor":
		for !p.end() && !p.isAny(";", "{") {
			p.i++
		}
		p.take(";")
		return nil, true
	case "interface", "enum":
		for !p.end() && !p.isAny(";", "{") {
			p.i++
		}
		p.until2("{", "}")
		return nil, true
	case "const":
		p.i++
		key := p.tok()
		p.i++
		if !p.take("=") {
			return nil, true
		}
		return []*node{{op: opAssign, text: "=", kids: []*node{name(key.text, key.line), p.expression()}, line: key.line}}, true
	}
	return nil, false
}

// functionNode reads a function with its word: function name(…) {…}, fn(…) => ….
func (p *reader) functionNode() *node {
	word := p.tok().text
	p.i++
	p.take("*")
	p.take("&")
	f := &node{op: opFunc, line: p.tok().line}
	if p.tok().kind == tokWord && !p.is("use") {
		f.text = p.tok().text
		p.i++
	}
	if p.is("<") {
		p.generic()
	}
	p.signature(f)
	if word == "fn" {
		p.take("=>")
		f.body = []*node{{op: opReturn, kids: []*node{p.expression()}, line: f.line}}
		return f
	}
	p.functionBody(f)
	return f
}

func (p *reader) signature(f *node) {
	if !p.take("(") {
		return
	}
	f.params = p.params(")")
	if p.lang == langPHP && p.take("use") {
		p.until2("(", ")")
	}
	if p.take(":") {
		if p.lang == langPHP {
			for !p.end() && !p.isAny("{", ";", "=>") {
				p.i++
			}
		} else {
			p.skipType()
		}
	}
}

func (p *reader) functionBody(f *node) {
	var patterns []*node
	for i, a := range f.params {
		if a.value != nil && a.value.op == opTable && strings.HasPrefix(a.name, "#") && a.original == "pattern" {
			patterns = append(patterns, &node{op: opAssign, text: ":=", kids: []*node{a.value, name(a.name, f.line)}, line: f.line})
			f.params[i].value = nil
		}
	}
	if p.take("{") {
		f.body = append(patterns, p.statements("}")...)
	}
}

// params reads parameters to the closing sign, which is taken.
func (p *reader) params(closing string) []param {
	var out []param
	p.items(closing, func() {
		var a param
		for p.isAny("...", "*", "**", "&", "?") || p.lang == langPHP && !strings.HasPrefix(p.tok().text, "$") && (p.tok().kind == tokWord || p.isAny("|", "\\")) {
			a.rest = a.rest || p.isAny("...", "**")
			p.i++
		}
		if p.lang == langJS && p.isAny("{", "[") { // a pattern
			a.value, a.name, a.original = p.primary(), "#"+string(rune('0'+len(out)%10)), "pattern"
		} else if p.tok().kind == tokWord {
			for p.lang == langJS && p.at(1).kind == tokWord { // public name
				p.i++
			}
			a.name = p.tok().text
			p.i++
		}
		p.take("?")
		if p.is(":") && p.lang != langRuby {
			p.i++
			p.skipType()
		} else if p.take(":") && !p.isAny(",", closing) {
			a.value = p.expression()
		}
		if p.take("=") {
			if v := p.expression(); a.original == "" {
				a.value = v
			}
		}
		out = append(out, a)
		for !p.end() && !p.isAny(",", closing) {
			p.i++
		}
	})
	return out
}

// modifiers are words before the members of a class.
var modifiers = []string{"public", "private", "protected", "static", "readonly", "async", "get", "set", "abstract", "override", "final", "var", "declare", "const"}

// classNode reads a class: its fields become those of one table for all classes of the
// file, its methods functions.
func (p *reader) classNode() []*node {
	line := p.tok().line
	p.i++
	class := ""
	if p.tok().kind == tokWord {
		class = p.tok().text
	}
	for !p.end() && !p.isAny("{", ";") {
		p.i++
	}
	if !p.take("{") {
		return nil
	}
	var out []*node
	for !p.end() && !p.take("}") {
		before := p.i
		out = append(out, p.classMember()...)
		if p.i == before {
			p.i++
		}
	}
	if class != "" {
		out = append(out, &node{op: opAssign, text: ":=", kids: []*node{name(class, line), name("this", line)}, line: line})
	}
	return out
}

func (p *reader) classMember() []*node {
	for p.tok().kind == tokWord && slices.Contains(modifiers, p.tok().text) && p.at(1).kind != tokEnd && !(p.at(1).kind == tokPunct && slices.Contains([]string{"(", "=", ";"}, p.at(1).text)) {
		p.i++
	}
	t := p.tok()
	switch {
	case p.is("@"):
		p.i++
		p.postfix(p.primary())
		return nil
	case p.is("function"):
		return []*node{p.functionNode()}
	case p.lang == langJS && p.methodAhead():
		return []*node{p.methodNode()}
	case t.kind != tokWord && !p.is("?"):
		return nil
	}
	for p.lang == langPHP && !p.end() && !strings.HasPrefix(p.tok().text, "$") && !(p.at(1).kind == tokPunct && slices.Contains([]string{"=", ";"}, p.at(1).text)) {
		if p.i++; p.isAny("{", "}") {
			return nil
		}
	}
	key := p.tok()
	p.i++
	p.take("!")
	p.take("?")
	if p.lang == langJS && p.take(":") {
		p.skipType()
	}
	if !p.take("=") {
		return nil
	}
	to := &node{op: opField, text: strings.TrimPrefix(key.text, "$"), kids: []*node{name("this", key.line)}, line: key.line}
	return []*node{{op: opAssign, text: "=", kids: []*node{to, p.expression()}, line: key.line}}
}

// methodNode reads name(…) {…} of an object or a class.
func (p *reader) methodNode() *node {
	for p.at(1).text != "(" {
		p.i++
	}
	f := &node{op: opFunc, text: p.tok().text, line: p.tok().line}
	p.i++
	p.signature(f)
	p.functionBody(f)
	return f
}
