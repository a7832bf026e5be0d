package nginxconf

import (
	"fmt"
	"strings"
)

// A word is one token with the blanks and comments before it, as written.
type word struct {
	pre string
	raw string
}

// value is the word as nginx understands it, without quotes and escapes.
func (w word) value() string {
	s := w.raw
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') {
		s = s[1 : len(s)-1]
	}
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] { // the others keep their backslash (ngx_conf_read_token)
		case '"', '\'', '\\':
			b.WriteByte(s[i])
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case 'n':
			b.WriteByte('\n')
		default:
			b.WriteString(s[i-1 : i+1])
		}
	}
	return b.String()
}

// A directive is a name with arguments, ended by ";" or by a block.
type directive struct {
	words []word // the name first; at least one
	tail  string // blanks and comments before ";" or "{"
	body  *block // nil for a simple directive
	line  int    // of the name, from 1; 0 for one that an edit made
}

func (d *directive) name() string { return d.words[0].value() }

// args are the values after the name.
func (d *directive) args() []string {
	vs := make([]string, 0, len(d.words)-1)
	for _, w := range d.words[1:] {
		vs = append(vs, w.value())
	}
	return vs
}

// arg is the i-th argument from 0, or "".
func (d *directive) arg(i int) string {
	if i+1 < len(d.words) {
		return d.words[i+1].value()
	}
	return ""
}

// A block is what stands between braces, or a whole file.
type block struct {
	items []*directive
	end   string // blanks and comments before "}" or the end of the file
	lua   string // the raw text of a *_by_lua_block, which is not nginx's syntax
}

// print writes the block as it was read, edits apart.
func (b *block) print(out *strings.Builder) {
	out.WriteString(b.lua)
	for _, d := range b.items {
		for _, w := range d.words {
			out.WriteString(w.pre)
			out.WriteString(w.raw)
		}
		out.WriteString(d.tail)
		if d.body == nil {
			out.WriteByte(';')
			continue
		}
		out.WriteByte('{')
		d.body.print(out)
		out.WriteByte('}')
	}
	out.WriteString(b.end)
}

func (b *block) String() string {
	var out strings.Builder
	b.print(&out)
	return out.String()
}

// maxDepth bounds nested blocks, so that hostile input cannot exhaust the stack.
const maxDepth = 100

// parse reads a configuration text. path is for messages only.
func parse(path, text string) (*block, error) {
	p := &parser{path: path, text: text}
	return p.block(0)
}

type parser struct {
	path, text string
	at         int
}

func (p *parser) line(at int) int { return 1 + strings.Count(p.text[:at], "\n") }

func (p *parser) errorf(at int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", p.path, p.line(at), fmt.Sprintf(format, args...))
}

// blanks takes white space and comments.
func (p *parser) blanks() string {
	from := p.at
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case isBlank(c):
			p.at++
		case c == '#':
			if n := strings.IndexByte(p.text[p.at:], '\n'); n >= 0 {
				p.at += n
			} else {
				p.at = len(p.text)
			}
		default:
			return p.text[from:p.at]
		}
	}
	return p.text[from:p.at]
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// block reads directives up to "}" (or, at depth 0, the end), which it leaves.
func (p *parser) block(depth int) (*block, error) {
	if depth > maxDepth {
		return nil, p.errorf(p.at, "blocks are nested deeper than %d", maxDepth)
	}
	b := &block{}
	for {
		pre := p.blanks()
		switch {
		case p.at == len(p.text) && depth > 0:
			return nil, p.errorf(p.at, `unexpected end of file, expecting "}"`)
		case p.at == len(p.text), p.text[p.at] == '}' && depth > 0:
			b.end = pre
			return b, nil
		case p.text[p.at] == '}', p.text[p.at] == ';', p.text[p.at] == '{':
			return nil, p.errorf(p.at, "unexpected %q", p.text[p.at])
		}
		d, err := p.directive(pre, depth)
		if err != nil {
			return nil, err
		}
		b.items = append(b.items, d)
	}
}

func (p *parser) directive(pre string, depth int) (*directive, error) {
	d := &directive{line: p.line(p.at)}
	for {
		from := p.at
		if p.at == len(p.text) {
			return nil, p.errorf(p.at, `unexpected end of file, expecting ";" or "}"`)
		}
		switch p.text[p.at] {
		case ';':
			d.tail = pre
			p.at++
			return d, nil
		case '{':
			d.tail = pre
			p.at++
			return d, p.body(d, depth)
		case '}':
			return nil, p.errorf(p.at, `unexpected "}"`)
		}
		if err := p.word(); err != nil {
			return nil, err
		}
		d.words = append(d.words, word{pre, p.text[from:p.at]})
		pre = p.blanks()
	}
}

// body reads a block with its closing brace.
func (p *parser) body(d *directive, depth int) (err error) {
	if strings.HasSuffix(d.name(), "_by_lua_block") {
		d.body, err = p.luaBlock()
	} else {
		d.body, err = p.block(depth + 1)
	}
	p.at++ // "}", which both have seen
	return err
}

// luaBlock takes raw text up to the brace that closes it. Braces in Lua's
// strings and comments are not told apart, as unbalanced ones are rare there.
func (p *parser) luaBlock() (*block, error) {
	from, open := p.at, 1
	for ; p.at < len(p.text); p.at++ {
		switch p.text[p.at] {
		case '{':
			open++
		case '}':
			if open--; open == 0 {
				return &block{lua: p.text[from:p.at]}, nil
			}
		}
	}
	return nil, p.errorf(from, `unexpected end of file, expecting "}" of a Lua block`)
}

// word takes one token by the rules of ngx_conf_read_token.
func (p *parser) word() error {
	from, first := p.at, p.text[p.at]
	if first == '"' || first == '\'' {
		for p.at++; p.at < len(p.text); p.at++ {
			switch p.text[p.at] {
			case '\\':
				p.at++
			case first:
				p.at++
				if p.at < len(p.text) && !isBlank(p.text[p.at]) && !strings.ContainsRune(";{)", rune(p.text[p.at])) {
					return p.errorf(p.at, "unexpected %q after a quoted word", p.text[p.at])
				}
				return nil
			}
		}
		p.at = min(p.at, len(p.text))
		return p.errorf(from, "a quoted word has no end")
	}
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case c == '\\':
			p.at = min(p.at+2, len(p.text))
		case isBlank(c), c == ';', c == '{' && !(p.at > from && p.text[p.at-1] == '$'):
			return nil
		default:
			p.at++
		}
	}
	return nil
}
