package unwrap

import "bytes"

// possible are forms that a log may have by itself, too.
var possible = []*kind{
	{name: "Compose's names", open: func() layer { return nameLayer{} },
		found: most(func(line []byte) bool { return nameEnd(line) > 0 })},
	{name: "a time before each line", open: func() layer { return &timeLayer{} },
		found: most(func(line []byte) bool { return timeEnd(line) > 0 })},
	messages("message"), messages("msg"), messages("log"), messages("MESSAGE"), messages("line"), messages("@message"),
	messages("event.original"), messages("body"), messages("textPayload"), messages("text"),
	{name: "words before each object of JSON", open: func() layer { return &objectLayer{} },
		found: most(func(line []byte) bool { return objectStart(line) > 0 })},
	{name: "escape=json before each line", open: func() layer { return wordLayer("escape=json") },
		found: most(func(line []byte) bool { return bytes.HasPrefix(line, []byte("escape=json{")) })},
}

// messages is the form of a JSON object with the line in one of its keys.
func messages(key string) *kind {
	times := map[string]string{"message": "timestamp", "@message": "@timestamp", "event.original": "@timestamp"}
	return &kind{name: "the key " + key + " of JSON", open: func() layer { return &fieldLayer{keys: []string{key}, at: times[key]} },
		found: most(func(line []byte) bool {
			value, ok := path(line, key)
			return ok && value[0] == '"'
		})}
}

// nameLayer removes the name of a container: "web-1  | ".
type nameLayer struct{}

// nameEnd returns the index behind the name, the bar and its blank, 0 if there is none.
func nameEnd(line []byte) int {
	i := 0
	for i < len(line) && i < 80 && (isTagByte(line[i]) && line[i] != '[' && line[i] != ']') {
		i++
	}
	if i == 0 {
		return 0
	}
	for i < len(line) && line[i] == ' ' {
		i++
	}
	if i >= len(line) || line[i] != '|' || line[i-1] != ' ' {
		return 0
	}
	if i++; i < len(line) && line[i] == ' ' {
		i++
	}
	return i
}

func (nameLayer) strip(line []byte) ([]byte, verdict) {
	if end := nameEnd(line); end > 0 {
		return line[end:], whole
	}
	return nil, foreign
}

// timeLayer removes a time as in RFC 3339 before each line, as docker logs -t, kubectl
// logs --timestamps and exports of CloudWatch write it, perhaps behind a blank, a tab or
// a comma.
type timeLayer struct{ at []byte }

// timeEnd returns the index behind the time, 0 if there is none.
func timeEnd(line []byte) int {
	end := bytes.IndexAny(line[:min(len(line), 41)], " \t,")
	if end < 19 {
		return 0
	}
	var padded [42]byte
	n := copy(padded[:], line[:end])
	padded[n] = ' '
	if isoTime(padded[:n+1]) == 0 {
		return 0
	}
	return end + 1
}

func (l *timeLayer) strip(line []byte) ([]byte, verdict) {
	end := timeEnd(line)
	if end == 0 {
		return nil, foreign
	}
	l.at = append(l.at[:0], line[:end-1]...)
	return line[end:], whole
}

func (l *timeLayer) time() []byte { return l.at }

// objectLayer removes the words before a JSON object that ends the line, as console
// encoders write them: TIME LEVEL LOGGER MESSAGE {…}.
type objectLayer struct{ at []byte }

// objectStart returns where the object begins, 0 if there are no words before one.
func objectStart(line []byte) int {
	i := bytes.Index(line, []byte(`{"`))
	if i < 2 || line[i-1] != ' ' && line[i-1] != '\t' || line[len(line)-1] != '}' {
		return 0
	}
	return i
}

func (l *objectLayer) strip(line []byte) ([]byte, verdict) {
	i := objectStart(line)
	if i == 0 {
		return nil, foreign
	}
	l.at = l.at[:0]
	if fields := bytes.Fields(line[:min(i, 60)]); len(fields) > 0 && len(fields[0]) >= 8 && fields[0][0] >= '0' && fields[0][0] <= '9' {
		l.at = append(l.at, fields[0]...)
		if len(fields) > 1 && len(fields[0]) == 10 && bytes.Count(fields[1], []byte{':'}) == 2 {
			l.at = append(append(l.at, ' '), fields[1]...)
		}
	}
	return line[i:], whole
}

func (l *objectLayer) time() []byte { return l.at }

// wordLayer removes a word that stands before each line by mistake: nginx before 1.11.8
// takes the word escape=json of log_format for a part of the format.
type wordLayer string

func (l wordLayer) strip(line []byte) ([]byte, verdict) {
	if rest, ok := bytes.CutPrefix(line, []byte(l)); ok {
		return rest, whole
	}
	return nil, foreign
}
