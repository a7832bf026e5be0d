package unwrap

import "bytes"

// containers are the forms in which runtimes of containers keep what a program writes.
var containers = []*kind{
	{name: "Docker's json-file", certain: true, open: func() layer { return &dockerLayer{} },
		found: most(func(line []byte) bool {
			_, hasLog := stringMember(line, "log")
			_, hasStream := stringMember(line, "stream")
			_, hasTime := stringMember(line, "time")
			return hasLog && (hasStream || hasTime)
		})},
	{name: "CRI lines", certain: true, open: func() layer { return &criLayer{} },
		found: most(func(line []byte) bool { _, _, _, ok := cri(line); return ok })},
}

// stringMember is member for values that are strings; the value has its quotes.
func stringMember(line []byte, key string) (value []byte, ok bool) {
	value, ok = member(line, key)
	return value, ok && value[0] == '"'
}

// A joiner joins the parts of a line.
type joiner struct {
	parts []byte
	done  bool // parts was delivered
}

// maxJoined bounds a line that is joined from parts; the rest of a longer one is left out.
const maxJoined = 16 << 20

func (j *joiner) add(text []byte) {
	if j.done {
		j.parts, j.done = j.parts[:0], false
	}
	if len(j.parts)+len(text) <= maxJoined {
		j.parts = append(j.parts, text...)
	}
}

// last returns the line that ends with text.
func (j *joiner) last(text []byte) []byte {
	if j.done || len(j.parts) == 0 {
		return text
	}
	j.add(text)
	j.done = true
	return j.parts
}

// rest returns a line whose last part is missing.
func (j *joiner) rest() []byte {
	if j.done {
		return nil
	}
	j.done = true
	return j.parts
}

// dockerLayer reads the records of Docker's json-file driver: {"log":"TEXT\n",
// "stream":"stdout","time":"…"}, in any order and spacing. Docker cuts lines of more
// than 16 KiB; the parts before the last have no newline.
type dockerLayer struct {
	buf, line []byte
	joiner
}

func (l *dockerLayer) strip(line []byte) ([]byte, verdict) {
	out, ok := leadingText(line, `{"log":"`, &l.buf)
	if !ok {
		value, ok := stringMember(line, "log")
		if !ok {
			return nil, foreign
		}
		out = text(value, &l.buf)
	}
	l.line = line
	if !bytes.HasSuffix(out, []byte{'\n'}) && len(out) >= dockerPart {
		l.add(out)
		return nil, nothing
	}
	return l.last(bytes.TrimSuffix(out, []byte{'\n'})), whole
}

func (l *dockerLayer) time() []byte { return unquoted(l.line, "time") }

// unquoted is the text of a string of an object, as it is; nil if there is none.
func unquoted(line []byte, key string) []byte {
	if at, ok := stringMember(line, key); ok {
		return at[1 : len(at)-1]
	}
	return nil
}

// dockerPart is the length at which Docker cuts a line. A shorter text without a
// newline is the end of what a program wrote, or comes from a shipper that trims it.
const dockerPart = 16 << 10

// criLayer reads the lines of CRI-O and containerd: TIME stdout|stderr F|P TEXT, where P
// is a part of a line. The two streams of a container may take turns within a line.
type criLayer struct {
	out, err joiner
	at       []byte
}

// cri splits a line; ok is false if it has another form.
func cri(line []byte) (j func(*criLayer) *joiner, part bool, text []byte, ok bool) {
	at := bytes.IndexByte(line, ' ')
	if at < 20 || at > 35 || line[4] != '-' || line[10] != 'T' {
		return nil, false, nil, false
	}
	rest, isOut := bytes.CutPrefix(line[at+1:], []byte("stdout "))
	j = func(l *criLayer) *joiner { return &l.out }
	if !isOut {
		var isErr bool
		if rest, isErr = bytes.CutPrefix(rest, []byte("stderr ")); !isErr {
			return nil, false, nil, false
		}
		j = func(l *criLayer) *joiner { return &l.err }
	}
	tags, text, _ := bytes.Cut(rest, []byte{' '})
	first, _, _ := bytes.Cut(tags, []byte{':'}) // further tags follow behind colons
	part = string(first) == "P"
	return j, part, text, part || string(first) == "F"
}

func (l *criLayer) strip(line []byte) ([]byte, verdict) {
	of, part, text, ok := cri(line)
	if !ok {
		return nil, foreign
	}
	l.at = line[:bytes.IndexByte(line, ' ')]
	if part {
		of(l).add(text)
		return nil, nothing
	}
	return of(l).last(text), whole
}

func (l *criLayer) time() []byte { return l.at }

func (l *criLayer) rest() []byte {
	if rest := l.out.rest(); len(rest) > 0 {
		return rest
	}
	return l.err.rest()
}
