package sourcedb

import "strings"

// primary reads a word, a string, a number, a list, a table, a function or what is in
// parentheses.
func (p *reader) primary() *node {
	t := p.tok()
	switch t.kind {
	case tokString:
		p.i++
		n := p.stringNode(t)
		for p.tok().kind == tokString && (p.lang == langPython || p.lang == langRuby) { // "a" "b"
			n = &node{op: opJoin, kids: []*node{n, p.stringNode(p.tok())}, line: t.line}
			p.i++
		}
		return n
	case tokNumber:
		p.i++
		return text(t.text, t.line)
	case tokWord:
		return p.wordNode(t)
	case tokPunct:
		return p.bracket(t)
	}
	if t.kind != tokEnd {
		p.i++
	}
	return &node{line: t.line}
}

// stringNode makes the tree of a string with its parts of code.
func (p *reader) stringNode(t lexeme) *node {
	if len(t.parts) == 0 {
		return text("", t.line)
	}
	if len(t.parts) == 1 && !t.parts[0].code {
		return text(t.parts[0].text, t.line)
	}
	n := &node{op: opJoin, line: t.line}
	for i, part := range t.parts {
		if i > 60 {
			break
		}
		if !part.code {
			n.kids = append(n.kids, text(part.text, t.line))
			continue
		}
		if p.depth > maxNested/2 {
			n.kids = append(n.kids, &node{line: t.line})
			continue
		}
		code := part.text
		if p.lang == langPHP && !strings.Contains(code, "<?") {
			code = strings.TrimSpace(code)
		}
		in := newReader(code, p.lang, t.line)
		in.depth = p.depth + 10
		in.lines()
		if in.tok().kind == tokIndent {
			in.i++
		}
		n.kids = append(n.kids, in.expression())
	}
	return n
}

// wordNode reads a name or a keyword.
func (p *reader) wordNode(t lexeme) *node {
	switch t.text {
	case "true", "True", "TRUE":
		p.i++
		return &node{op: opBool, text: "true", line: t.line}
	case "false", "False", "FALSE":
		p.i++
		return &node{op: opBool, text: "false", line: t.line}
	case "nil", "None", "null", "undefined", "NULL":
		p.i++
		return &node{op: opNull, line: t.line}
	case "function", "fn":
		if p.lang == langJS && t.text == "function" || p.lang == langPHP {
			return p.functionNode()
		}
	case "lambda":
		if p.lang == langPython {
			for !p.end() && !p.take(":") {
				p.i++
			}
			return &node{op: opFunc, body: []*node{{op: opReturn, kids: []*node{p.expression()}}}, line: t.line}
		}
	case "class":
		if p.lang == langPHP || p.lang == langJS {
			p.classNode()
			return &node{line: t.line}
		}
	case "match", "switch":
		if p.lang == langPHP && p.at(1).text == "(" {
			p.i++
			p.until2("(", ")")
			p.until2("{", "}")
			return &node{line: t.line}
		}
	case "if", "unless", "case", "begin", "def", "while", "until":
		if p.lang == langRuby {
			return p.rubyKeyword(t)
		}
	}
	p.i++
	return name(strings.TrimPrefix(t.text, "\\"), t.line)
}

// until2 skips what is between two signs, if the first is here.
func (p *reader) until2(open, closing string) {
	if p.take(open) {
		p.until(closing)
	}
}

// bracket reads what begins with a sign.
func (p *reader) bracket(t lexeme) *node {
	p.i++
	switch t.text {
	case "(":
		return p.parentheses(t)
	case "[":
		n := &node{op: opList, line: t.line}
		pairs := false
		p.items("]", func() {
			e := p.entry()
			pairs = pairs || e.op == opPair
			n.kids = append(n.kids, e)
		})
		if pairs {
			n.op = opTable
		}
		return n
	case "{":
		return p.tableNode(t)
	case "::": // Ruby's ::Name
		return p.primary()
	case "\\": // PHP's \Name
		x := p.primary()
		return x
	case "->":
		if p.lang == langRuby { // a lambda
			p.until2("(", ")")
			return p.block()
		}
	case ")", "]", "}":
		p.i--
	}
	return &node{line: t.line}
}

// parentheses reads a value in parentheses, a tuple, the parameters of an arrow function
// or a cast.
func (p *reader) parentheses(t lexeme) *node {
	if p.lang == langJS && p.arrowAhead() {
		params := p.params(")")
		if p.take(":") {
			p.skipType()
		}
		return p.arrow(params, t.line)
	}
	if p.lang == langPHP && p.tok().kind == tokWord && p.at(1).text == ")" && strings.Contains(" int string bool array object float ", " "+p.tok().text+" ") {
		p.i += 2
		return p.unary()
	}
	n := &node{op: opList, line: t.line}
	tuple := false
	p.items(")", func() {
		n.kids = append(n.kids, p.entry())
		tuple = tuple || p.is(",")
	})
	if len(n.kids) == 1 && !(tuple && p.lang == langPython) {
		return n.kids[0]
	}
	if len(n.kids) > 1 && p.lang != langPython {
		return n.kids[len(n.kids)-1]
	}
	return n
}

// arrowAhead reports whether the parenthesis that is open here closes before an arrow.
func (p *reader) arrowAhead() bool {
	depth := 1
	for j := p.i; j < len(p.toks) && j < p.i+400; j++ {
		if p.toks[j].kind != tokPunct {
			continue
		}
		switch p.toks[j].text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			depth--
		}
		if depth == 0 {
			if j+1 >= len(p.toks) {
				return false
			}
			if next := p.toks[j+1]; next.text == ":" && next.kind == tokPunct { // a type before the arrow
				for k := j + 2; k < len(p.toks) && k < j+40; k++ {
					switch p.toks[k].text {
					case "=>":
						return true
					case ";", ",", ")", "=", "?":
						return false
					}
				}
				return false
			}
			return p.toks[j+1].text == "=>"
		}
	}
	return false
}

// arrow reads the body of an arrow function.
func (p *reader) arrow(params []param, line int) *node {
	p.take("=>")
	f := &node{op: opFunc, params: params, line: line}
	if p.is("{") {
		p.i++
		f.body = p.statements("}")
		return f
	}
	f.body = []*node{{op: opReturn, kids: []*node{p.expression()}, line: line}}
	return f
}

// tableNode reads { name: value, … }.
func (p *reader) tableNode(t lexeme) *node {
	n := &node{op: opTable, line: t.line}
	p.items("}", func() {
		key, next := p.tok(), p.at(1)
		switch {
		case p.lang == langJS && key.kind == tokWord && next.kind == tokPunct && (next.text == "," || next.text == "}"):
			p.i++
			n.kids = append(n.kids, &node{op: opPair, text: key.text, kids: []*node{name(key.text, key.line)}, line: key.line})
		case p.lang == langJS && key.kind == tokWord && next.kind == tokPunct && next.text == "=": // { A = 'd' } = …
			p.i += 2
			n.kids = append(n.kids, &node{op: opPair, text: key.text, kids: []*node{{op: opAssign, kids: []*node{name(key.text, key.line), p.expression()}, line: key.line}}, line: key.line})
		case p.lang == langJS && p.is("[") && key.kind == tokPunct: // [name]: value
			p.i++
			k := p.expression()
			p.until("]")
			p.take(":")
			n.kids = append(n.kids, &node{op: opPair, kids: []*node{p.expression(), k}, line: key.line})
		case p.lang == langJS && p.methodAhead():
			p.methodNode()
		default:
			n.kids = append(n.kids, p.entry())
		}
	})
	return n
}

// methodAhead reports whether a method of an object or a class begins here.
func (p *reader) methodAhead() bool {
	j := 0
	for p.at(j).kind == tokWord && p.at(j+1).kind == tokWord || p.at(j).kind == tokPunct && p.at(j).text == "*" {
		j++
	}
	return p.at(j).kind == tokWord && p.at(j+1).kind == tokPunct && p.at(j+1).text == "("
}
