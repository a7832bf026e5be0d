package accesslog

import (
	"fmt"
	"slices"
	"strings"
)

// labelled is the part that LTSV and JSON share: fields found by their keys.
type labelled struct {
	title  string
	fields map[string]source // by key as logged; nested keys are joined by nest
	keys   []string          // of the sample, for messages
}

// newLabelled assigns fields to the keys of the sample lines.
func newLabelled(title string, seen []keySample, lines int, overrides []override) labelled {
	l := labelled{title: title, fields: chooseKeys(seen, lines, overrides)}
	for _, s := range seen {
		l.keys = append(l.keys, dotted(s.key))
	}
	return l
}

func (l *labelled) name() string { return l.title }

// Reasons of bad labelled lines. A value that its field cannot have is badValue
// + the field.
const (
	badForm reason = 1 + iota
	badNone
	badValue
)

func (l *labelled) explain(why reason) string {
	switch why {
	case badForm:
		return "is not a complete line of " + l.title
	case badNone:
		return "has no " + l.keyOf(uri, request, path)
	}
	f := field(why - badValue)
	return fmt.Sprintf("its %s is not a valid %s", l.keyOf(f), f)
}

// keyOf returns the key of the first of these fields that the format has.
func (l *labelled) keyOf(fields ...field) string {
	for _, f := range fields {
		for key, src := range l.fields {
			if src.field == f {
				return fmt.Sprintf("%q", dotted(key))
			}
		}
	}
	return fields[0].String()
}

func (l *labelled) has(f field) bool {
	for _, src := range l.fields {
		if src.field == f || f == took && src.field == duration {
			return true
		}
	}
	return false
}

// notes lists the keys of times and how their units were found.
func (l *labelled) notes() (notes []string) {
	for key, src := range l.fields {
		switch {
		case src.byValues:
			notes = append(notes, fmt.Sprintf("%q is read as the %v: its values look like one (--field %v=%s to confirm)", dotted(key), src.field, src.field, dotted(key)))
		case src.guess != "":
			notes = append(notes, fmt.Sprintf("%q is read as %s: %s (--field %v=%s:UNIT to confirm)",
				dotted(key), unitName(src.unit), src.guess, src.field, dotted(key)))
		case src.field == took && strings.EqualFold(key, "apptime"):
			notes = append(notes, `the times are those of the upstream ("apptime"): the log has no "reqtime"`)
		}
	}
	slices.Sort(notes)
	return notes
}

// maxErrorKeys is how many keys an error lists.
const maxErrorKeys = 40

// keysWithoutPath returns the keys of the sample if none of them holds the path.
func (l *labelled) keysWithoutPath() []string {
	if l.has(uri) || l.has(request) || l.has(path) {
		return nil
	}
	return l.keys[:min(len(l.keys), maxErrorKeys)]
}

// keysOf returns the keys of lines of keys and values, and what they are; nil
// for other lines.
func keysOf(sample [][]byte) (kind string, keys []string) {
	if f := detectJSON(sample, nil); f != nil {
		return f.title, f.keysWithoutPath()
	}
	if f := detectLTSV(sample, nil); f != nil {
		return f.title, f.keysWithoutPath()
	}
	if f := detectLogfmt(sample, nil); f != nil {
		return f.title, f.keysWithoutPath()
	}
	return "", nil
}

// setValue sets the field that a key holds. The value has no quotes.
func (r *record) setValue(src source, v []byte, clk *clock) (ok bool) {
	switch src.field {
	case uri, path:
		r.uri = v
	case request:
		r.setRequest(v)
	case verb:
		r.setMethod(v)
	case query:
		r.query = v
	case host:
		r.host = v
	case agent:
		r.agent = v
	case referer:
		r.referer = v
	case user:
		r.user = v
	case address:
		r.addr = v
	case backend:
		r.backend = v
	case status, size, reqSize:
		return r.setText(src.field, v)
	case took:
		r.took, ok = timeValue(v, src.unit)
		return ok
	case upstream:
		r.upstream, ok = timeValue(v, src.unit)
		return ok
	case duration:
		r.took, ok = durationValue(v)
		return ok
	case stamp:
		if len(v) == 0 || len(v) == 1 && v[0] == '-' {
			return true
		}
		if n := len(v); n > 2 && v[0] == '[' && v[n-1] == ']' { // Apache's %t
			v = v[1 : n-1]
		}
		r.at, ok = clk.any(v)
		return ok
	}
	return true
}

// described reads the keys of a log_format: "rt:$request_time" or "\"rt\":
// $request_time" define what rt holds.
func described(pairs [][2]string) map[string]source {
	fields := map[string]source{}
	for _, kv := range pairs {
		name, ok := strings.CutPrefix(kv[1], "$")
		name = strings.Trim(name, "{}")
		if p := nginxFields[name]; ok && p.field != skipped {
			fields[kv[0]] = source{field: p.field, unit: p.unit}
		}
	}
	return fields
}

// withoutUnused returns the labels with the fields skipped that are not needed.
func withoutUnused(order []label, needs fieldSet) []label {
	out := slices.Clone(order)
	for i := range out {
		out[i].sub = withoutUnused(out[i].sub, needs)
		if out[i].src.field = needs.of(out[i].src.field); out[i].src.field == skipped {
			out[i].src = source{}
		}
	}
	return out
}
