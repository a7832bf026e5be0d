package accesslog

import (
	"fmt"
	"slices"
	"strings"
)

// inferColumns returns the layout of lines whose columns are in any order: the time and
// the request, or its method and path, are recognised by their values in all lines. It
// is for logs that [inferText] does not know; nil if there is no path, or neither a time
// nor a status.
func inferColumns(sample [][]byte) *layout { return inferColumnsOf(inference{title: "text"}, sample) }

func inferColumnsOf(in inference, sample [][]byte) *layout {
	width := 0
	for _, line := range sample {
		if line[len(line)-1] == '}' { // an object stands in it
			return nil
		}
		toks := joinTimes(tokens(string(line)))
		if len(toks) == 0 {
			continue
		}
		if width == 0 || len(toks) < width {
			width = len(toks)
		}
		in.lines = append(in.lines, toks)
	}
	if len(in.lines)*10 < len(sample)*9 {
		return nil
	}
	in.fields = make([]piece, in.steady(width))
	if !in.columns() {
		return nil
	}
	l := in.build()
	if in.varies() { // what follows the last steady column differs from line to line
		last := &l.pieces[len(l.pieces)-1]
		last.last, last.stop = false, " "
		l.pieces = append(l.pieces, piece{last: true, name: "the rest"})
	}
	l.inferred = append(l.inferred, "the columns were recognised by their values: --log-format '"+apacheText(l)+"' gives the same")
	return l
}

// joinTimes makes one word of a date and the time of day behind it.
func joinTimes(toks []tok) []tok {
	for i := 0; i+1 < len(toks); i++ {
		a, b := toks[i], toks[i+1]
		if a.lead+a.close+b.lead+b.close == "" && len(a.text) == 10 && len(b.text) >= 8 && strings.Count(b.text, ":") == 2 && isStamp(a.text+" "+b.text) {
			joined := tok{text: a.text + " " + b.text, words: 1}
			return slices.Concat(toks[:i], []tok{joined}, toks[i+2:])
		}
	}
	return toks
}

// steady is the number of the first columns that have the same form in nearly all lines,
// at most width. Lines of another form are left out.
func (in *inference) steady(width int) int {
	for col := range width {
		first := in.lines[0][col]
		same := 0
		for _, l := range in.lines {
			if l[col].lead == first.lead && l[col].glued == first.glued && l[col].words == first.words {
				same++
			}
		}
		if same < len(in.lines) {
			return col
		}
	}
	return width
}

// varies reports whether lines go on behind the steady columns.
func (in *inference) varies() bool {
	return slices.ContainsFunc(in.lines, func(l []tok) bool { return len(l) > len(in.fields) })
}

// columns identifies the columns and reports whether they are those of requests.
func (in *inference) columns() bool {
	all := func(test func(string) bool) int {
		for col := range in.fields {
			if in.fields[col].field == skipped && in.share(col, test) > 0.98 {
				return col
			}
		}
		return -1
	}
	set := func(col int, f field) bool {
		if col >= 0 {
			in.fields[col] = piece{field: f}
		}
		return col >= 0
	}
	timed := set(all(isStamp), stamp)
	if timed {
		in.fixedTime()
	}
	if !set(all(isRequest), request) {
		if !set(all(isPath), uri) {
			return false
		}
		set(all(isMethod), verb)
	}
	states := in.statuses()
	if len(states) > 0 {
		set(states[len(states)-1], status)
	}
	if !timed && len(states) == 0 && !in.loose {
		return false
	}
	set(all(isAddress), address)
	in.named()
	in.numbers(len(states) > 0)
	if in.loose && !timed && len(states) == 0 && !in.has(verb) && !in.has(took) && !in.has(duration) && !in.has(address) {
		return false
	}
	for col := range in.fields {
		if in.fields[col].field == skipped {
			in.extra++
		}
	}
	return true
}

// fixedTime gives the column of the time its width if it has two words.
func (in *inference) fixedTime() {
	for col := range in.fields {
		if t := in.lines[0][col]; in.fields[col].field == stamp && t.words > 0 {
			in.fields[col].width = len(t.text)
		}
	}
}

func isMethod(s string) bool {
	var r record
	r.setMethod([]byte(s))
	return r.method != 0
}

// isAddress reports whether a word is an IP address, perhaps with a port.
func isAddress(s string) bool {
	return strings.Count(s, ".") == 3 && strings.Trim(s, "0123456789.:") == "" || strings.Count(s, ":") > 1 && strings.Trim(s, "0123456789abcdefABCDEF:[]") == ""
}

// statuses are the columns whose numbers are statuses: the first one, and those side by
// side with it that mostly have the same numbers, as the status of an upstream and that of
// the answer have. The last one is that of the answer.
func (in *inference) statuses() (cols []int) {
	for col := range in.fields {
		if in.fields[col].field != skipped || in.share(col, func(s string) bool { return isStatus(s) && s[0] >= '1' && s[0] <= '5' }) < 0.98 {
			continue
		}
		if n := len(cols); n > 0 && (cols[n-1] != col-1 || in.equal(cols[0], col) < 0.9) {
			break
		}
		cols = append(cols, col)
	}
	return cols
}

// equal is the share of lines that have the same text in two columns.
func (in *inference) equal(a, b int) float64 {
	n := 0
	for _, l := range in.lines {
		if l[a].text == l[b].text {
			n++
		}
	}
	return float64(n) / float64(len(in.lines))
}

// columnNames are words that stand before a value, as in "request_time 0.028" or
// "[Length 1941]".
var columnNames = map[string]piece{
	"length": {field: size}, "bytes": {field: size}, "size": {field: size}, "client": {field: address}, "body_bytes_sent": {field: size},
	"msec": {},
}

// named finds values behind their names: a word that is the same in all lines, or the
// first word in brackets.
func (in *inference) named() {
	taken := func(f field) bool {
		return slices.ContainsFunc(in.fields, func(p piece) bool { return p.field == f })
	}
	for col := range in.fields {
		if in.fields[col].field != skipped {
			continue
		}
		name := strings.TrimSuffix(strings.TrimLeft(in.lines[0][col].lead, `["`), " ")
		if name = strings.TrimSuffix(name, "="); name == "" && col > 0 && in.constant(col-1) {
			name = in.lines[0][col-1].text
		}
		p, ok := timeNames[name]
		if !ok {
			p = columnNames[strings.ToLower(name)]
		}
		if p.field == skipped || taken(p.field) {
			continue
		}
		in.fields[col] = p
	}
}

// constant reports whether a column has the same word in all lines.
func (in *inference) constant(col int) bool {
	word := in.lines[0][col].text
	return isWord(word) && isLetter(word[0]) && in.share(col, func(s string) bool { return s == word }) == 1
}

// numbers finds the times and the size among the columns without a name.
func (in *inference) numbers(hasStatus bool) {
	var decimals, wholes []int
	named := in.has(took)
	for col := range in.fields {
		switch {
		case in.fields[col].field != skipped || col > 0 && in.constant(col-1):
		case !named && in.share(col, isDuration) > 0.98:
			in.fields[col], named = piece{field: duration}, true
		case in.share(col, isTime) > 0.98 && in.share(col, isDecimal) > 0.3:
			decimals = append(decimals, col)
		case in.share(col, isWhole) > 0.98:
			wholes = append(wholes, col)
		}
	}
	switch {
	case named:
	case len(decimals) > 0:
		in.decimalTimes(decimals)
	case len(wholes) == 1 && !hasStatus:
		in.wholeTime(wholes[0])
	}
	if in.has(took) && len(wholes) > 0 && !in.has(size) && in.fields[wholes[0]].field == skipped && hasStatus {
		in.fields[wholes[0]] = piece{field: size}
	}
}

func (in *inference) has(f field) bool {
	return slices.ContainsFunc(in.fields, func(p piece) bool { return p.field == f })
}

// apacheDirectives are the directives of Apache's LogFormat for the fields of a layout.
var apacheDirectives = map[field]string{
	request: "%r", verb: "%m", uri: "%U", path: "%U", query: "%q", status: "%>s", size: "%b", reqSize: "%I", host: "%v", user: "%u",
	address: "%h", agent: "%{User-Agent}i", referer: "%{Referer}i", stamp: "%{sec}t", upstream: "%{proxy.response-time}x", skipped: "%{-}n",
	duration: "%{s}T",
}

// apacheText is a layout as a format string that --log-format takes.
func apacheText(l *layout) string {
	var b strings.Builder
	b.WriteString(l.lead)
	for i := range l.pieces {
		p := &l.pieces[i]
		d := apacheDirectives[p.field]
		if p.field == took {
			d = map[int64]string{1e3: "%D", 1e6: "%{ms}T", 1e9: "%{s}T"}[p.unit]
		}
		if p.field == stamp && p.width == stampWidth {
			d = "%{%Y-%m-%d %H:%M:%S}t"
		}
		b.WriteString(d + p.stop)
	}
	return strings.ReplaceAll(b.String(), "[%{sec}t]", "%t")
}

// explainUnclear adds the notes on times of unclear unit, with the formats to choose
// from.
func (in *inference) explainUnclear(l *layout) {
	for _, col := range in.unclear {
		texts := make([]string, 2)
		for i, unit := range []int64{1e3, 1e6} {
			with := *l
			with.pieces = slices.Clone(l.pieces)
			with.pieces[col].field, with.pieces[col].unit = took, unit
			texts[i] = apacheText(&with)
		}
		l.inferred = append(l.inferred, fmt.Sprintf("field %d is a whole number, perhaps a time in µs or in ms: --log-format '%s' for µs, '%s' for ms", col+1, texts[0], texts[1]))
	}
}
