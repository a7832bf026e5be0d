package accesslog

import (
	"bytes"
	"slices"
	"strings"
)

// logfmt is key=value pairs with spaces between them; values may be quoted.
// Words before the first pair (a level, a time) are allowed: lograge and other
// libraries write behind the prefix of a logger.
type logfmt struct {
	labelled
	order []label
}

type logfmtParser struct {
	order   []label
	clk     clock
	scratch [nFields][]byte // unescaped values, by field
}

func (f *logfmt) parser(needs fieldSet) parser {
	return &logfmtParser{order: withoutUnused(f.order, needs)}
}

func (p *logfmtParser) parse(line []byte, rec *record) reason {
	rec.clear()
	next, pairs := 0, 0
	for i := space(line, 0); i < len(line); i = space(line, i) {
		key, value, end, quoted := logfmtPair(line, i)
		if end < 0 {
			return badForm
		}
		i = end
		if key == nil {
			if pairs == 0 && rec.at == noTime {
				p.prefixTime(value, rec)
			}
			continue
		}
		pairs++
		l := p.find(key, &next)
		if l == nil || l.src.field == skipped {
			continue
		}
		if quoted && bytes.IndexByte(value, '\\') >= 0 {
			p.scratch[l.src.field] = unescape(p.scratch[l.src.field][:0], value)
			value = p.scratch[l.src.field]
		}
		if !rec.setValue(l.src, value, &p.clk) {
			return badValue + reason(l.src.field)
		}
	}
	switch {
	case pairs == 0:
		return badForm
	case rec.uri == nil && rec.status == 0:
		return otherLine
	}
	return 0
}

// prefixTime reads a time before the first pair: "2026-…" or "[2026-… #1]".
func (p *logfmtParser) prefixTime(w []byte, rec *record) {
	w = bytes.Trim(w, "[]")
	if len(w) >= 19 {
		if at, ok := p.clk.any(w); ok {
			rec.at = at
		}
	}
}

// find returns the label of a key, the one behind the last first.
func (p *logfmtParser) find(key []byte, next *int) *label {
	for k := range p.order {
		i := (*next + k) % len(p.order)
		if p.order[i].text == string(key) {
			*next = i + 1
			return &p.order[i]
		}
	}
	return nil
}

// logfmtPair reads key=value at line[i:] and returns the index behind it; a
// word without "=" has a nil key. end is -1 for a quote that is not closed.
func logfmtPair(line []byte, i int) (key, value []byte, end int, quoted bool) {
	start := i
	for i < len(line) && line[i] != ' ' && line[i] != '=' && line[i] != '"' {
		i++
	}
	if i >= len(line) || line[i] != '=' || i == start {
		if i < len(line) && line[i] == '"' {
			if end = quoteEnd(line, i+1); end < 0 {
				return nil, nil, -1, false
			}
			return nil, line[start : end+1], end + 1, true
		}
		for i < len(line) && line[i] != ' ' {
			i++
		}
		return nil, line[start:i], i, false
	}
	key = line[start:i]
	if i++; i < len(line) && line[i] == '"' {
		if end = quoteEnd(line, i+1); end < 0 {
			return nil, nil, -1, false
		}
		return key, line[i+1 : end], end + 1, true
	}
	start = i
	for i < len(line) && line[i] != ' ' {
		i++
	}
	return key, line[start:i], i, false
}

// logfmtPairs splits a line into keys and values.
func logfmtPairs(line []byte) (pairs [][2]string) {
	for i := space(line, 0); i < len(line); i = space(line, i) {
		key, value, end, _ := logfmtPair(line, i)
		if end < 0 {
			return nil
		}
		if i = end; key != nil && isKey(key) {
			pairs = append(pairs, [2]string{string(key), string(value)})
		}
	}
	return pairs
}

// isKey reports whether a text is a key of logfmt.
func isKey(b []byte) bool {
	for _, c := range b {
		if classOf[c]&(cLetter|cDigit|cJoin|cDot) == 0 && c != '@' && c != '/' {
			return false
		}
	}
	return true
}

// detectLogfmt returns the format of logfmt lines, or nil if fewer than half of
// the lines have three pairs.
func detectLogfmt(sample [][]byte, overrides []override) *logfmt {
	var all [][][2]string
	for _, line := range sample {
		if pairs := logfmtPairs(line); len(pairs) >= 3 {
			all = append(all, pairs)
		}
	}
	if len(all)*2 < len(sample) {
		return nil
	}
	all = requestsOf(all)
	seen := sampleKeys(all)
	f := &logfmt{labelled: newLabelled("logfmt", seen, len(all), overrides)}
	for _, s := range seen[:min(len(seen), 200)] {
		f.order = append(f.order, label{text: s.key, src: f.fields[s.key]})
	}
	for _, key := range sortedFieldKeys(f.fields) { // overrides that the sample lacks
		if !slices.ContainsFunc(f.order, func(l label) bool { return l.text == key }) {
			f.order = append(f.order, label{text: key, src: f.fields[key]})
		}
	}
	return f
}

// requestsOf returns the lines that have at least two of method, status and
// path: a program writes other messages in the same form. If no line has them,
// it returns all lines.
func requestsOf(all [][][2]string) (some [][][2]string) {
	for _, pairs := range all {
		n := 0
		for _, f := range []field{verb, status, uri} {
			if slices.ContainsFunc(pairs, func(kv [2]string) bool {
				key := strings.ToLower(dotted(kv[0]))
				return slices.ContainsFunc(synonyms[f], func(s synonym) bool { return s.key == key })
			}) {
				n++
			}
		}
		if n >= 2 {
			some = append(some, pairs)
		}
	}
	if len(some) == 0 {
		return all
	}
	return some
}

func sortedFieldKeys(fields map[string]source) (keys []string) {
	for k := range fields {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, strings.Compare)
	return keys
}
