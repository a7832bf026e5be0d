package accesslog

import (
	"fmt"
	"strings"
)

// nginxFields are the variables of a log_format that are counted. All others
// are skipped: only the text behind them matters.
var nginxFields = map[string]piece{
	"request":                {field: request},
	"request_method":         {field: verb},
	"request_uri":            {field: uri},
	"uri":                    {field: path},
	"document_uri":           {field: path},
	"args":                   {field: query},
	"query_string":           {field: query},
	"status":                 {field: status},
	"body_bytes_sent":        {field: size},
	"bytes_sent":             {field: size},
	"request_length":         {field: reqSize},
	"request_time":           {field: took, unit: 1e9},
	"upstream_response_time": {field: upstream, unit: 1e9},
	"time_local":             {field: stamp},
	"time_iso8601":           {field: stamp},
	"msec":                   {field: stamp},
	"host":                   {field: host},
	"http_host":              {field: host},
	"server_name":            {field: host},
	"http_user_agent":        {field: agent},
	"http_referer":           {field: referer},
	"remote_user":            {field: user},
	"remote_addr":            {field: address},
	"upstream_addr":          {field: backend},
}

// A builder makes a layout from a format string: fields and literal texts in
// turn.
type builder struct {
	lay  layout
	seen [nFields]bool
	text strings.Builder
}

// literal adds text between fields.
func (b *builder) literal(s string) { b.text.WriteString(s) }

// field adds a field and ends the text before it. Two fields need text between
// them, or their border is unknown.
func (b *builder) field(p piece, name string) error {
	if len(b.lay.pieces) > 0 && b.text.Len() == 0 {
		return fmt.Errorf("no text separates %s and %s", b.lay.pieces[len(b.lay.pieces)-1].name, name)
	}
	b.flush()
	if b.seen[p.field] && p.field != skipped && p.field != part {
		// The first of two sources counts ($body_bytes_sent before
		// $bytes_sent), but of two times the one of finer unit (%D before %T).
		old := b.find(p.field)
		if p.unit >= old.unit {
			p = piece{}
		} else {
			*old = piece{name: old.name, stop: old.stop}
		}
	}
	b.seen[p.field] = true
	p.name = name
	b.lay.pieces = append(b.lay.pieces, p)
	return nil
}

func (b *builder) find(f field) *piece {
	for i := range b.lay.pieces {
		if b.lay.pieces[i].field == f {
			return &b.lay.pieces[i]
		}
	}
	return nil
}

func (b *builder) flush() {
	text := b.text.String()
	b.text.Reset()
	if n := len(b.lay.pieces); n > 0 {
		b.lay.pieces[n-1].stop = text
	} else {
		b.lay.lead = text
	}
}

// done returns the layout. It is an error if no field holds the request.
func (b *builder) done(title string) (*layout, error) {
	b.flush()
	l := &b.lay
	l.title = title
	before := l.lead
	for i := range l.pieces {
		p := &l.pieces[i]
		p.quoted = strings.HasSuffix(before, `"`) && strings.HasPrefix(p.stop, `"`)
		before = p.stop
	}
	if n := len(l.pieces); n > 0 {
		l.pieces[n-1].last = true
	}
	if !b.seen[request] && !b.seen[uri] && !b.seen[path] {
		return nil, fmt.Errorf("it has no field with the request")
	}
	return l, nil
}

// nginxLayout reads the text of a log_format whose strings are already joined.
func nginxLayout(format, title string) (*layout, error) {
	return variableLayout(format, title, nginxFields)
}

// variableLayout reads a format string with variables of these fields.
func variableLayout(format, title string, fields map[string]piece) (*layout, error) {
	var b builder
	for s := format; s != ""; {
		at := strings.IndexByte(s, '$')
		if at < 0 || at == len(s)-1 {
			b.literal(s)
			break
		}
		b.literal(s[:at])
		name, rest := variable(s[at+1:])
		if name == "" {
			b.literal("$")
			s = s[at+1:]
			continue
		}
		if err := b.field(fields[name], "$"+name); err != nil {
			return nil, err
		}
		s = rest
	}
	return b.done(title)
}

// variable reads "name" or "{name}" behind a dollar sign.
func variable(s string) (name, rest string) {
	if strings.HasPrefix(s, "{") {
		name, rest, ok := strings.Cut(s[1:], "}")
		if ok {
			return name, rest
		}
		return "", s
	}
	n := 0
	for n < len(s) && (s[n] == '_' || s[n] >= '0' && s[n] <= '9' || s[n]|0x20 >= 'a' && s[n]|0x20 <= 'z') {
		n++
	}
	return s[:n], s[n:]
}
