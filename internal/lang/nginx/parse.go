package nginx

import (
	"fmt"
	"strings"
)

// Limits of what is parsed, so that hostile input exhausts neither the stack
// nor the memory.
const (
	maxDepth = 100      // nested blocks
	maxBytes = 64 << 20 // of one file
)

// tokenBuffer is the size in bytes of the buffer into which nginx reads a file
// (NGX_CONF_BUFFER). A word or a comment that does not fit is refused.
const tokenBuffer = 4096

// A SyntaxError is a place that nginx would refuse as well, or a limit of this
// package that a file exceeds.
type SyntaxError struct {
	File    string
	Line    int // from 1
	Problem string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Problem) }

// Parse reads one file. path is stored in the directives and named in errors;
// no file is opened. An error is a *SyntaxError.
func Parse(path, text string) (*Block, error) {
	p := &parser{path: path, text: text, line: 1}
	if len(text) > maxBytes {
		return nil, p.errorf(0, "the file is larger than %d bytes", maxBytes)
	}
	return p.block(0)
}

// entryBlocks are the directives whose blocks hold entries instead of
// directives: nginx refuses a block inside them.
var entryBlocks = map[string]bool{"types": true, "map": true, "geo": true, "split_clients": true, "charset_map": true}

type parser struct {
	path, text string
	at         int
	entries    bool // the current block is one of entryBlocks
	line       int  // the line of the byte at counted
	counted    int
}

// lineAt is the line of a byte. Calls with rising positions read the text once.
func (p *parser) lineAt(at int) int {
	if at < p.counted {
		return 1 + strings.Count(p.text[:at], "\n")
	}
	p.line += strings.Count(p.text[p.counted:at], "\n")
	p.counted = at
	return p.line
}

func (p *parser) errorf(at int, format string, args ...any) error {
	return &SyntaxError{File: p.path, Line: p.lineAt(at), Problem: fmt.Sprintf(format, args...)}
}

// block reads directives up to "}", which it does not consume, or at depth 0 up
// to the end of the file.
func (p *parser) block(depth int) (*Block, error) {
	if depth > maxDepth {
		return nil, p.errorf(p.at, "blocks are nested deeper than %d", maxDepth)
	}
	b := &Block{}
	for {
		before, err := p.space()
		if err != nil {
			return nil, err
		}
		switch {
		case p.at == len(p.text) && depth > 0:
			return nil, p.errorf(p.at, `unexpected end of file, expecting "}"`)
		case p.at == len(p.text), p.text[p.at] == '}' && depth > 0:
			b.Tail = before
			return b, nil
		case strings.IndexByte("};{", p.text[p.at]) >= 0:
			return nil, p.errorf(p.at, "unexpected %q", p.text[p.at:p.at+1])
		}
		d, err := p.directive(before, depth)
		if err != nil {
			return nil, err
		}
		b.Items = append(b.Items, d)
	}
}

// directive reads a directive from its name to its semicolon or closing brace.
func (p *parser) directive(before string, depth int) (*Directive, error) {
	d := &Directive{File: p.path, Line: p.lineAt(p.at), Start: p.at}
	for {
		if p.at == len(p.text) {
			return nil, p.errorf(p.at, `unexpected end of file, expecting ";" or "}"`)
		}
		switch p.text[p.at] {
		case ';':
			d.Tail = before
			p.at++
			d.End = p.at
			return d, nil
		case '{':
			if p.entries {
				return nil, p.errorf(p.at, `unexpected "{"`)
			}
			d.Tail = before
			p.at++
			err := p.body(d, depth)
			d.End = p.at
			return d, err
		case '}':
			return nil, p.errorf(p.at, `unexpected "}"`)
		}
		from := p.at
		if err := p.word(); err != nil {
			return nil, err
		}
		d.Words = append(d.Words, Word{before, p.text[from:p.at]})
		var err error
		if before, err = p.space(); err != nil {
			return nil, err
		}
	}
}

// body reads a block and its closing brace.
func (p *parser) body(d *Directive, depth int) (err error) {
	if strings.HasSuffix(d.Name(), "_by_lua_block") {
		d.Block, err = p.lua()
	} else {
		p.entries = entryBlocks[d.Name()]
		d.Block, err = p.block(depth + 1)
		p.entries = false // no block inside one of entryBlocks
	}
	if err == nil {
		p.at++ // the brace
	}
	return err
}

// space reads white space and comments.
func (p *parser) space() (string, error) {
	from := p.at
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case isBlank(c):
			p.at++
		case c == '#':
			start := p.at
			if n := strings.IndexByte(p.text[p.at:], '\n'); n >= 0 {
				p.at += n
			} else {
				p.at = len(p.text)
			}
			if err := p.fits(start, p.at, "comment"); err != nil {
				return "", err
			}
		default:
			return p.text[from:p.at], nil
		}
	}
	return p.text[from:p.at], nil
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// word reads one name or argument.
func (p *parser) word() error {
	from, c := p.at, p.text[p.at]
	if c == '"' || c == '\'' {
		return p.quoted(c)
	}
	p.unquoted()
	last := p.at // the last byte that nginx reads into the buffer that holds the word
	if p.at < len(p.text) && isBlank(p.text[p.at]) {
		last++
	}
	return p.fits(from, last, "word")
}

// unquoted reads up to white space, ";" or "{".
func (p *parser) unquoted() {
	variable := false // the byte before was a "$", or a "{" behind one
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case c == '{' && variable:
			p.at++
		case c == '\\':
			p.at = min(p.at+2, len(p.text))
			variable = false
		case isBlank(c), c == ';', c == '{':
			return
		default:
			variable = c == '$'
			p.at++
		}
	}
}

// quoted reads a word in quotes.
func (p *parser) quoted(quote byte) error {
	from := p.at
	for p.at++; ; p.at++ {
		if p.at >= len(p.text) {
			p.at = len(p.text)
			return p.errorf(from, "a quoted word has no end")
		}
		if c := p.text[p.at]; c == '\\' {
			p.at++
		} else if c == quote {
			break
		}
	}
	p.at++
	last := p.at
	if p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case isBlank(c):
			last++
		case c != ';' && c != '{' && c != ')':
			return p.errorf(p.at, "unexpected %q after a quoted word", p.text[p.at:p.at+1])
		}
	}
	return p.fits(from+1, last, "quoted word")
}

// fits refuses a token that begins at start and needs the byte at last, if
// that byte does not fit into nginx's buffer.
func (p *parser) fits(start, last int, what string) error {
	if end := start + tokenBuffer; end <= last && end < len(p.text) {
		return p.errorf(start, "a %s is longer than the %d bytes of nginx's buffer", what, tokenBuffer)
	}
	return nil
}
