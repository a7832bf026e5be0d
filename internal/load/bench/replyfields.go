package bench

import (
	"bytes"
	"strconv"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// lowered maps each byte that a field name may have (token, RFC 9110, 5.6.2) to
// lower case and every other byte to 0.
var lowered = func() (t [256]byte) {
	for c := byte('a'); c <= 'z'; c++ {
		t[c], t[c-'a'+'A'] = c, c
	}
	for _, c := range []byte("0123456789!#$%&'*+-.^_`|~") {
		t[c] = c
	}
	return t
}()

// fieldLines parses header lines up to the empty line.
func (p *reply) fieldLines() (more bool, err error) {
	for {
		line, more, err := p.line(0, maxHead)
		if more || err != nil {
			return more, err
		}
		if len(line) == 0 {
			return false, p.headDone()
		}
		f, err := parseField(line)
		if err != nil {
			return false, err
		}
		if len(p.fields) == maxFields {
			return false, protocol("more than %d header fields", maxFields)
		}
		p.fields = append(p.fields, f)
		if err := p.note(f); err != nil {
			return false, err
		}
	}
}

// parseField splits "Name: value" and converts the name to lower case in place.
func parseField(line []byte) (scenario.HeaderField, error) {
	i := bytes.IndexByte(line, ':')
	if i <= 0 {
		return scenario.HeaderField{}, protocol("header line %.60q", line)
	}
	name := line[:i:i]
	for j, c := range name {
		if c = lowered[c]; c == 0 {
			return scenario.HeaderField{}, protocol("header name %.60q", name)
		}
		name[j] = c
	}
	value := line[i+1:]
	for len(value) > 0 && (value[0] == ' ' || value[0] == '\t') {
		value = value[1:]
	}
	for n := len(value); n > 0 && (value[n-1] == ' ' || value[n-1] == '\t'); n-- {
		value = value[:n-1]
	}
	return scenario.HeaderField{Name: name, Value: value[:len(value):len(value)]}, nil
}

// note records the fields on which the framing of the answer depends.
func (p *reply) note(f scenario.HeaderField) error {
	switch string(f.Name) {
	case "content-length":
		n, err := strconv.ParseUint(string(f.Value), 10, 62)
		if err != nil {
			return protocol("content-length %.40q", f.Value)
		}
		if p.length >= 0 {
			return protocol("content-length given twice")
		}
		p.length = int(n)
	case "transfer-encoding":
		if p.chunked || p.minor == 0 || !bytes.EqualFold(f.Value, []byte("chunked")) {
			return protocol("transfer-encoding %.40q", f.Value)
		}
		p.chunked = true
	case "connection":
		if hasToken(f.Value, "close") {
			p.keep = false
		} else if p.minor == 0 && hasToken(f.Value, "keep-alive") {
			p.keep = true
		}
	case "set-cookie":
		p.cookies = true
	case "content-encoding":
		switch {
		case bytes.EqualFold(f.Value, []byte("gzip")), bytes.EqualFold(f.Value, []byte("x-gzip")):
			if p.gzip {
				p.coding = f.Value
			}
			p.gzip = true
		case !bytes.EqualFold(f.Value, []byte("identity")):
			p.coding = f.Value
		}
	}
	return nil
}

// hasToken reports whether a comma-separated list has a token, ignoring case.
func hasToken(list []byte, token string) bool {
	for len(list) > 0 {
		item := list
		if i := bytes.IndexByte(list, ','); i >= 0 {
			item, list = list[:i], list[i+1:]
		} else {
			list = nil
		}
		if item = bytes.TrimSpace(item); len(item) == len(token) && bytes.EqualFold(item, []byte(token)) {
			return true
		}
	}
	return false
}

// headDone is called at the empty line. It rejects bytes that a header must not
// contain, skips interim answers and selects the framing of the body (RFC 9112, 6.3).
func (p *reply) headDone() error {
	head := p.buf[p.lineAt:p.pos]
	if bytes.IndexByte(head, 0) >= 0 || bytes.Count(head, []byte{'\r'}) != p.crlf {
		return protocol("header holds NUL or a lone CR")
	}
	if p.status < 200 {
		return p.skipInterim()
	}
	p.body, p.end = p.pos, p.pos
	switch {
	case p.chunked && p.length >= 0:
		return protocol("both transfer-encoding and content-length")
	case p.bodyless || p.status == 204 || p.status == 304:
		p.stage = atEnd
	case p.chunked:
		p.stage = inChunkSize
	case p.length > p.maxBody:
		return protocol("content-length %d is larger than the limit of %d", p.length, p.maxBody)
	case p.length >= 0:
		p.stage, p.left = inLength, p.length
	default:
		p.stage, p.keep = untilClose, false
	}
	return nil
}

// skipInterim discards a 1xx answer. 101 is an error: no request requires a switch.
func (p *reply) skipInterim() error {
	p.interim++
	if p.status == 101 {
		return protocol("status 101, but the request did not ask to switch protocols")
	}
	if p.interim > maxInterim {
		return protocol("more than %d interim answers", maxInterim)
	}
	p.fields, p.length, p.chunked, p.cookies = p.fields[:0], -1, false, false
	p.gzip, p.coding = false, nil
	p.stage = inStatus
	return nil
}
