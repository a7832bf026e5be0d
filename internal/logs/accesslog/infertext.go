package accesslog

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A tok is one word of a line: bare, "quoted", [bracketed], or one of these
// after a name and "=".
type tok struct {
	lead  string // opening text: ``, `"`, `[`, `[Length `, `rt=`, `rt="`
	text  string
	close string // closing text
	glued bool   // no space stands before it
	list  bool   // a bare list whose items stand behind a comma and a space
	words int    // spaces in a bare text that is no list
}

// tokens splits a line at single spaces and keeps quotes, brackets and lists whole; it
// returns nil if they do not close.
func tokens(line string) (toks []tok) {
	glued := false
	for line != "" {
		t := tok{glued: glued}
		glued = false
		open := strings.IndexAny(line, ` "[`)
		if open > 0 && line[open] == '"' && line[open-1] == '=' {
			t.lead = line[:open]
			line = line[open:]
		}
		switch {
		case line[0] == '"':
			end := quoteEnd([]byte(line), 1)
			for end > 0 && end+1 < len(line) && line[end+1] != ' ' && !isGlued(line[end+1:]) { // a bare quote inside
				next := quoteEnd([]byte(line), end+1)
				if next < 0 {
					break
				}
				end = next
			}
			if end < 0 {
				return nil
			}
			t.lead, t.text, t.close, line = t.lead+`"`, line[1:end], `"`, line[end+1:]
			glued = line != "" && line[0] != ' '
		case line[0] == '[' && !isIPv6(line):
			end := strings.IndexByte(line, ']')
			if end < 0 {
				return nil
			}
			t.lead, t.text, t.close, line = "[", line[1:end], "]", line[end+1:]
			if name, v, ok := strings.Cut(t.text, " "); ok && isWord(name) && !strings.Contains(v, " ") {
				t.lead, t.text = "["+name+" ", v
			}
		default:
			end := strings.IndexByte(line, ' ')
			if end < 0 {
				end = len(line)
			}
			t.text, line = line[:end], line[end:]
			if name, v, ok := strings.Cut(t.text, "="); ok && t.lead == "" && isWord(name) {
				t.lead, t.text = name+"=", v
			}
			for strings.HasSuffix(t.text, ",") && len(line) > 1 && line[1] != ' ' {
				end := strings.IndexByte(line[1:], ' ') + 1
				if end < 1 {
					end = len(line)
				}
				t.text, line, t.list = t.text+line[:end], line[end:], true
			}
		}
		toks = append(toks, t)
		if line != "" && !glued {
			if line[0] != ' ' {
				return nil
			}
			line = line[1:]
		}
	}
	return toks
}

// isGlued reports whether a number follows a quote without a space, up to the next space.
func isGlued(rest string) bool {
	word, _, _ := strings.Cut(rest, " ")
	return word != "" && isTime(word) && word != "-"
}

// isIPv6 reports whether a bracket at the beginning is that of an address with a port.
func isIPv6(line string) bool {
	end := strings.IndexByte(line, ']')
	return end > 2 && end+1 < len(line) && line[end+1] == ':' && strings.Trim(line[1:end], "0123456789abcdefABCDEF:.") == ""
}

// isWord reports whether s has only letters, dashes and underscores, as field
// names do.
func isWord(s string) bool {
	return s != "" && maskOf([]byte(s))&^(cLetter|cJoin) == 0
}

// form is the structure that lines of one format share.
func form(toks []tok) string {
	var b strings.Builder
	for _, t := range toks {
		b.WriteString(t.lead)
		b.WriteByte(0)
		if t.glued {
			b.WriteByte(1)
		}
	}
	return b.String()
}

// inferText returns the layout of lines of the common log format's family, with
// any fields behind it, or nil.
func inferText(sample [][]byte) *layout {
	byForm := map[string][][]tok{}
	for _, line := range sample {
		toks := tokens(string(line))
		byForm[form(toks)] = append(byForm[form(toks)], toks)
	}
	forms := slices.SortedFunc(maps.Keys(byForm), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(byForm[b]), len(byForm[a])), strings.Compare(a, b))
	})
	for _, f := range forms {
		lines := byForm[f]
		if len(lines)*2 < len(sample) {
			return nil
		}
		in := inference{lines: lines, fields: make([]piece, len(lines[0]))}
		if l := in.layout(); l != nil {
			return l
		}
	}
	return nil
}

// An inference examines the lines of one form, column by column.
type inference struct {
	loose    bool // for a proposal: neither a time nor a status is needed
	lines    [][]tok
	fields   []piece
	inferred []string
	title    string
	extra    int   // columns that are not counted
	unclear  []int // columns that are times of an unknown unit
}

// share is the share of lines whose column passes a test.
func (in *inference) share(col int, test func(s string) bool) float64 {
	n := 0
	for _, l := range in.lines {
		if test(l[col].text) {
			n++
		}
	}
	return float64(n) / float64(len(in.lines))
}

func isStamp(s string) bool {
	var c clock
	_, ok := c.any([]byte(s))
	return ok
}

func isRequest(s string) bool {
	var r record
	r.setRequest([]byte(s))
	return r.uri != nil && (r.method != 0 || r.hasOtherVerb())
}

func isStatus(s string) bool { return len(s) == 3 && s[0] >= '0' && s[0] <= '9' && isWhole(s) }

func isWhole(s string) bool {
	_, end := digits([]byte(s), 0)
	return end > 0 && end == len(s)
}

func isWholeOrNone(s string) bool { return s == "-" || isWhole(s) }

// isDecimal accepts times only: nginx writes three places behind the point, H2O
// six, Rack four. Two places are a $gzip_ratio.
func isDecimal(s string) bool {
	i := strings.IndexByte(s, '.')
	return i > 0 && len(s)-i > 3 && isTime(s)
}

func isTime(s string) bool {
	_, ok := timeValue([]byte(s), 1e9)
	return ok && s != "" && maskOf([]byte(s))&(cLetter) == 0
}

// isDuration accepts a time with its unit, as Traefik writes it: 155ms.
func isDuration(s string) bool {
	_, ok := durationValue([]byte(s))
	return ok && s != "" && s != "-" && s[len(s)-1] == 's'
}

// layout identifies the columns; nil if the log is not of this family.
func (in *inference) layout() *layout {
	n := len(in.fields)
	first := in.lines[0]
	col := 0
	for ; col < n && !(first[col].lead == "[" || in.share(col, isStamp) > 0.9); col++ {
	}
	if col == n || in.share(col, isStamp) < 0.9 {
		return nil
	}
	in.fields[col] = piece{field: stamp}
	in.before(col)
	after := col
	for col++; col < n && in.share(col, isRequest) < 0.5; col++ {
	}
	if col >= n || first[col].lead != `"` {
		return nil
	}
	in.fields[col] = piece{field: request}
	if col++; col >= n || in.share(col, isStatus) < 0.9 {
		return nil
	}
	in.fields[col] = piece{field: status}
	in.title = "common"
	if col++; col < n && first[col].lead == "" && in.share(col, isWholeOrNone) > 0.9 {
		in.fields[col] = piece{field: size}
		col++
	}
	if col+1 < n && first[col].lead == `"` && first[col+1].lead == `"` && in.share(col, isDecimal) < 0.3 {
		in.title = "combined"
		in.fields[col], in.fields[col+1] = piece{field: referer}, piece{field: agent}
		col += 2
	}
	in.trailing(after+1, col)
	return in.build()
}

// before identifies the columns before the time: host, address, identity, user.
func (in *inference) before(col int) {
	if col >= 3 {
		in.fields[col-1] = piece{field: user}
		in.fields[col-3] = piece{field: address}
	}
	if col >= 4 && in.share(0, func(s string) bool { return strings.Trim(s, "0123456789.:abcdef") == "" }) < 0.5 {
		in.fields[0] = piece{field: host}
	}
}

// timeNames are names that loggers write before a value, as in rt=0.003.
var timeNames = map[string]piece{
	"rt": {field: took, unit: 1e9}, "request_time": {field: took, unit: 1e9}, "reqtime": {field: took, unit: 1e9},
	"time": {field: took, unit: 1e9}, "urt": {field: upstream, unit: 1e9}, "upstream_response_time": {field: upstream, unit: 1e9},
	"upstream_time": {field: upstream, unit: 1e9}, "request_length": {field: reqSize}, "rl": {field: reqSize}, "host": {field: host},
	"request_time_ms": {field: took, unit: 1e6}, "duration_ms": {field: took, unit: 1e6}, "D": {field: took, unit: 1e3},
}

// namedField is the field of a name before a value: one of timeNames, or a key of labelled logs
// for a time whose unit the key defines, as reqtime_microsec does.
func namedField(name string) piece {
	if p, ok := timeNames[name]; ok {
		return p
	}
	for _, f := range []field{upstream, took} {
		for _, s := range synonyms[f] {
			if s.key == strings.ToLower(name) && s.unit > 0 {
				return piece{field: f, unit: s.unit}
			}
		}
	}
	return piece{}
}

// trailing finds the times in the columns from the given one on, and in those between the
// time stamp and the request; early is the first of these.
func (in *inference) trailing(early, from int) {
	var decimals, wholes []int
	named := false
	for col := early; col < len(in.fields); col++ {
		if in.fields[col].field != skipped || col < from && in.share(col, isDecimal) < 0.9 {
			if in.fields[col].field == skipped && col < from {
				in.extra++
			}
			continue
		}
		lead := strings.TrimSuffix(in.lines[0][col].lead, `"`)
		if name, ok := strings.CutSuffix(lead, "="); ok {
			in.fields[col] = namedField(name)
			named = named || in.fields[col].field == took
		} else if in.share(col, isDuration) > 0.98 {
			in.fields[col] = piece{field: duration}
			named = true
		} else if in.share(col, isTime) > 0.98 && in.share(col, isDecimal) > 0.3 {
			decimals = append(decimals, col)
		} else if in.share(col, isWhole) > 0.98 {
			wholes = append(wholes, col)
		}
		if in.fields[col].field == skipped {
			in.extra++
		}
	}
	switch {
	case named:
	case len(decimals) > 0:
		in.decimalTimes(decimals)
	case len(wholes) == 1:
		in.wholeTime(wholes[0])
	case len(wholes) > 1:
		in.inferred = append(in.inferred, fmt.Sprintf("%d fields are whole numbers, and it is unclear which is a time: --log-format defines it", len(wholes)))
	}
}

// decimalTimes chooses between two columns of times: the request's time is
// never exceeded by the upstream's, and no line lacks it.
func (in *inference) decimalTimes(cols []int) {
	t, u := cols[0], -1
	if len(cols) > 1 {
		u = cols[1]
		if in.exceeds(u, t) > in.exceeds(t, u) {
			t, u = u, t
		}
	}
	in.fields[t] = piece{field: took, unit: 1e9}
	in.extra--
	in.inferred = append(in.inferred, fmt.Sprintf("field %d is read as the time, in seconds: it has a decimal point", t+1))
	if u >= 0 {
		in.fields[u] = piece{field: upstream, unit: 1e9}
		in.extra--
		in.inferred = append(in.inferred, fmt.Sprintf("field %d is read as the upstream's time: it does not exceed the other", u+1))
	}
}

// exceeds is the share of lines in which time a is clearly above time b, or b
// is missing.
func (in *inference) exceeds(a, b int) float64 {
	n := 0
	for _, l := range in.lines {
		x, _ := timeValue([]byte(l[a].text), 1e9)
		y, _ := timeValue([]byte(l[b].text), 1e9)
		if x > y+1e6 || y < 0 && x >= 0 {
			n++
		}
	}
	return float64(n) / float64(len(in.lines))
}

// wholeTime reads one column of whole numbers. Apache's and Varnish's %D counts
// µs. Small numbers are ambiguous, and a few hundred that hardly vary are
// request lengths.
func (in *inference) wholeTime(col int) {
	var all []int64
	for _, l := range in.lines {
		n, _ := digits([]byte(l[col].text), 0)
		all = append(all, n)
	}
	slices.Sort(all)
	n := len(all)
	low, median, high := all[n*5/100], all[n/2], all[n*95/100]
	wide := high >= 10*max(low, 1)
	unit, name := int64(1e3), "in µs as %D"
	switch {
	case wide && n >= minTimes && low < 20 && high >= 200: // no request takes less than 20 µs
		unit, name = 1e6, "in ms as Tomcat's %D"
	case median < 100 || median < 2000 && !wide || high < fastest:
		in.unclear = append(in.unclear, col)
		return
	}
	in.fields[col] = piece{field: took, unit: unit}
	in.extra--
	in.inferred = append(in.inferred, fmt.Sprintf("field %d is read as the time, %s: it is a whole number", col+1, name))
}

// fastest is the 95th percentile, in µs, below which whole numbers may as well be ms:
// requests of some hundred µs are as usual as requests of some hundred ms.
const fastest = 5000

// minTimes is how many values a unit is inferred from.
const minTimes = 20

// build joins the columns into a layout.
func (in *inference) build() *layout {
	l := &layout{inferred: in.inferred}
	before := ""
	for i, t := range in.lines[0][:len(in.fields)] {
		text := before + t.lead
		if i == 0 {
			l.lead = text
		} else {
			l.pieces[i-1].stop = text
		}
		p := in.fields[i]
		p.quoted = t.close == `"`
		p.name = fmt.Sprintf("field %d", i+1)
		if p.field != skipped {
			p.name += fmt.Sprintf(" (the %v)", p.field)
		}
		l.pieces = append(l.pieces, p)
		before = t.close + " "
		if i+1 < len(in.fields) && in.lines[0][i+1].glued {
			before = t.close
		}
		p.list = in.lists(i)
		l.pieces[i] = p
	}
	last := &l.pieces[len(l.pieces)-1]
	last.stop, last.last = strings.TrimSuffix(before, " "), true
	l.title = in.title
	for _, f := range []field{took, upstream} {
		if l.has(f) {
			l.title += map[field]string{took: " + time", upstream: " + upstream time"}[f]
		}
	}
	if in.extra > 0 {
		l.title += fmt.Sprintf(" + %d more", in.extra)
	}
	in.explainUnclear(l)
	return l
}

// lists reports whether a column has a list in a line.
func (in *inference) lists(col int) bool {
	return slices.ContainsFunc(in.lines, func(l []tok) bool { return l[col].list })
}

// w3cFields are the columns of W3C extended logs (IIS, CloudFront).
var w3cFields = map[string]piece{
	"cs-method": {field: verb}, "cs-uri-stem": {field: path}, "cs-uri-query": {field: query}, "sc-status": {field: status},
	"sc-bytes": {field: size}, "cs-bytes": {field: reqSize}, "cs-host": {field: host}, "x-host-header": {field: host},
	"cs(user-agent)": {field: agent}, "cs(referer)": {field: referer}, "cs-username": {field: user}, "cs-uri": {field: uri},
}

// detectW3C reads the headers of a W3C extended log; nil if there is none. A server that
// was configured anew writes another header.
func detectW3C(sample [][]byte) format {
	var all []format
	for i, line := range sample {
		if !bytes.HasPrefix(line, []byte("#Fields:")) {
			continue
		}
		rows := sample[i+1:]
		if end := slices.IndexFunc(rows, func(l []byte) bool { return bytes.HasPrefix(l, []byte("#Fields:")) }); end >= 0 {
			rows = rows[:end]
		}
		l := w3cLayout(line, rows)
		if l != nil && len(all) < maxFormats && !slices.ContainsFunc(all, func(f format) bool { return samePieces(f.(*layout), l) }) {
			all = append(all, l)
		}
	}
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return &changing{all}
}

func samePieces(a, b *layout) bool { return slices.Equal(a.pieces, b.pieces) }

// w3cLayout reads one header of a W3C extended log and the first rows below it.
func w3cLayout(header []byte, rows [][]byte) *layout {
	sep, stampWidth := " ", len("2026-11-19 04:04:05")
	for _, l := range rows {
		if l[0] == '#' {
			continue
		}
		if bytes.IndexByte(l, '\t') > 0 {
			sep = "\t"
		}
		if len(l) > 23 && l[19] == '.' { // IIS can write milliseconds
			stampWidth = len("2026-11-19 04:04:05.123")
		}
	}
	var b builder
	names := strings.Fields(strings.ToLower(strings.TrimPrefix(string(header), "#Fields:")))
	for k := 0; k < len(names); k++ {
		p := w3cFields[names[k]]
		switch {
		case names[k] == "date" && k+1 < len(names) && names[k+1] == "time":
			p = piece{field: stamp, width: stampWidth}
			k++
		case names[k] == "time-taken" && sep == "\t": // CloudFront writes seconds
			p = piece{field: took, unit: 1e9}
		case names[k] == "time-taken": // IIS writes ms
			p = piece{field: took, unit: 1e6}
		}
		if len(b.lay.pieces) > 0 {
			b.literal(sep)
		}
		if b.field(p, names[k]) != nil {
			return nil
		}
	}
	l, err := b.done("W3C extended")
	if err != nil {
		return nil
	}
	l.comment = '#'
	return l
}
