package unwrap

import "bytes"

// syslogs are the forms of daemons of syslog.
var syslogs = []*kind{
	{name: "PostgreSQL's parts in syslog", certain: true, open: func() layer { return &partsLayer{} },
		found: func(sample [][]byte) bool {
			return most(func(line []byte) bool { _, _, ok := syslogText(line); return ok })(sample) &&
				most(func(line []byte) bool { text, _, _ := syslogText(line); _, part, _ := numbered(text); return part > 0 })(sample)
		}},
	{name: "syslog lines", open: func() layer { return &syslogLayer{} },
		found: most(func(line []byte) bool { _, _, ok := syslogText(line); return ok })},
}

// syslogText returns the text of a line of syslog and its time: of the old form (RFC
// 3164: <PRI>Nov 19 04:04:05 HOST TAG[PID]: TEXT), of rsyslog's default since 2024 and
// its high precision (the same with a time as in RFC 3339), and of the new form (RFC
// 5424: <PRI>1 TIME HOST APP PID ID DATA TEXT).
func syslogText(line []byte) (text, at []byte, ok bool) {
	rest := afterPriority(line)
	if newForm, isNew := bytes.CutPrefix(rest, []byte("1 ")); isNew && len(rest) < len(line) {
		return syslog5424(newForm)
	}
	n := oldTime(rest)
	if n == 0 {
		if n = isoTime(rest); n == 0 {
			return nil, nil, false
		}
	}
	at, rest = rest[:n], rest[n+1:]
	host := bytes.IndexByte(rest, ' ')
	if host <= 0 {
		return nil, nil, false
	}
	tag := rest[host+1:]
	end := 0
	for end < len(tag) && isTagByte(tag[end]) {
		end++
	}
	if end == 0 || end+1 >= len(tag) || end > 64 || tag[end] != ':' {
		return nil, nil, false
	}
	return bytes.TrimPrefix(tag[end+1:], []byte{' '}), at, true
}

func isTagByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || bytes.IndexByte([]byte("-_./[]()@"), c) >= 0
}

// afterPriority removes <PRI> from a line.
func afterPriority(line []byte) []byte {
	if len(line) < 4 || line[0] != '<' {
		return line
	}
	end := bytes.IndexByte(line[:min(len(line), 5)], '>')
	if end < 2 {
		return line
	}
	for _, c := range line[1:end] {
		if c < '0' || c > '9' {
			return line
		}
	}
	return line[end+1:]
}

// oldTime returns the length of a time such as "Nov 19 04:04:05" with a blank behind it,
// 0 if there is none.
func oldTime(b []byte) int {
	const months = "JanFebMarAprMayJunJulAugSepOctNovDec"
	if len(b) < 17 || b[3] != ' ' || b[6] != ' ' || b[9] != ':' || b[12] != ':' || b[15] != ' ' || bytes.Index([]byte(months), b[:3])%3 != 0 {
		return 0
	}
	for _, i := range [...]int{5, 7, 8, 10, 11, 13, 14} {
		if b[i] < '0' || b[i] > '9' {
			return 0
		}
	}
	return 15
}

// isoTime returns the length of a time as in RFC 3339 with a blank behind it, 0 if there
// is none.
func isoTime(b []byte) int {
	n := bytes.IndexByte(b[:min(len(b), 40)], ' ')
	if n < 19 || b[4] != '-' || b[7] != '-' || b[10] != 'T' || b[13] != ':' || b[16] != ':' {
		return 0
	}
	for i, c := range b[:n] {
		if (c < '0' || c > '9') && c != '-' && c != ':' && c != '.' && c != '+' && (c != 'T' && c != 'Z' || i < 10) {
			return 0
		}
	}
	return n
}

// syslog5424 reads what follows "<PRI>1 ".
func syslog5424(b []byte) (text, at []byte, ok bool) {
	for i := range 5 { // time, host, app, process id, message id
		end := bytes.IndexByte(b, ' ')
		if end <= 0 {
			return nil, nil, false
		}
		if i == 0 {
			at = b[:end]
		}
		b = b[end+1:]
	}
	if rest, none := bytes.CutPrefix(b, []byte{'-'}); none {
		b = rest
	} else {
		for len(b) > 0 && b[0] == '[' {
			end := dataEnd(b)
			if end < 0 {
				return nil, nil, false
			}
			b = b[end:]
		}
	}
	b = bytes.TrimPrefix(b, []byte{' '})
	return bytes.TrimPrefix(b, byteOrderMark), at, true
}

// dataEnd returns the index behind the structured data in brackets at the beginning.
func dataEnd(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '"':
			end := stringEnd(b, i)
			if end < 0 {
				return -1
			}
			i = end - 1
		case ']':
			return i + 1
		}
	}
	return -1
}

// syslogLayer removes the header of each line and restores control characters, which
// daemons write as # with three octal digits.
type syslogLayer struct{ at, buf []byte }

func (l *syslogLayer) strip(line []byte) ([]byte, verdict) {
	text, at, ok := syslogText(line)
	if !ok {
		return nil, foreign
	}
	l.at = append(l.at[:0], at...)
	return octal(text, &l.buf), whole
}

func (l *syslogLayer) time() []byte { return l.at }

// octal restores control characters such as #011, a tab.
func octal(text []byte, buf *[]byte) []byte {
	i := bytes.IndexByte(text, '#')
	if i < 0 {
		return text
	}
	out := (*buf)[:0]
	for ; i >= 0; i = bytes.IndexByte(text, '#') {
		out, text = append(out, text[:i]...), text[i:]
		if len(text) >= 4 && text[1] == '0' && text[2] >= '0' && text[2] <= '3' && text[3] >= '0' && text[3] <= '7' {
			out, text = append(out, (text[2]-'0')<<3|(text[3]-'0')), text[4:]
			continue
		}
		out, text = append(out, '#'), text[1:]
	}
	*buf = append(out, text...)
	return *buf
}

// numbered splits the number that PostgreSQL writes before each line in syslog: "[8-2] "
// is the second part of the eighth message. part is 0 if there is none.
func numbered(text []byte) (rest []byte, part int, ok bool) {
	if len(text) < 6 || text[0] != '[' {
		return text, 0, false
	}
	i := 1
	for i < len(text) && text[i] >= '0' && text[i] <= '9' {
		i++
	}
	if i == 1 || i >= len(text) || text[i] != '-' {
		return text, 0, false
	}
	for i++; i < len(text) && text[i] >= '0' && text[i] <= '9' && part < 1<<20; i++ {
		part = part*10 + int(text[i]-'0')
	}
	if part == 0 || i >= len(text) || text[i] != ']' {
		return text, 0, false
	}
	return bytes.TrimPrefix(text[i+1:], []byte{' '}), part, true
}

// partsLayer joins the lines of PostgreSQL's messages: the header and number before a
// further line are removed, and the line begins with a tab, as in PostgreSQL's own log.
// The first line keeps its header, which has the time and the process id.
type partsLayer struct{ buf, first []byte }

func (l *partsLayer) strip(line []byte) ([]byte, verdict) {
	text, _, ok := syslogText(line)
	if !ok {
		return nil, foreign
	}
	rest, part, ok := numbered(text)
	if !ok {
		return nil, foreign
	}
	rest = octal(rest, &l.buf)
	if part == 1 {
		l.first = append(append(l.first[:0], line[:len(line)-len(text)]...), rest...)
		return l.first, whole
	}
	if _, _, isDetail := bytes.Cut(rest[:min(len(rest), 400)], []byte(":  ")); !isDetail && (len(rest) == 0 || rest[0] != '\t') {
		l.first = append(append(l.first[:0], '\t'), rest...)
		return l.first, behind
	}
	return rest, behind
}
