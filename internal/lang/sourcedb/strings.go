package sourcedb

import (
	"strconv"
	"strings"
)

// stringStart reads a string, a regular expression or a symbol if one begins here.
func (x *lexer) stringStart() bool {
	c := x.s[x.i]
	at, spaced := x.line, x.spaced()
	var parts []piece
	switch {
	case x.lang == langPython && x.pythonString(&parts):
	case x.lang == langRuby && x.rubyString(&parts):
	case x.lang == langPHP && x.has("<<<"):
		x.phpHeredoc(&parts)
	case c == '\'' || c == '"' || c == '`' && x.lang != langPython:
		x.i++
		parts = x.quoted(string(c), x.codeMark(c), false)
	case c == '/' && (x.lang == langJS || x.lang == langRuby) && !x.valueBefore():
		x.regexp()
		parts = []piece{{text: ""}}
	default:
		return false
	}
	x.add(lexeme{kind: tokString, parts: parts, line: at, space: spaced, glued: x.glued()})
	return true
}

// codeMark is what begins code within a string of a quote, "" for none.
func (x *lexer) codeMark(quote byte) string {
	switch {
	case x.lang == langJS && quote == '`':
		return "${"
	case x.lang == langRuby && quote != '\'':
		return "#{"
	case x.lang == langPHP && quote == '"':
		return "$"
	}
	return ""
}

// quoted reads to the closing quote. raw leaves backslashes as they are.
func (x *lexer) quoted(end, mark string, raw bool) []piece {
	var parts []piece
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			parts = append(parts, piece{text: b.String()})
			b.Reset()
		}
	}
	for x.i < len(x.s) {
		c := x.s[x.i]
		switch {
		case x.has(end):
			x.i += len(end)
			flush()
			return parts
		case c == '\\' && x.i+1 < len(x.s):
			if x.s[x.i+1] == '\n' {
				x.line++
			}
			b.WriteString(x.escape(raw || mark == "" && end == "'" && x.lang != langJS && x.lang != langPython))
		case mark == "{" && (x.has("{{") || x.has("}}")):
			b.WriteByte(c)
			x.i += 2
		case mark == "$" && x.has("{$") && closing(x.s[x.i+1:]) > 0:
			flush()
			n := closing(x.s[x.i+1:])
			parts = append(parts, piece{x.s[x.i+1 : x.i+1+n], true})
			x.i += n + 2
		case mark != "" && x.has(mark) && x.code(mark, &parts, flush):
		default:
			if c == '\n' {
				if x.line++; len(end) == 1 && (end == "'" || end == `"`) && x.lang != langPHP && x.lang != langRuby {
					flush()
					return parts // not closed: the line ends it
				}
			}
			b.WriteByte(c)
			x.i++
		}
	}
	flush()
	return parts
}

// escape reads a backslash and what it stands for.
func (x *lexer) escape(raw bool) string {
	c, plain := x.s[x.i+1], x.s[x.i+1:x.i+2]
	x.i += 2
	if raw {
		if c == '\'' || c == '\\' {
			return plain
		}
		return "\\" + plain
	}
	switch c {
	case 'n':
		return "\n"
	case 't':
		return "\t"
	case '\n':
		return ""
	case 'x':
		if x.i+2 <= len(x.s) {
			if n, err := strconv.ParseUint(x.s[x.i:x.i+2], 16, 8); err == nil {
				x.i += 2
				return string(rune(n))
			}
		}
	}
	return plain
}

// code reads an interpolation; false if none is here.
func (x *lexer) code(mark string, parts *[]piece, flush func()) bool {
	rest := x.s[x.i+len(mark):]
	n := 0
	if mark == "$" {
		for n < len(rest) && isWord(rest[n]) {
			n++
		}
		if n == 0 || isDigit(rest[0]) {
			return false
		}
		if strings.HasPrefix(rest[n:], "->") && n+2 < len(rest) && isWord(rest[n+2]) {
			for n += 2; n < len(rest) && isWord(rest[n]); n++ {
			}
		} else if strings.HasPrefix(rest[n:], "[") {
			if end := strings.IndexByte(rest[n:], ']'); end > 0 && end < 80 {
				n += end + 1
			}
		}
		flush()
		code := "$" + rest[:n]
		if i := strings.IndexByte(code, '['); i > 0 && !strings.ContainsAny(code[i:], "'\"$") && !isDigit(code[i+1]) {
			code = code[:i] + "['" + strings.Trim(code[i:], "[]") + "']"
		}
		*parts = append(*parts, piece{code, true})
		x.i += len(mark) + n
		return true
	}
	n = closing(rest)
	if n < 0 {
		return false
	}
	flush()
	*parts = append(*parts, piece{rest[:n], true})
	x.line += strings.Count(rest[:n], "\n")
	x.i += len(mark) + n + 1
	return true
}

// closing is the index of the brace that closes an interpolation, -1 without one.
func closing(s string) int {
	depth := 0
	var quote byte
	for i := 0; i < len(s) && i < 2000; i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == '\\' {
				i++
			} else if c == quote {
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
	return -1
}

// pythonString reads a string with its prefix; parts of an f-string are code.
func (x *lexer) pythonString(parts *[]piece) bool {
	n := 0
	for n < 3 && x.i+n < len(x.s) && strings.IndexByte("rRbBfFuU", x.s[x.i+n]) >= 0 {
		n++
	}
	if x.i+n >= len(x.s) || x.s[x.i+n] != '\'' && x.s[x.i+n] != '"' {
		return false
	}
	prefix := strings.ToLower(x.s[x.i : x.i+n])
	x.i += n
	quote := x.s[x.i : x.i+1]
	if x.has(strings.Repeat(quote, 3)) {
		quote = strings.Repeat(quote, 3)
	}
	x.i += len(quote)
	mark := ""
	if strings.Contains(prefix, "f") {
		mark = "{"
	}
	*parts = x.quoted(quote, mark, strings.Contains(prefix, "r"))
	for i, p := range *parts {
		if p.code { // {value!r:>10} and {value=}
			if j := strings.LastIndexAny(p.text, "!:"); j > 0 && !strings.ContainsAny(p.text[j:], `)]}"'=`) {
				(*parts)[i].text = p.text[:j]
			}
		}
	}
	return true
}

// rubyString reads a symbol, a heredoc or a string of the form %w[…].
func (x *lexer) rubyString(parts *[]piece) bool {
	rest := x.s[x.i:]
	switch {
	case rest[0] == ':' && len(rest) > 1 && isWord(rest[1]) && !isDigit(rest[1]) && !(x.i > 0 && x.s[x.i-1] == ':'):
		n := 1
		for n < len(rest) && isWord(rest[n]) {
			n++
		}
		*parts = []piece{{text: rest[1:n]}}
		x.i += n
		return true
	case strings.HasPrefix(rest, "<<") && len(rest) > 4 && (rest[2] == '~' || rest[2] == '-' || !x.valueBefore() && rest[2] >= 'A' && rest[2] <= 'Z'):
		word := strings.TrimLeft(rest[2:min(len(rest), 60)], "~-\"'`")
		n := 0
		for n < len(word) && isWord(word[n]) {
			n++
		}
		if n == 0 {
			return false
		}
		x.here = append(x.here, word[:n])
		x.i += strings.Index(rest, word) + n
		if x.i < len(x.s) && strings.IndexByte("\"'`", x.s[x.i]) >= 0 {
			x.i++
		}
		*parts = []piece{{text: "x", code: true}} // its text is not read
		return true
	case rest[0] == '%' && !x.valueBefore() && len(rest) > 2:
		n := 1
		for n < 2 && strings.IndexByte("wWiIqQ", rest[n]) >= 0 {
			n++
		}
		open := strings.IndexByte("([{<|", rest[n])
		if open < 0 {
			return false
		}
		x.i += n + 1
		*parts = x.quoted(")]}>|"[open:open+1], "", false)
		return true
	}
	return false
}

// phpHeredoc reads <<<EOT … EOT.
func (x *lexer) phpHeredoc(parts *[]piece) {
	line, rest, _ := strings.Cut(x.s[x.i+3:], "\n")
	word := strings.Trim(strings.TrimSpace(line), `"'`)
	x.line++
	x.i = len(x.s) - len(rest)
	for x.i < len(x.s) {
		line, rest, _ := strings.Cut(x.s[x.i:], "\n")
		if end, ok := strings.CutPrefix(strings.TrimSpace(line), word); ok && (end == "" || !isWord(end[0])) {
			x.i += strings.Index(line, word) + len(word)
			break
		}
		x.line++
		x.i = len(x.s) - len(rest)
	}
	*parts = []piece{{text: "$heredoc", code: true}} // its text is not read
}

// regexp skips a regular expression.
func (x *lexer) regexp() {
	class := false
	for x.i++; x.i < len(x.s) && x.s[x.i] != '\n'; x.i++ {
		switch c := x.s[x.i]; {
		case c == '\\':
			x.i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			x.i = min(x.i+1, len(x.s))
			return
		}
	}
	x.i = min(x.i, len(x.s))
}
