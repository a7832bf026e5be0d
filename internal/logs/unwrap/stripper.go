package unwrap

import "bytes"

// A stripper applies the layers of a chain to one log, line by line.
type stripper struct {
	layers []layer
	times  bool
	clock  timed // the outermost layer that has times
}

// A timed layer knows when the wrapper of its last line was written.
type timed interface{ time() []byte }

// A joining layer may hold parts of a line at the end of a log.
type joining interface{ rest() []byte }

func newStripper(c Chain) *stripper {
	s := &stripper{times: c.times}
	for _, k := range c.kinds {
		l := k.open()
		s.layers = append(s.layers, l)
		if t, ok := l.(timed); ok && s.clock == nil {
			s.clock = t
		}
	}
	return s
}

// appendLine appends what the program wrote in a line, which has no newline.
func (s *stripper) appendLine(out, line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return s.through(out, line, 0)
}

// through appends what the layers from the given one on leave of a line.
func (s *stripper) through(out, line []byte, from int) []byte {
	continues := false
	for _, l := range s.layers[from:] {
		text, how := l.strip(line)
		switch how {
		case nothing:
			return out
		case foreign:
			continue
		case behind:
			continues = true
		}
		line = text
	}
	if s.times && !continues {
		out = s.appendTime(out, &line)
	}
	for len(line) > 0 && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r') {
		line = line[:len(line)-1]
	}
	out = append(out, line...)
	return append(out, '\n')
}

// appendTime appends the time of the wrapper: before a line of text, or as the first key
// of a JSON object, whose brace is then taken from line.
func (s *stripper) appendTime(out []byte, line *[]byte) []byte {
	if s.clock == nil {
		return out
	}
	at := s.clock.time()
	if len(at) == 0 {
		return out
	}
	if rest, ok := bytes.CutPrefix(*line, []byte{'{'}); ok {
		*line = rest
		out = append(append(append(out, `{"time":"`...), at...), '"')
		if rest = bytes.TrimLeft(rest, " "); len(rest) > 0 && rest[0] != '}' {
			out = append(out, ',')
		}
		return out
	}
	return append(append(out, at...), ' ')
}

// appendRest appends lines whose last parts are missing.
func (s *stripper) appendRest(out []byte) []byte {
	for i, l := range s.layers {
		j, ok := l.(joining)
		if !ok {
			continue
		}
		for rest := j.rest(); len(rest) > 0; rest = j.rest() {
			out = s.through(out, rest, i+1)
		}
	}
	return out
}
