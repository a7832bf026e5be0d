package lines

import (
	"bytes"
	"fmt"
	"io"

	"github.com/iikanji/iikanji/internal/logs/unwrap"
)

// A wrapping is the layers that an input removes from its log.
type wrapping struct {
	chain  unwrap.Chain
	reader *unwrap.Reader // of the last pass; nil before the first

	// Of plain files: the file, its size, and the byte from which on it is read.
	raw  io.ReaderAt
	size int64
	base int64
	all  bool // the last line was delivered, too, although it had no newline
}

// unwrapCodec removes the layers from what another codec unpacked.
type unwrapCodec struct {
	codec // nil for plain bytes
	w     *wrapping
}

func (c unwrapCodec) name() string {
	if c.codec == nil {
		return ""
	}
	return c.codec.name()
}

func (c unwrapCodec) reader(packed io.Reader) (io.Reader, func(), error) {
	stop := func() {}
	if c.codec != nil {
		var err error
		if packed, stop, err = c.codec.reader(packed); err != nil {
			return nil, nil, err
		}
	}
	c.w.reader, c.w.all = c.w.chain.Reader(packed), false
	return c.w.reader, stop, nil
}

// Unwrap removes the layers of a chain from everything that the input gives from now
// on: Head, Tail and the blocks of a Reader. Call it after SeekTo and before NewReader.
// A plain file is then read by one worker at a time, as streams are.
func (in *Input) Unwrap(c unwrap.Chain) error {
	if c.Empty() {
		return nil
	}
	w := &wrapping{chain: c}
	switch _, isFile := in.packed.(*io.SectionReader); {
	case in.at != nil:
		base, err := in.lineFrom(in.start)
		if err != nil {
			return err
		}
		w.raw, w.size, w.base = in.at, in.size, base
		in.at, in.packed = nil, io.NewSectionReader(w.raw, base, w.size-base)
		in.codec = unwrapCodec{in.codec, w}
	case isFile:
		in.codec = unwrapCodec{in.codec, w}
	default:
		if err := in.open(); err != nil {
			return err
		}
		held, err := in.carry, in.err
		rest := in.src
		if err != nil {
			rest = failing{err}
		}
		w.reader = c.Reader(io.MultiReader(bytes.NewReader(held), rest))
		in.src, in.carry, in.err = w.reader, nil, nil
	}
	in.wrap = w
	return nil
}

// failing is a reader that has nothing but an error.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// Wrapper names the layers that Unwrap removes, "" for none.
func (in *Input) Wrapper() string {
	if in.wrap == nil {
		return ""
	}
	return in.wrap.chain.String()
}

// lineFrom returns the first byte at or behind an offset at which a line begins.
func (in *Input) lineFrom(offset int64) (int64, error) {
	if offset == 0 {
		return 0, nil
	}
	buf := make([]byte, 64<<10)
	for at := offset - 1; at < in.size; {
		n, err := in.at.ReadAt(buf[:min(int64(len(buf)), in.size-at)], at)
		if i := bytes.IndexByte(buf[:n], '\n'); i >= 0 {
			return at + int64(i) + 1, nil
		}
		if at += int64(n); err != nil && err != io.EOF || n == 0 {
			return 0, fmt.Errorf("reading %s: %w", in.Name, reason(err))
		}
	}
	return in.size, nil
}

// hole returns how many NUL bytes a plain file has at its start: copytruncate leaves
// them, and they may be longer than any head.
func (in *Input) hole() int64 {
	if in.at == nil {
		return 0
	}
	buf := make([]byte, 1<<20)
	for at := in.start; at < in.size; {
		n, err := in.at.ReadAt(buf[:min(int64(len(buf)), in.size-at)], at)
		if rest := bytes.TrimLeft(buf[:n], "\x00"); len(rest) > 0 {
			return at + int64(n-len(rest)) - in.start
		}
		if at += int64(n); err != nil || n == 0 {
			return at - in.start
		}
	}
	return in.size - in.start
}

// Beginning is Head. Of a hole of NUL bytes at the start of a plain file it has only the
// last byte, so that the text behind the hole is in it.
func (in *Input) Beginning(n int) ([]byte, error) {
	head, err := in.Head(n)
	if err != nil || len(head) == 0 || head[0] != 0 || in.at == nil {
		return head, err
	}
	from := in.start + in.hole() - 1
	buf := make([]byte, min(int64(n), in.size-from))
	k, err := in.at.ReadAt(buf, from)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("reading %s: %w", in.Name, reason(err))
	}
	return buf[:k], nil
}

// line converts the number of a line that the input gave into that of its line in the
// log, which has more lines if lines were joined or left out.
func (in *Input) line(n int64) int64 {
	if in.wrap == nil || in.wrap.reader == nil {
		return n
	}
	return in.wrap.reader.Line(n)
}

// end is the offset behind the last delivered line of a plain file.
func (w *wrapping) end() int64 {
	if w.all || w.reader == nil {
		return w.size
	}
	return w.base + w.reader.Consumed()
}
