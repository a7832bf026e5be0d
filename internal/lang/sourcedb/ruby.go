package sourcedb

// parseRuby reads a file of Ruby.
func parseRuby(source string) []*node {
	p := newReader(source, langRuby, 1)
	var out []*node
	for !p.end() {
		out = append(out, p.rubyBlock("")...)
		p.take("end")
	}
	return out
}

// rubyBlock reads statements to one of the words or signs, or to "end".
func (p *reader) rubyBlock(closing ...string) []*node {
	var out []*node
	if p.depth++; p.depth > maxNested {
		p.depth--
		p.i++
		return nil
	}
	was := p.ends
	p.ends = 0
	defer func() { p.depth--; p.ends = was }()
	for !p.end() {
		if p.tok().kind == tokNewline || p.take(";") {
			p.lines()
			continue
		}
		if p.is("end") || len(closing) > 0 && closing[0] != "" && p.isAny(closing...) {
			return out
		}
		before := p.i
		if n := p.rubyStatement(); n != nil {
			out = append(out, n...)
		}
		if p.i == before {
			p.i++
		}
	}
	return out
}

func (p *reader) rubyStatement() []*node {
	t := p.tok()
	switch {
	case t.kind == tokWord && (t.text == "class" || t.text == "module"):
		for !p.end() && p.tok().kind != tokNewline && !p.is(";") {
			p.i++
		}
		body := p.rubyBlock()
		p.take("end")
		return body
	case t.kind == tokWord && (t.text == "return" || t.text == "next" || t.text == "break"):
		p.i++
		n := &node{op: opReturn, line: t.line}
		if k := p.tok(); k.kind != tokNewline && !p.isAny("if", "unless", "end", "}") && k.kind != tokEnd {
			n.kids = []*node{p.expression()}
		}
		if t.text != "return" {
			n = &node{op: opList, kids: n.kids, line: t.line}
		}
		return []*node{p.modified(n)}
	}
	return []*node{p.modified(p.command(p.expression()))}
}

// command reads the arguments of a call without parentheses.
func (p *reader) command(x *node) *node {
	t := p.tok()
	if x.op != opName && x.op != opField || !t.space || t.line != p.at(-1).line {
		return x
	}
	begins := t.kind == tokString || t.kind == tokNumber || t.kind == tokWord && !isRubyWord(t.text) ||
		t.kind == tokPunct && (t.text == "::" || t.text == "[" || (t.text == "**" || t.text == "*" || t.text == "&") && t.glued)
	if !begins {
		return x
	}
	n := &node{op: opCall, kids: []*node{x}, line: t.line}
	for range maxItems {
		n.kids = append(n.kids, p.entry())
		if !p.take(",") {
			break
		}
		p.lines()
	}
	if p.is("do") {
		return p.withBlock(n)
	}
	return n
}

func isRubyWord(s string) bool {
	switch s {
	case "if", "unless", "while", "until", "do", "end", "and", "or", "then", "rescue", "in", "else", "elsif", "when", "ensure":
		return true
	}
	return false
}

// modified reads a condition behind a statement.
func (p *reader) modified(n *node) *node {
	for {
		t := p.tok()
		switch {
		case p.take("if"):
			n = &node{op: opIf, kids: []*node{p.expression()}, body: []*node{n}, line: t.line}
		case p.take("unless"):
			n = &node{op: opIf, kids: []*node{{op: opNot, kids: []*node{p.expression()}}}, body: []*node{n}, line: t.line}
		case p.take("while"), p.take("until"), p.take("rescue"):
			p.expression()
		default:
			return n
		}
	}
}

// withBlock reads a block behind a call.
func (p *reader) withBlock(x *node) *node {
	if x.op != opCall {
		x = &node{op: opCall, kids: []*node{x}, line: p.tok().line}
	}
	x.kids = append(x.kids, p.block())
	return x
}

// block reads { |a| … } or do |a| … end as a function.
func (p *reader) block() *node {
	f := &node{op: opFunc, line: p.tok().line}
	closing := "}"
	if p.is("do") {
		closing = "end"
	}
	p.i++
	p.lines()
	if p.take("|") {
		for !p.end() && !p.take("|") {
			if t := p.tok(); t.kind == tokWord {
				f.params = append(f.params, param{name: t.text})
			}
			p.i++
		}
	}
	f.body = p.rubyBlock(closing, "rescue", "ensure")
	p.rescued()
	p.take(closing)
	return f
}

// rescued skips the parts of a block for errors.
func (p *reader) rescued() {
	for p.isAny("rescue", "ensure", "else") {
		for !p.end() && p.tok().kind != tokNewline {
			p.i++
		}
		p.rubyBlock("rescue", "ensure", "else")
	}
}

// rubyKeyword reads what is an expression in Ruby: if, unless, case, begin, def, while.
func (p *reader) rubyKeyword(t lexeme) *node {
	p.i++
	switch t.text {
	case "def":
		return p.rubyFunction()
	case "begin":
		n := &node{op: opBlock, body: p.rubyBlock("rescue", "ensure", "else"), line: t.line}
		p.rescued()
		p.take("end")
		return n
	case "while", "until":
		p.header()
		n := &node{op: opBlock, body: p.rubyBlock(), line: t.line}
		p.take("end")
		return n
	case "case":
		return p.rubyCase(t)
	}
	return p.rubyIf(t)
}

// header reads a condition; a "do" behind it begins the body.
func (p *reader) header() *node {
	p.ends++
	c := p.expression()
	p.ends--
	p.take("then")
	p.take("do")
	return c
}

func (p *reader) rubyIf(t lexeme) *node {
	n := &node{op: opIf, kids: []*node{p.header()}, line: t.line}
	if t.text == "unless" {
		n.kids[0] = &node{op: opNot, kids: []*node{n.kids[0]}}
	}
	n.body = p.rubyBlock("elsif", "else")
	switch at := p.tok(); {
	case p.take("elsif"):
		n.other = []*node{p.rubyIf(at)} // takes the end
		return n
	case p.take("else"):
		n.other = p.rubyBlock()
	}
	p.take("end")
	return n
}

func (p *reader) rubyCase(t lexeme) *node {
	var subject *node
	if p.tok().kind != tokNewline {
		subject = p.expression()
	}
	p.lines()
	root := &node{op: opBlock, line: t.line}
	into := &root.body
	for p.take("when") {
		cond := p.header()
		if subject != nil {
			cond = &node{op: opEqual, text: "==", kids: []*node{subject, cond}, line: t.line}
		}
		for p.take(",") {
			p.lines()
			or := p.header()
			if subject != nil {
				or = &node{op: opEqual, text: "==", kids: []*node{subject, or}, line: t.line}
			}
			cond = &node{op: opOr, text: "||", kids: []*node{cond, or}, line: t.line}
		}
		n := &node{op: opIf, kids: []*node{cond}, body: p.rubyBlock("when", "else"), line: t.line}
		*into = []*node{n}
		into = &n.other
	}
	if p.take("else") {
		*into = p.rubyBlock()
	}
	p.take("end")
	return root
}

func (p *reader) rubyFunction() *node {
	f := &node{op: opFunc, line: p.tok().line}
	for p.tok().kind == tokWord && p.at(1).text == "." { // def self.name
		p.i += 2
	}
	f.text = p.tok().text
	p.i++
	if p.take("(") {
		f.params = p.params(")")
	} else if p.tok().kind == tokWord || p.isAny("*", "**", "&") {
		for !p.end() && p.tok().kind != tokNewline && !p.is("=") {
			if p.tok().kind == tokWord {
				f.params = append(f.params, param{name: p.tok().text})
			}
			p.i++
		}
	}
	if p.take("=") { // def name = value
		p.lines()
		f.body = []*node{p.expression()}
		return f
	}
	f.body = p.rubyBlock("rescue", "ensure", "else")
	p.rescued()
	p.take("end")
	return f
}
