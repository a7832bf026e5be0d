package settings

import (
	"slices"
	"strconv"
	"strings"
)

// A language is one whose scripts are read.
type language int

const (
	none language = iota
	javaScript
	python
	ruby
	php
)

// A token is a word, a number, a text, an operator or the end of a line.
type token struct {
	kind  byte // 'w', 'n', 's', 'o', '\n'; 0 behind the last one
	text  string
	parts []piece // of a text
	line  int
	glued bool // no space is before it
}

// A piece of a text is fixed, or code whose value it has.
type piece struct {
	text string
	code bool
}

// A scanner cuts a script into tokens. It never fails: what it does not know is an
// operator of one byte.
type scanner struct {
	s    string
	i    int
	line int
	lang language
	out  []token
}

// maxTokens bounds one script.
const maxTokens = 200_000

func scan(s string, lang language, line int, within bool) []token {
	x := &scanner{s: s, lang: lang, line: line}
	if lang == php && !within {
		x.outside()
	}
	for x.i < len(x.s) && len(x.out) < maxTokens {
		x.next()
	}
	return x.out
}

// outside skips text until PHP's code begins.
func (x *scanner) outside() {
	n := strings.Index(x.s[x.i:], "<?")
	if n < 0 {
		n = len(x.s) - x.i
	}
	x.skip(n)
	for _, mark := range []string{"<?php", "<?=", "<?"} {
		if x.has(mark) {
			x.skip(len(mark))
			break
		}
	}
	x.add('o', ";", x.i)
}

func (x *scanner) has(s string) bool { return strings.HasPrefix(x.s[x.i:], s) }

// skip goes on by n bytes.
func (x *scanner) skip(n int) {
	n = min(n, len(x.s)-x.i)
	x.line += strings.Count(x.s[x.i:x.i+n], "\n")
	x.i += n
}

// skipTo goes behind the next mark, or to the end.
func (x *scanner) skipTo(mark string) {
	n := strings.Index(x.s[x.i:], mark)
	if n < 0 {
		x.skip(len(x.s))
		return
	}
	x.skip(n + len(mark))
}

func (x *scanner) add(kind byte, text string, start int) {
	glued := start > 0 && strings.IndexByte(" \t\r\n", x.s[start-1]) < 0
	x.out = append(x.out, token{kind: kind, text: text, line: x.line, glued: glued})
}

// operators of several bytes, the longer ones first.
var operators = []string{"===", "!==", "...", "**=", "||=", "??=", "?->", "=>", "->", "?.", "::", "||", "&&", "??", "?:", "==", "!=", "<=", ">=", "+=", ".=", "**"}

func (x *scanner) next() {
	c := x.s[x.i]
	newLine := x.i == 0 || x.s[x.i-1] == '\n'
	switch {
	case c == '\n':
		if x.lang == python || x.lang == ruby {
			x.add('\n', "\n", x.i)
		}
		x.skip(1)
	case c <= ' ':
		x.i++
	case x.lang == ruby && newLine && x.has("=begin"):
		x.skipTo("\n=end")
	case x.lang == ruby && newLine && x.has("__END__"):
		x.i = len(x.s)
	case c == '#' && x.lang != javaScript && (x.lang != php || !x.has("#[")), (x.lang == javaScript || x.lang == php) && x.has("//"):
		if n := strings.Index(x.s[x.i:], "\n"); n >= 0 {
			x.i += n
		} else {
			x.i = len(x.s)
		}
	case (x.lang == javaScript || x.lang == php) && x.has("/*"):
		x.skipTo("*/")
	case x.lang == php && x.has("?>"):
		x.i += 2
		x.outside()
	case x.string(c):
	case letter(c):
		x.word()
	case digit(c):
		start := x.i
		for x.i < len(x.s) && (digit(x.s[x.i]) || x.s[x.i] == '_' || x.s[x.i] == '.' && x.i+1 < len(x.s) && digit(x.s[x.i+1])) {
			x.i++
		}
		x.add('n', strings.ReplaceAll(x.s[start:x.i], "_", ""), start)
	default:
		op := x.s[x.i : x.i+1]
		if i := slices.IndexFunc(operators, x.has); i >= 0 {
			op = operators[i]
		}
		x.add('o', op, x.i)
		x.i += len(op)
	}
}

func letter(c byte) bool {
	return c == '_' || c == '$' || c == '@' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func (x *scanner) word() {
	start := x.i
	for x.i < len(x.s) && (letter(x.s[x.i]) || digit(x.s[x.i])) {
		x.i++
	}
	if x.lang == ruby && x.i+1 < len(x.s) && (x.s[x.i] == '?' || x.s[x.i] == '!') && x.s[x.i+1] != '=' {
		x.i++
	}
	x.add('w', x.s[start:x.i], start)
}

// string reads a text, a regular expression or a symbol if one begins here.
func (x *scanner) string(c byte) bool {
	start, line := x.i, x.line
	prefix := ""
	if x.lang == python {
		for prefix = x.s[x.i:min(x.i+2, len(x.s))]; prefix != "" && strings.Trim(prefix, "rRbBfFuU") != ""; {
			prefix = prefix[:len(prefix)-1]
		}
	}
	at := x.i + len(prefix)
	switch {
	case at < len(x.s) && (x.s[at] == '\'' || x.s[at] == '"' || x.s[at] == '`' && x.lang == javaScript):
		x.i = at
		x.quoted(prefix)
	case x.lang == ruby && c == ':' && x.i+1 < len(x.s) && letter(x.s[x.i+1]) && (x.i == 0 || x.s[x.i-1] != ':'):
		x.i++
		for from := x.i; ; x.i++ {
			if x.i == len(x.s) || !letter(x.s[x.i]) && !digit(x.s[x.i]) {
				x.text([]piece{{text: x.s[from:x.i]}}, start, line)
				break
			}
		}
	case c == '/' && (x.lang == javaScript || x.lang == ruby) && !x.behindValue():
		for x.i++; x.i < len(x.s) && x.s[x.i] != '/' && x.s[x.i] != '\n'; x.i++ {
			if x.s[x.i] == '\\' {
				x.i++
			}
		}
		x.i = min(x.i+1, len(x.s))
		x.add('o', "/", start)
	case x.has("<<") && (x.lang == ruby && !x.has("<< ") || x.lang == php && x.has("<<<")):
		return x.heredoc(start)
	default:
		return false
	}
	return true
}

// behindValue reports whether the last token ends a value, so that a slash divides.
func (x *scanner) behindValue() bool {
	if len(x.out) == 0 {
		return false
	}
	t := x.out[len(x.out)-1]
	return t.kind == 'w' || t.kind == 'n' || t.kind == 's' || t.text == ")" || t.text == "]" || t.text == "}"
}

func (x *scanner) text(parts []piece, start, line int) {
	x.add('s', "", start)
	t := &x.out[len(x.out)-1]
	t.parts, t.line = parts, line
}

// heredoc skips a text between lines; its value is not read.
func (x *scanner) heredoc(start int) bool {
	head, _, _ := strings.Cut(x.s[x.i:], "\n")
	word := strings.Trim(strings.TrimLeft(head, "<~- \"'`"), " ;\r")
	n := 0
	for n < len(word) && (letter(word[n]) || digit(word[n])) {
		n++
	}
	if n == 0 || x.lang == ruby && !strings.ContainsAny(head[2:3], "~-") && (word[0] < 'A' || word[0] > 'Z') {
		return false
	}
	x.text([]piece{{"", true}}, start, x.line)
	for rest := x.s[x.i:]; ; {
		line, more, ok := strings.Cut(rest, "\n")
		x.skip(len(line))
		if end := strings.TrimSpace(line); !ok || line != head && strings.HasPrefix(end, word[:n]) {
			return true
		}
		x.skip(1)
		rest = more
	}
}

// quoted reads a text from its quote on.
func (x *scanner) quoted(prefix string) {
	start, line := x.i-len(prefix), x.line
	quote := x.s[x.i : x.i+1]
	if triple := strings.Repeat(quote, 3); x.lang == python && x.has(triple) {
		quote = triple
	}
	x.i += len(quote)
	raw := strings.ContainsAny(prefix, "rR") || quote == "'" && (x.lang == ruby || x.lang == php)
	mark := map[language]string{javaScript: "${", ruby: "#{", php: "$", python: "{"}[x.lang]
	if quote == "'" && x.lang != python || x.lang == javaScript && quote != "`" || x.lang == python && !strings.ContainsAny(prefix, "fF") {
		mark = ""
	}
	var parts []piece
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			parts = append(parts, piece{text: b.String()})
			b.Reset()
		}
	}
	for x.i < len(x.s) && !x.has(quote) {
		c := x.s[x.i]
		if code, n := x.interpolation(mark); n > 0 {
			flush()
			parts = append(parts, piece{code, true})
			x.skip(n)
			continue
		}
		switch {
		case c == '\\' && x.i+1 < len(x.s):
			b.WriteString(escape(x.s[x.i+1], raw))
			x.skip(2)
			continue
		case c == '\n' && len(quote) == 1 && (x.lang == javaScript && quote != "`" || x.lang == python): // not closed
			flush()
			x.text(parts, start, line)
			return
		case mark == "{" && (x.has("{{") || x.has("}}")):
			x.i++
		}
		b.WriteByte(c)
		x.skip(1)
	}
	x.skip(len(quote))
	flush()
	x.text(parts, start, line)
}

func escape(c byte, raw bool) string {
	switch {
	case raw && c != '\'' && c != '\\':
		return "\\" + string(rune(c))
	case c == 'n':
		return "\n"
	case c == 't':
		return "\t"
	case c == '\n':
		return ""
	}
	return string([]byte{c})
}

// interpolation is the code within a text at this place, and its length; 0 for none.
func (x *scanner) interpolation(mark string) (code string, n int) {
	rest := x.s[x.i:min(len(x.s), x.i+1000)]
	switch {
	case mark == "" || mark == "{" && strings.HasPrefix(rest, "{{"):
		return "", 0
	case mark == "$" && strings.HasPrefix(rest, "{$"):
		if end := balanced(rest[1:]); end > 0 {
			return rest[1 : 1+end], end + 2
		}
	case mark == "$" && len(rest) > 1 && rest[0] == '$' && letter(rest[1]):
		for n = 1; n < len(rest) && (letter(rest[n]) || digit(rest[n])); n++ {
		}
		if end := strings.IndexByte(rest[n:], ']'); end > 0 && rest[n] == '[' {
			key := strings.Trim(rest[n+1:n+end], `'"`)
			return rest[:n] + "[" + strconv.Quote(key) + "]", n + end + 1
		}
		return rest[:n], n
	case mark != "$" && strings.HasPrefix(rest, mark):
		if end := balanced(rest[len(mark):]); end > 0 {
			code = rest[len(mark) : len(mark)+end]
			if i := strings.LastIndexAny(code, "!:"); mark == "{" && i > 0 && !strings.ContainsAny(code[i:], `)]}"'=`) {
				code = code[:i] // the form of a value
			}
			return code, len(mark) + end + 1
		}
	}
	return "", 0
}

// balanced is the index of the brace that closes what is open, 0 without one.
func balanced(s string) int {
	depth := 0
	var quote byte
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"' || c == '`':
			quote = c
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth < 0 {
				return i
			}
		}
	}
	return 0
}
