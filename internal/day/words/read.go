package words

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
)

// A Rule is what a site's file says of lines. The groups of Match that are named route, value
// and limit are what a message has of these.
type Rule struct {
	Match *regexp.Regexp
	Means iikanji.Meaning
	Route string // as in "GET /api/trend"; "" for the one that the line names
}

const (
	// maxLine is how much of a line is read, in bytes.
	maxLine = 1 << 10
	// maxMessages limits the messages. Those without a meaning give way to others.
	maxMessages = 200
	// maxText is the length of a message, in runes.
	maxText = 200
)

// Read reads an output. Messages are in the order of their first lines.
func Read(text string, rules []Rule) []iikanji.Message {
	r := &reader{rules: rules, at: map[string]int{}, means: map[string]iikanji.Meaning{}}
	for raw := range strings.FieldsFuncSeq(text, func(c rune) bool { return c == '\n' || c == '\r' }) {
		if len(raw) > maxLine {
			raw = raw[:maxLine]
		}
		r.line(strings.ToValidUTF8(raw, "?"))
	}
	return r.messages
}

type reader struct {
	rules    []Rule
	messages []iikanji.Message
	at       map[string]int // the messages by their key
	first    line           // the first line with a time
	// means are the meanings of lines without their numbers: most lines of an output were
	// there before with others.
	means map[string]iikanji.Meaning
}

func (r *reader) line(raw string) {
	l := readLine(raw)
	if l.text == "" {
		return
	}
	m := r.message(l.text)
	key := m.Means.String() + "\n" + m.Route + "\n" + template(l.text)
	i, known := r.at[key]
	if !known {
		if i = r.room(m.Means); i < 0 {
			return
		}
		m.Text, m.First = cut(l.text), r.since(l)
		r.at[key], r.messages = len(r.messages), append(r.messages, m)
		i = len(r.messages) - 1
	}
	of := &r.messages[i]
	of.Count++
	of.Last = max(of.Last, r.since(l))
	if m.Value != 0 || m.Limit != 0 {
		of.Value, of.Limit = m.Value, m.Limit
	}
}

// room is not negative if one more message may be kept.
func (r *reader) room(means iikanji.Meaning) int {
	if len(r.messages) >= maxMessages || means == iikanji.MeansNothing && len(r.messages) >= maxMessages/2 {
		return -1
	}
	return 0
}

// since is the time of a line after the first one that has a time of this form.
func (r *reader) since(l line) time.Duration {
	if !l.timed {
		return 0
	}
	if !r.first.timed {
		r.first = l
	}
	if r.first.clock != l.clock {
		return 0
	}
	d := l.at - r.first.at
	if d < 0 && l.clock == ofDay {
		d += 24 * time.Hour // midnight has passed
	}
	return max(0, d)
}

// message is what one line says.
func (r *reader) message(text string) iikanji.Message {
	for _, rule := range r.rules {
		found := rule.Match.FindStringSubmatch(text)
		if found == nil {
			continue
		}
		m := iikanji.Message{Means: rule.Means, Route: rule.Route}
		m.Value, m.Limit = numbersOf(rule.Means, text)
		for i, name := range rule.Match.SubexpNames() {
			switch name {
			case "route":
				if found[i] != "" {
					m.Route = found[i]
				}
			case "value":
				m.Value = number(found[i])
			case "limit":
				m.Limit = number(found[i])
			}
		}
		if m.Route == "" {
			m.Route = routeIn(text)
		}
		return m
	}
	m := iikanji.Message{Means: r.meaning(text)}
	m.Value, m.Limit = numbersOf(m.Means, text)
	if m.Means != iikanji.MeansNothing {
		m.Route = routeIn(text)
	}
	return m
}

// meaning is what the table says of a line.
func (r *reader) meaning(text string) iikanji.Meaning {
	key := digits.ReplaceAllString(text, "0")
	means, known := r.means[key]
	if !known {
		means = meaningOf(text)
		if len(r.means) < maxKnown {
			r.means[key] = means
		}
	}
	return means
}

// maxKnown limits how many lines are remembered with their meaning.
const maxKnown = 10_000

var (
	// digits matches a number but for the status of an answer, which has a meaning.
	digits = regexp.MustCompile(`\b(?:\d{1,2}|\d{4,})\b`)
	// requested matches a request; path a path alone.
	requested = regexp.MustCompile(`\b(GET|POST|PUT|PATCH|DELETE|HEAD)[\s:"'(\[]{1,3}(?:https?://[^/\s"']+)?(/[^\s"'?)\]<>,、。]*)`)
	path      = regexp.MustCompile(`(?:^|[\s"'(\[=])(/[a-zA-Z][^\s"'?)\]<>,、。:]*)`)
	// value matches a part of a path that is a value: a number, a UUID, a long word of hex.
	value = regexp.MustCompile(`^(?:\d+|[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}|[0-9a-fA-F]{16,}|[0-9A-HJKMNP-TV-Z]{26})$`)
	// varying matches what differs among lines of one sort.
	varying = regexp.MustCompile(`[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}|0x[0-9a-fA-F]+|\d[\d.,:]*|"[^"]*"|'[^']*'|「[^」]*」`)
)

// routeIn is the request that a line names, with values of its path as :id; "" for none.
func routeIn(text string) string {
	method, at := "", ""
	if m := requested.FindStringSubmatch(text); m != nil {
		method, at = m[1]+" ", m[2]
	} else if m := path.FindStringSubmatch(text); m != nil {
		at = m[1]
	}
	if at == "" {
		return ""
	}
	parts := strings.Split(strings.TrimRight(at, ".:;"), "/")
	for i, p := range parts {
		if value.MatchString(p) {
			parts[i] = ":id"
		}
	}
	return cut(method + strings.Join(parts, "/"))
}

// template is a line without what varies.
func template(text string) string { return varying.ReplaceAllString(text, "#") }

// cut shortens a text.
func cut(text string) string {
	if runes := []rune(text); len(runes) > maxText {
		return string(slices.Concat(runes[:maxText-1], []rune("…")))
	}
	return text
}
