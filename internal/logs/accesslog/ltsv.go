package accesslog

import (
	"bytes"
	"slices"
	"strings"
)

// ltsv is label:value pairs with tabs between them (ltsv.org).
type ltsv struct {
	labelled
	order []label // order of the labels in the sample
}

// A label is one key of a line and the field that it holds.
type label struct {
	text string // the text before the value: `uri:` or `"uri":`
	src  source
	sub  []label // JSON: labels of the object that is the value
}

type ltsvParser struct {
	order []label
	clk   clock
}

func (f *ltsv) parser(needs fieldSet) parser {
	return &ltsvParser{order: withoutUnused(f.order, needs)}
}

func (p *ltsvParser) parse(line []byte, rec *record) reason {
	rec.clear()
	next := 0
	for len(line) > 0 {
		cell := line
		if i := bytes.IndexByte(line, '\t'); i >= 0 {
			cell, line = line[:i], line[i+1:]
		} else {
			line = nil
		}
		// Labels have the same order in nearly every line.
		var l *label
		if order := p.order; next < len(order) && hasPrefix(cell, order[next].text) {
			l = &order[next]
			next++
		} else if l = p.find(cell, &next); l == nil {
			if bytes.IndexByte(cell, ':') < 0 {
				return badForm
			}
			continue
		}
		if l.src.field == skipped {
			continue
		}
		if !rec.setValue(l.src, cell[len(l.text):], &p.clk) {
			return badValue + reason(l.src.field)
		}
	}
	if rec.uri == nil && rec.status == 0 {
		return badNone
	}
	return 0
}

func hasPrefix(b []byte, s string) bool { return len(b) >= len(s) && string(b[:len(s)]) == s }

// find returns the label of a cell that is not at its expected position.
func (p *ltsvParser) find(cell []byte, next *int) *label {
	for i := range p.order {
		if l := &p.order[i]; hasPrefix(cell, l.text) {
			*next = i + 1
			return l
		}
	}
	return nil
}

// ltsvPairs splits a line into keys and values; nil if it is not LTSV.
func ltsvPairs(line []byte) (pairs [][2]string) {
	for cell := range strings.SplitSeq(string(line), "\t") {
		key, value, ok := strings.Cut(cell, ":")
		if !ok || key == "" || strings.ContainsAny(key, " \"{[") {
			return nil
		}
		pairs = append(pairs, [2]string{key, value})
	}
	return pairs
}

// sampleKeys counts the keys of the sample lines.
func sampleKeys(all [][][2]string) (seen []keySample) {
	at := map[string]int{}
	for _, pairs := range all {
		for _, kv := range pairs {
			i, ok := at[kv[0]]
			if !ok {
				i = len(seen)
				at[kv[0]] = i
				seen = append(seen, keySample{key: kv[0]})
			}
			s := &seen[i]
			s.count++
			if len(s.values) < 200 && kv[1] != "" && kv[1] != "-" {
				s.values = append(s.values, kv[1])
			}
		}
	}
	return seen
}

// detectLTSV returns the format of LTSV lines, or nil if fewer than half of the
// lines are LTSV.
func detectLTSV(sample [][]byte, overrides []override) *ltsv {
	var all [][][2]string
	for _, line := range sample {
		if pairs := ltsvPairs(line); len(pairs) > 1 {
			all = append(all, pairs)
		}
	}
	if len(all)*2 < len(sample) {
		return nil
	}
	seen := sampleKeys(all)
	return newLTSV(seen, newLabelled("LTSV", seen, len(all), overrides))
}

func newLTSV(seen []keySample, l labelled) *ltsv {
	f, fields := &ltsv{labelled: l}, l.fields
	for _, s := range seen[:min(len(seen), 200)] {
		f.order = append(f.order, label{text: s.key + ":", src: fields[s.key]})
	}
	for key, src := range fields { // overrides that the sample lacks
		if !slices.ContainsFunc(f.order, func(l label) bool { return l.text == key+":" }) {
			f.order = append(f.order, label{text: key + ":", src: src})
		}
	}
	return f
}
