package accesslog

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// jsonLines is one JSON object per line, nested or not. Values that are not
// counted are not validated: nginx writes "-" or nothing where a number is
// missing, and escapes that JSON does not have.
type jsonLines struct {
	labelled
	order []label
}

type jsonParser struct {
	order   []label
	clk     clock
	scratch [nFields][]byte // unescaped values, by field
	rec     *record
	why     reason
}

func (f *jsonLines) parser(needs fieldSet) parser {
	return &jsonParser{order: withoutUnused(f.order, needs)}
}

func (p *jsonParser) parse(line []byte, rec *record) reason {
	rec.clear()
	p.rec, p.why = rec, 0
	i := space(line, 0)
	if i == len(line) || line[i] != '{' {
		return badForm
	}
	if i = p.object(line, i+1, p.order); i < 0 {
		return max(p.why, badForm)
	}
	if space(line, i) != len(line) {
		return badForm
	}
	if rec.uri == nil && rec.status == 0 {
		return otherLine
	}
	return 0
}

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// object reads members from i, behind the opening brace, and returns the index
// behind the closing brace, or -1.
func (p *jsonParser) object(line []byte, i int, order []label) int {
	next := 0
	for first := true; ; first = false {
		if i < len(line) && line[i] == ' ' {
			i = space(line, i)
		}
		if i >= len(line) {
			return -1
		}
		if line[i] == '}' {
			return i + 1
		}
		if !first {
			if line[i] != ',' {
				return -1
			}
			if i++; i < len(line) && line[i] == ' ' {
				i = space(line, i)
			}
		}
		var l *label
		if next < len(order) && hasPrefix(line[min(i, len(line)):], order[next].text) {
			l = &order[next]
			next++
			i += len(l.text)
		} else if l, i = find(line, i, order, &next); i < 0 {
			return -1
		}
		if i = p.value(line, i, l); i < 0 {
			return -1
		}
	}
}

// find reads a key that is not at its expected position, and its colon.
func find(line []byte, i int, order []label, next *int) (*label, int) {
	if i >= len(line) || line[i] != '"' {
		return nil, -1
	}
	end := quoteEnd(line, i+1)
	if end < 0 {
		return nil, -1
	}
	key := line[i+1 : end]
	i = space(line, end+1)
	if i >= len(line) || line[i] != ':' {
		return nil, -1
	}
	for k := range order {
		if t := order[k].text; len(t) == len(key)+3 && t[1:len(t)-2] == string(key) {
			*next = k + 1
			return &order[k], i + 1
		}
	}
	return nil, i + 1
}

// quoteEnd returns the index of the closing quote of a string that began before
// i, or -1.
func quoteEnd(line []byte, i int) int {
	for from := i; ; {
		j := bytes.IndexByte(line[from:], '"')
		if j < 0 {
			return -1
		}
		if j += from; line[j-1] != '\\' || evenSlashes(line, i, j) {
			return j
		}
		from = j + 1
	}
}

// evenSlashes reports whether the backslashes before j pair up, so that the
// last one escapes nothing behind it.
func evenSlashes(line []byte, from, j int) bool {
	even := true
	for k := j - 1; k >= from && line[k] == '\\'; k-- {
		even = !even
	}
	return even
}

// value reads the value at i for a label (nil to skip it) and returns the index
// behind it.
func (p *jsonParser) value(line []byte, i int, l *label) int {
	if i < len(line) && line[i] == ' ' {
		i = space(line, i)
	}
	if i >= len(line) {
		return -1
	}
	switch line[i] {
	case '"':
		end := quoteEnd(line, i+1)
		if end < 0 {
			return -1
		}
		if l != nil && l.src.field != skipped && !p.set(l.src, line[i+1:end], true) {
			return -1
		}
		return end + 1
	case '{':
		if l != nil && len(l.sub) > 0 {
			return p.object(line, i+1, l.sub)
		}
		return skipNested(line, i)
	case '[':
		if l != nil && l.src.field != skipped && i+1 < len(line) && line[i+1] == '"' { // headers, as Caddy logs them
			if end := quoteEnd(line, i+2); end > 0 {
				p.set(l.src, line[i+2:end], true)
			}
		}
		return skipNested(line, i)
	}
	end := i
	for end < len(line) && line[end] != ',' && line[end] != '}' && line[end] != ']' && line[end] != ' ' {
		end++
	}
	if l != nil && l.src.field != skipped && !p.set(l.src, line[i:end], false) {
		return -1
	}
	return end
}

// set sets a field and resolves escapes where the value has any.
func (p *jsonParser) set(src source, v []byte, quoted bool) bool {
	if !quoted && string(v) == "null" {
		return true
	}
	if quoted && bytes.IndexByte(v, '\\') >= 0 {
		p.scratch[src.field] = unescape(p.scratch[src.field][:0], v)
		v = p.scratch[src.field]
	}
	if !p.rec.setValue(src, v, &p.clk) {
		p.why = badValue + reason(src.field)
		return false
	}
	return true
}

// skipNested returns the index behind the object or array that begins at i.
func skipNested(line []byte, i int) int {
	for depth := 0; i < len(line); i++ {
		switch line[i] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		case '"':
			if i = quoteEnd(line, i+1); i < 0 {
				return -1
			}
		}
	}
	return -1
}

// unescape appends v with JSON's escapes resolved. Unknown escapes (nginx's
// \x22) stay as they are.
func unescape(b, v []byte) []byte {
	for i := 0; i < len(v); i++ {
		if v[i] != '\\' || i+1 == len(v) {
			b = append(b, v[i])
			continue
		}
		i++
		switch c := v[i]; c {
		case '"', '\\', '/':
			b = append(b, c)
		case 'n', 'r', 't', 'b', 'f':
			b = append(b, ' ')
		case 'u':
			r, ok := hex4(v[i+1:])
			if !ok {
				b = append(b, '\\', 'u')
				continue
			}
			b = utf8.AppendRune(b, r)
			i += 4
		default:
			b = append(b, '\\', c)
		}
	}
	return b
}

func hex4(v []byte) (r rune, ok bool) {
	if len(v) < 4 {
		return 0, false
	}
	for _, c := range v[:4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// nest joins the keys of nested objects during format detection; no logger
// writes this byte in a key.
const nest = "\x1f"

// jsonPairs flattens a line for a closer look.
func jsonPairs(line []byte) (pairs [][2]string) {
	i := space(line, 0)
	if i == len(line) || line[i] != '{' {
		return nil
	}
	flatten(line, i+1, "", 0, func(key string, v []byte) {
		pairs = append(pairs, [2]string{key, string(v)})
	})
	return pairs
}

const maxDepth = 8

func flatten(line []byte, i int, prefix string, depth int, yield func(string, []byte)) int {
	for {
		if i = space(line, i); i >= len(line) {
			return -1
		}
		if line[i] == '}' {
			return i + 1
		}
		if line[i] == ',' {
			i = space(line, i+1)
		}
		if i >= len(line) || line[i] != '"' {
			return -1
		}
		end := quoteEnd(line, i+1)
		if end < 0 {
			return -1
		}
		key := prefix + string(line[i+1:end])
		if i = space(line, end+1); i >= len(line) || line[i] != ':' {
			return -1
		}
		if i = space(line, i+1); i >= len(line) {
			return -1
		}
		start := i
		switch {
		case line[i] == '{' && depth < maxDepth:
			i = flatten(line, i+1, key+nest, depth+1, yield)
		case line[i] == '{' || line[i] == '[':
			if i = skipNested(line, i); i > 0 && bytes.HasPrefix(line[start:], []byte(`["`)) {
				yield(key, nil)
			}
		case line[i] == '"':
			if i = quoteEnd(line, i+1); i > 0 {
				yield(key, line[start+1:i])
				i++
			}
		default:
			for i < len(line) && line[i] != ',' && line[i] != '}' && line[i] != ' ' {
				i++
			}
			yield(key, line[start:i])
		}
		if i < 0 {
			return -1
		}
	}
}

// detectJSON returns the format of JSON lines, or nil if fewer than half of the
// lines are JSON.
func detectJSON(sample [][]byte, overrides []override) *jsonLines {
	var all [][][2]string
	for _, line := range sample {
		if pairs := jsonPairs(line); len(pairs) > 0 {
			all = append(all, pairs)
		}
	}
	if len(all)*2 < len(sample) {
		return nil
	}
	all = requestsOf(all)
	seen := sampleKeys(all)
	return newJSON(seen, newLabelled("JSON", seen, len(all), overrides))
}

func newJSON(seen []keySample, l labelled) *jsonLines {
	f, fields := &jsonLines{labelled: l}, l.fields
	for _, s := range seen[:min(len(seen), 500)] {
		f.order = plant(f.order, strings.Split(s.key, nest), fields[s.key])
	}
	for key, src := range fields { // overrides that the sample lacks
		f.order = plant(f.order, strings.Split(key, nest), src)
		if parts := strings.Split(key, "."); len(parts) > 1 {
			f.order = plant(f.order, parts, src)
		}
	}
	return f
}

// plant adds a key to the tree of labels.
func plant(order []label, steps []string, src source) []label {
	text := `"` + steps[0] + `":`
	i := slices.IndexFunc(order, func(l label) bool { return l.text == text })
	if i < 0 {
		i = len(order)
		order = append(order, label{text: text})
	}
	if len(steps) > 1 {
		order[i].sub = plant(order[i].sub, steps[1:], src)
	} else if src.field != skipped {
		order[i].src = src
	}
	return order
}
