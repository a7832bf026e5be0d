package unwrap

import "bytes"

// services are the forms in which the journal and services of clouds export logs.
var services = []*kind{
	{name: "journald's JSON", certain: true, open: func() layer { return &fieldLayer{keys: []string{"MESSAGE"}} },
		found: most(func(line []byte) bool {
			_, hasMessage := member(line, "MESSAGE")
			_, hasTime := member(line, "__REALTIME_TIMESTAMP")
			_, hasID := member(line, "_PID")
			_, hasName := member(line, "SYSLOG_IDENTIFIER")
			return hasMessage && (hasTime || hasID || hasName)
		})},
	{name: "journald's export format", certain: true, open: func() layer { return exportLayer{} },
		found: func(sample [][]byte) bool {
			return one(func(line []byte) bool { return bytes.HasPrefix(line, []byte("MESSAGE=")) })(sample) &&
				most(isExported)(sample)
		}},
	{name: "Cloud Logging's textPayload", certain: true, open: func() layer { return &fieldLayer{keys: []string{"textPayload"}, at: "timestamp"} },
		found: most(func(line []byte) bool { _, ok := stringMember(line, "textPayload"); return ok })},
	{name: "Cloud Logging's jsonPayload", certain: true, open: func() layer { return &payloadLayer{} },
		found: most(func(line []byte) bool { _, ok := objectMember(line, "jsonPayload"); return ok })},
	{name: "a time before each event", certain: true, open: func() layer { return &eventLayer{} },
		found: func(sample [][]byte) bool {
			return one(func(line []byte) bool { return eventStart(line) > 0 })(sample) &&
				!most(func(line []byte) bool { return timeEnd(line) > 0 })(sample)
		}},
}

// eventLayer removes a time before the first line of each event of MySQL's logs, as
// exports of CloudWatch write it; the further lines of an event have none. An export
// with a time before each line is a timeLayer.
type eventLayer struct{ at []byte }

// eventStart returns the index behind the time, 0 if the line does not begin with one
// before the header of a slow log or before a general log's own time.
func eventStart(line []byte) int {
	end := timeEnd(line)
	if end == 0 {
		return 0
	}
	if rest := line[end:]; bytes.HasPrefix(rest, []byte("# Time: ")) || bytes.HasPrefix(rest, []byte("# User@Host: ")) || generalStart(rest) {
		return end
	}
	return 0
}

// generalStart reports whether a line begins as those of a general log of MySQL 5.7 and
// later: a time, a tab, blanks and the number of a thread.
func generalStart(line []byte) bool {
	end := timeEnd(line)
	if end == 0 || line[end-1] != '\t' {
		return false
	}
	thread := bytes.TrimLeft(line[end:], " ")
	return len(thread) > 0 && thread[0] >= '0' && thread[0] <= '9'
}

func (l *eventLayer) strip(line []byte) ([]byte, verdict) {
	end := eventStart(line)
	if end == 0 {
		return nil, foreign
	}
	l.at = append(l.at[:0], line[:end-1]...)
	return line[end:], whole
}

func (l *eventLayer) time() []byte { return l.at }

func objectMember(line []byte, key string) (value []byte, ok bool) {
	value, ok = member(line, key)
	return value, ok && value[0] == '{'
}

// fieldLayer takes the text from a string of a JSON object, the first of the keys that
// it has. Two keys with a point between them name a key of an object in the object.
type fieldLayer struct {
	keys []string
	at   string // the key of the time, "" for none
	line []byte
	buf  []byte
}

func (l *fieldLayer) strip(line []byte) ([]byte, verdict) {
	if len(line) == 0 || line[0] != '{' {
		return nil, foreign
	}
	for _, key := range l.keys {
		value, ok := path(line, key)
		if !ok {
			continue
		}
		l.line = line
		if value[0] == '[' { // the journal writes bytes that are not text as numbers
			if l.buf, ok = numbers(value, l.buf[:0]); ok {
				return l.buf, whole
			}
			return nil, foreign
		}
		return text(value, &l.buf), whole
	}
	return nil, foreign
}

func (l *fieldLayer) time() []byte {
	if l.at == "" {
		return nil
	}
	return unquoted(l.line, l.at)
}

// path is the value of a key, or of a key in an object: "event.original". It is a
// string, or an array.
func path(line []byte, key string) (value []byte, ok bool) {
	if value, ok = member(line, key); !ok {
		outer, inner, nested := bytes.Cut([]byte(key), []byte{'.'})
		if !nested {
			return nil, false
		}
		object, ok := objectMember(line, string(outer))
		if !ok {
			return nil, false
		}
		if value, ok = member(object, string(inner)); !ok {
			return nil, false
		}
	}
	return value, value[0] == '"' || value[0] == '['
}

// numbers reads an array of bytes: [104,105].
func numbers(value, out []byte) ([]byte, bool) {
	for _, word := range bytes.Split(value[1:len(value)-1], []byte{','}) {
		n, word := 0, bytes.TrimSpace(word)
		for _, c := range word {
			if c < '0' || c > '9' || n > 255 {
				return out, false
			}
			n = n*10 + int(c-'0')
		}
		if len(word) == 0 || n > 255 {
			return out, false
		}
		out = append(out, byte(n))
	}
	return out, true
}

// payloadLayer takes the object that a program wrote from a record of Cloud Logging. An
// object with nothing but a message is the message.
type payloadLayer struct{ buf, line []byte }

func (l *payloadLayer) strip(line []byte) ([]byte, verdict) {
	object, ok := objectMember(line, "jsonPayload")
	if !ok {
		return nil, foreign
	}
	l.line = line
	if value, ok := stringMember(object, "message"); ok && isOnly(object, value) {
		return text(value, &l.buf), whole
	}
	return object, whole
}

// isOnly reports whether a value is that of the only key of an object.
func isOnly(object, value []byte) bool {
	rest := len(object) - 1
	end := bytes.Index(object, value) + len(value)
	return skipBlanks(object, end) == rest && bytes.Count(object[:end-len(value)], []byte{'"'}) == 2
}

func (l *payloadLayer) time() []byte { return unquoted(l.line, "timestamp") }

// exportLayer reads the format of journalctl -o export: a line KEY=VALUE for each field.
type exportLayer struct{}

func isExported(line []byte) bool {
	i := bytes.IndexByte(line, '=')
	if i <= 0 {
		return false
	}
	for _, c := range line[:i] {
		if (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return true
}

func (exportLayer) strip(line []byte) ([]byte, verdict) {
	if text, ok := bytes.CutPrefix(line, []byte("MESSAGE=")); ok {
		return text, whole
	}
	return nil, nothing
}
