package accesslog

import "bytes"

// docker is Docker's json-file driver: each line of a container's log is a JSON
// object with the line of the program in "log". The lines inside are of any
// other format.
type docker struct{ inner format }

type dockerParser struct {
	inner   parser
	clk     clock
	scratch []byte
}

func (f *docker) name() string { return f.inner.name() + " in Docker's json-file" }
func (f *docker) explain(why reason) string {
	return "in the container's line: " + f.inner.explain(why)
}
func (f *docker) notes() []string     { return f.inner.notes() }
func (f *docker) has(want field) bool { return want == stamp || f.inner.has(want) }

func (f *docker) parser(needs fieldSet) parser { return &dockerParser{inner: f.inner.parser(needs)} }

func (p *dockerParser) parse(line []byte, rec *record) reason {
	text, at, ok := unwrapDocker(line, p.scratch[:0])
	if !ok {
		rec.clear()
		return badForm
	}
	p.scratch = text
	if why := p.inner.parse(bytes.TrimRight(text, " \r\n"), rec); why != 0 {
		return why
	}
	if rec.at == noTime {
		rec.at, _ = p.clk.any(at)
	}
	return 0
}

// unwrapDocker returns the line of the program, unescaped into buf, and
// Docker's time.
func unwrapDocker(line, buf []byte) (text, at []byte, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte(`{"log":"`))
	if !ok {
		return nil, nil, false
	}
	end := quoteEnd(line, len(line)-len(rest))
	if end < 0 {
		return nil, nil, false
	}
	text = unescape(buf, line[len(line)-len(rest):end])
	const key = `"time":"`
	if i := bytes.LastIndex(line[end:], []byte(key)); i >= 0 {
		at = line[end+i+len(key):]
		if j := bytes.IndexByte(at, '"'); j >= 0 {
			return text, at[:j], true
		}
	}
	return text, nil, true
}

// detectDocker finds the format of the lines inside; nil if the lines are not
// Docker's, or are of no known format.
func detectDocker(sample [][]byte, overrides []override) *docker {
	var inner [][]byte
	for _, line := range sample {
		if text, _, ok := unwrapDocker(line, nil); ok {
			if text = bytes.TrimRight(text, " \r\n"); len(text) > 0 {
				inner = append(inner, text)
			}
		}
	}
	if len(inner)*2 < len(sample) {
		return nil
	}
	if f := detect(inner, overrides); f != nil {
		return &docker{f}
	}
	return nil
}
