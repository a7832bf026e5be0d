package unwrap

import "bytes"

// cosmetics are what editors, terminals and tools of rotation add to a log.
var cosmetics = []*kind{
	{name: "a byte order mark", cosmetic: true, certain: true, open: func() layer { return &markLayer{} },
		found: func(sample [][]byte) bool { return bytes.HasPrefix(sample[0], byteOrderMark) }},
	{name: "NUL bytes", cosmetic: true, certain: true, open: func() layer { return nulLayer{} },
		found: one(func(line []byte) bool { return line[0] == 0 })},
	{name: "headers of tail -f", cosmetic: true, certain: true, open: func() layer { return tailLayer{} },
		found: one(isTailHeader)},
	{name: "colours", cosmetic: true, certain: true, open: func() layer { return &colourLayer{} },
		found: isColoured},
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// markLayer removes the byte order mark of a log.
type markLayer struct{ gone bool }

func (l *markLayer) strip(line []byte) ([]byte, verdict) {
	if l.gone {
		return nil, foreign
	}
	l.gone = true
	return bytes.TrimPrefix(line, byteOrderMark), whole
}

// nulLayer removes NUL bytes before a line: a log that copytruncate emptied while a
// program went on writing at its old place begins with them.
type nulLayer struct{}

func (nulLayer) strip(line []byte) ([]byte, verdict) {
	if len(line) == 0 || line[0] != 0 {
		return nil, foreign
	}
	if line = bytes.TrimLeft(line, "\x00"); len(line) == 0 {
		return nil, nothing
	}
	return line, whole
}

// tailLayer removes the headers that tail -f writes when it follows several files.
type tailLayer struct{}

func isTailHeader(line []byte) bool {
	return len(line) > 8 && bytes.HasPrefix(line, []byte("==> ")) && bytes.HasSuffix(line, []byte(" <=="))
}

func (tailLayer) strip(line []byte) ([]byte, verdict) {
	if isTailHeader(line) {
		return nil, nothing
	}
	return nil, foreign
}

const escape = 0x1b

// colourEnd returns the index behind the sequence of a terminal that begins at b[i],
// ESC [ digits and semicolons, a letter; -1 if there is none.
func colourEnd(b []byte, i int) int {
	if i < 0 || i+2 >= len(b) || b[i] != escape || b[i+1] != '[' {
		return -1
	}
	for j := i + 2; j < len(b); j++ {
		switch c := b[j]; {
		case c >= '0' && c <= '9' || c == ';':
		case c == 'm' || c == 'K':
			return j + 1
		default:
			return -1
		}
	}
	return -1
}

// isColoured reports whether a third of the lines have a colour. A single one may be part
// of what a client sent.
func isColoured(sample [][]byte) bool {
	n := 0
	for _, line := range sample {
		if colourEnd(line, bytes.IndexByte(line, escape)) > 0 {
			n++
		}
	}
	return n > 0 && 3*n >= len(sample)
}

// colourLayer removes the sequences that colour text.
type colourLayer struct{ buf []byte }

func (l *colourLayer) strip(line []byte) ([]byte, verdict) {
	i := bytes.IndexByte(line, escape)
	if i < 0 {
		return nil, foreign
	}
	out := l.buf[:0]
	for {
		if end := colourEnd(line, i); end > 0 {
			out, line = append(out, line[:i]...), line[end:]
		} else {
			out, line = append(out, line[:i+1]...), line[i+1:]
		}
		if i = bytes.IndexByte(line, escape); i < 0 {
			l.buf = append(out, line...)
			return l.buf, whole
		}
	}
}
