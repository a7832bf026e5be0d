package nginx

import "strings"

// lua reads the content of a *_by_lua_block up to the brace that closes it.
// Braces in Lua's strings and comments do not count.
func (p *parser) lua() (*Block, error) {
	from, open := p.at, 1
	for p.at < len(p.text) {
		switch c := p.text[p.at]; c {
		case '{':
			open++
		case '}':
			if open--; open == 0 {
				return &Block{Lua: p.text[from:p.at]}, nil
			}
		case '"', '\'', '-', '[':
			p.at += luaToken(p.text[p.at:])
			continue
		}
		p.at++
	}
	return nil, p.errorf(from, `unexpected end of file, expecting "}" of a Lua block`)
}

// luaToken is the length of the string or comment that s begins with; 1 if it
// begins with neither. One without an end extends to the end of s.
func luaToken(s string) int {
	switch {
	case s[0] == '"' || s[0] == '\'':
		return luaString(s)
	case strings.HasPrefix(s, "--"):
		if n := luaBrackets(s[2:]); n > 0 {
			return 2 + n
		}
		if n := strings.IndexByte(s, '\n'); n >= 0 {
			return n
		}
		return len(s)
	}
	return max(1, luaBrackets(s))
}

// luaString is the length of a string in quotes. An unescaped line feed, which
// Lua refuses, ends it.
func luaString(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0], '\n':
			return i + 1
		}
	}
	return len(s)
}

// luaBrackets is the length of a long string, as [[x]] or [==[x]==]; 0 if s does
// not begin with one.
func luaBrackets(s string) int {
	level := 0
	for level+1 < len(s) && s[level+1] == '=' {
		level++
	}
	if s == "" || s[0] != '[' || level+1 >= len(s) || s[level+1] != '[' {
		return 0
	}
	end := "]" + strings.Repeat("=", level) + "]"
	if n := strings.Index(s[level+2:], end); n >= 0 {
		return level + 2 + n + len(end)
	}
	return len(s)
}
