package unwrap

import (
	"bytes"
	"io"
	"sort"
)

// A Reader gives the text of a wrapped log. It is not safe for concurrent use.
type Reader struct {
	src  io.Reader
	s    *stripper
	in   []byte // read from src and not unwrapped yet
	buf  []byte // the memory of in
	out  []byte // unwrapped and not delivered yet
	mem  []byte // the memory of out
	err  error  // of src, io.EOF included
	done bool   // the rest was appended

	read  int64 // bytes of src whose lines were unwrapped
	lines int64 // lines of src
	gave  int64 // lines of the text
	marks []mark
}

// A mark is a place from which the lines of the text and of the log differ by another
// number than before.
type mark struct{ text, log int64 }

// maxMarks bounds the memory of marks; later line numbers count from the last one.
const maxMarks = 1 << 16

// Reader returns the text of a log.
func (c Chain) Reader(src io.Reader) *Reader {
	return &Reader{src: src, s: newStripper(c), buf: make([]byte, 256<<10)}
}

// maxLine is the longest line that is kept whole, in bytes: a longer one is cut.
const maxLine = 64 << 20

// Read implements io.Reader.
func (r *Reader) Read(p []byte) (n int, err error) {
	for len(r.out) == 0 {
		if r.done {
			return 0, r.err
		}
		r.step(len(p))
	}
	n = copy(p, r.out)
	r.out = r.out[n:]
	return n, nil
}

// step unwraps lines until there is some text, about want bytes, or the log ends.
func (r *Reader) step(want int) {
	r.out = r.mem[:0]
	for len(r.out) < want {
		end := bytes.IndexByte(r.in, '\n')
		if end >= 0 {
			r.line(r.in[:end], end+1)
			continue
		}
		if r.err != nil {
			r.finish()
			break
		}
		if len(r.in) >= maxLine {
			r.line(r.in, len(r.in))
			continue
		}
		r.fill()
	}
	r.mem = r.out[:0]
}

// line unwraps one line that takes n bytes of in.
func (r *Reader) line(line []byte, n int) {
	had := len(r.out)
	r.out = r.s.appendLine(r.out, line)
	r.count(had)
	r.read += int64(n)
	r.in = r.in[n:]
}

// count notes the numbers of the lines that were appended to out after its first had bytes.
func (r *Reader) count(had int) {
	added := int64(bytes.Count(r.out[had:], []byte{'\n'}))
	if added > 0 && (len(r.marks) == 0 && r.lines != r.gave || len(r.marks) > 0 && r.lines-r.gave != r.last()) && len(r.marks) < maxMarks {
		r.marks = append(r.marks, mark{r.gave, r.lines})
	}
	r.lines++
	r.gave += added
}

// last is the difference that the last mark noted.
func (r *Reader) last() int64 { m := r.marks[len(r.marks)-1]; return m.log - m.text }

// fill reads more of the log.
func (r *Reader) fill() {
	if len(r.in) == cap(r.buf) {
		bigger := make([]byte, 2*cap(r.buf))
		r.in, r.buf = bigger[:copy(bigger, r.in)], bigger
	} else {
		r.in = r.buf[:copy(r.buf, r.in)]
	}
	n, err := r.src.Read(r.buf[len(r.in):cap(r.buf)])
	r.in, r.err = r.buf[:len(r.in)+n], err
}

// finish unwraps the last line, which has no newline, and lines whose last parts are
// missing. Neither has a newline at its end then, as in the log.
func (r *Reader) finish() {
	had := len(r.out)
	if len(r.in) > 0 {
		r.out = r.s.appendLine(r.out, r.in)
	}
	if r.out = r.s.appendRest(r.out); len(r.out) > had {
		r.out = r.out[:len(r.out)-1]
	}
	r.count(had)
	r.in, r.done = nil, true
}

// Consumed is how many bytes of the log the text that was read so far comes from: its
// whole lines only.
func (r *Reader) Consumed() int64 { return r.read }

// Line converts the number of a line of the text, from 1, into that of its line in the
// log.
func (r *Reader) Line(n int64) int64 {
	i := sort.Search(len(r.marks), func(i int) bool { return r.marks[i].text > n-1 })
	if i == 0 {
		return n
	}
	m := r.marks[i-1]
	return n + m.log - m.text
}
