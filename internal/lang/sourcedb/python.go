package sourcedb

import "strings"

// parsePython reads a file of Python.
func parsePython(source string) []*node {
	p := newReader(source, langPython, 1)
	var out []*node
	for !p.end() {
		out = append(out, p.pythonBlock()...)
		if p.tok().kind == tokDedent {
			p.i++
		}
	}
	return out
}

// pythonBlock reads statements to the end of the indentation.
func (p *reader) pythonBlock() []*node {
	var out []*node
	if p.depth++; p.depth > maxNested {
		p.depth--
		p.i++
		return nil
	}
	defer func() { p.depth-- }()
	for !p.end() && p.tok().kind != tokDedent {
		before := p.i
		out = append(out, p.pythonStatement()...)
		if p.i == before {
			p.i++
		}
	}
	return out
}

// suite reads what belongs to a statement with a colon.
func (p *reader) suite() []*node {
	for !p.end() && p.tok().kind != tokNewline && !p.is(":") {
		p.i++
		switch before := p.at(-1); {
		case before.kind != tokPunct:
		case before.text == "(":
			p.until(")")
		case before.text == "[":
			p.until("]")
		case before.text == "{":
			p.until("}")
		}
	}
	p.take(":")
	if p.tok().kind != tokNewline { // on the same line
		var out []*node
		for !p.end() && p.tok().kind != tokNewline {
			before := p.i
			out = append(out, p.pythonStatement()...)
			if p.i == before {
				p.i++
			}
		}
		return out
	}
	p.lines()
	if p.tok().kind != tokIndent {
		return nil
	}
	p.i++
	out := p.pythonBlock()
	if p.tok().kind == tokDedent {
		p.i++
	}
	return out
}

func (p *reader) pythonStatement() []*node {
	t := p.tok()
	if t.kind == tokWord && !(p.at(1).kind == tokPunct && p.at(1).text == "=") {
		switch t.text {
		case "def":
			return []*node{p.pythonFunction()}
		case "async":
			p.i++
			return p.pythonStatement()
		case "class":
			return p.pythonClass()
		case "if", "elif":
			return []*node{p.pythonIf()}
		case "for", "while", "with", "try", "finally", "else":
			p.i++
			return p.pythonWith(t)
		case "except":
			p.suite()
			return nil
		case "return":
			p.i++
			if p.tok().kind == tokNewline {
				return []*node{{op: opReturn, line: t.line}}
			}
			return []*node{{op: opReturn, kids: []*node{p.tuple()}, line: t.line}}
		case "import", "from":
			return p.pythonImport()
		case "global", "nonlocal", "del", "pass", "raise", "assert":
			for !p.end() && p.tok().kind != tokNewline {
				p.i++
			}
			return nil
		}
	}
	if t.kind == tokPunct && t.text == "@" { // a decorator
		for !p.end() && p.tok().kind != tokNewline {
			p.i++
		}
		return nil
	}
	if t.kind == tokNewline || t.kind == tokIndent || p.take(";") {
		return nil
	}
	return []*node{p.pythonAssignment()}
}

// pythonWith reads the body of a loop, with, try and their likes; the value of with is
// evaluated first.
func (p *reader) pythonWith(t lexeme) []*node {
	var first []*node
	if t.text == "with" {
		first = append(first, p.expression())
	}
	return append(first, &node{op: opBlock, body: p.suite(), line: t.line})
}

// tuple reads an expression, or several with commas.
func (p *reader) tuple() *node {
	first := p.expression()
	if !p.is(",") {
		return first
	}
	n := &node{op: opList, kids: []*node{first}, line: first.line}
	for p.take(",") && !p.end() && p.tok().kind != tokNewline && !p.is("=") && len(n.kids) < maxItems {
		n.kids = append(n.kids, p.expression())
	}
	return n
}

// pythonAssignment reads an expression statement: targets = value, name: type = value.
func (p *reader) pythonAssignment() *node {
	line := p.tok().line
	target := p.tuple()
	if p.is(":") && target.op == opName {
		for !p.end() && p.tok().kind != tokNewline && !p.is("=") {
			p.i++
		}
	}
	switch {
	case target.op == opAssign:
		return target
	case p.take("="):
		v := p.tuple()
		return &node{op: opAssign, text: "=", kids: []*node{target, v}, line: line}
	case p.take("+="):
		v := &node{op: opJoin, kids: []*node{target, p.tuple()}, line: line}
		return &node{op: opAssign, text: "=", kids: []*node{target, v}, line: line}
	}
	return target
}

func (p *reader) pythonIf() *node {
	n := &node{op: opIf, line: p.tok().line}
	p.i++
	n.kids = []*node{p.expression()}
	n.body = p.suite()
	if p.is("elif") {
		n.other = []*node{p.pythonIf()}
	} else if p.take("else") {
		n.other = p.suite()
	}
	return n
}

func (p *reader) pythonFunction() *node {
	p.i++
	f := &node{op: opFunc, text: p.tok().text, line: p.tok().line}
	p.i++
	if p.take("(") {
		f.params = p.params(")")
	}
	f.body = p.suite()
	return f
}

// pythonClass reads a class: its names are those of one table for the file, too. A class
// of pydantic's settings takes them from the environment.
func (p *reader) pythonClass() []*node {
	line := p.tok().line
	p.i++
	class := p.tok().text
	settings := false
	for !p.end() && !p.is(":") && p.tok().kind != tokNewline {
		settings = settings || p.is("BaseSettings")
		p.i++
	}
	var out []*node
	for _, n := range p.suite() {
		if n.op != opAssign || n.kids[0].op != opName {
			out = append(out, n)
			continue
		}
		key := n.kids[0].text
		if settings {
			n.kids[1] = &node{op: opCall, kids: []*node{name("getenv", n.line), text(strings.ToUpper(key), n.line), n.kids[1]}, line: n.line}
		}
		to := &node{op: opField, text: key, kids: []*node{name("this", n.line)}, line: n.line}
		out = append(out, n, &node{op: opAssign, text: "=", kids: []*node{to, n.kids[0]}, line: n.line})
	}
	return append(out, &node{op: opAssign, text: "=", kids: []*node{name(class, line), name("this", line)}, line: line})
}

// pythonImport reads import a.b as c and from a import b as c.
func (p *reader) pythonImport() []*node {
	from := p.is("from")
	line := p.tok().line
	p.i++
	dotted := func() string {
		s := ""
		for p.tok().kind == tokWord && !p.isAny("import", "as") || p.isAny(".", "...") {
			s += p.tok().text
			p.i++
		}
		return s
	}
	var out []*node
	module := ""
	if from {
		module = dotted()
		p.take("import")
		p.take("(")
	}
	for !p.end() && p.tok().kind != tokNewline && !p.is(")") {
		own := p.tok().text
		if !from {
			own = dotted()
		} else {
			p.i++
		}
		as := own
		if p.take("as") {
			as = p.tok().text
			p.i++
		}
		switch {
		case from && own == "*":
			out = append(out, &node{op: opImport, text: module, params: []param{{name: "*"}}, line: line})
		case from:
			out = append(out, &node{op: opImport, text: module, params: []param{{name: as, original: own}}, line: line})
		case as != own || !strings.Contains(own, "."):
			out = append(out, &node{op: opImport, text: own, params: []param{{name: as, original: "*"}}, line: line})
		}
		if !p.take(",") {
			break
		}
	}
	p.take(")")
	return out
}
