package lines

import "io"

// readStream puts the next records of a stream into the slot: those that start
// before offset limit; -1 for no limit. The caller holds the input's guard.
func (in *Input) readStream(h *slot, opt Options, limit int64) error {
	if err := in.open(); err != nil {
		in.done = true
		return err
	}
	if err := in.skipCut(opt); err != nil {
		return err
	}
	longest := opt.MaxRecord + opt.Boundary.Ahead + 1 // a record without an end within so many bytes is too long
	buf := h.room(opt.BlockSize)[:0]
	for want := opt.BlockSize; ; want = min(2*want, longest) {
		buf = in.fill(h, buf, want)
		ended := in.err != nil && len(in.carry) == 0
		first := opt.Boundary.first(buf, 1, ended)
		switch {
		case first > 0 && first <= opt.MaxRecord && want > opt.BlockSize:
			return in.deliver(h, opt, buf, first) // the next record may be too long
		case first > 0 && first <= opt.MaxRecord:
			return in.deliver(h, opt, buf, in.stopIn(opt, buf, limit, ended))
		case ended && len(buf) <= opt.MaxRecord:
			return in.deliver(h, opt, buf, len(buf))
		case first > 0 || ended || want == longest:
			return in.deliverLong(h, opt, buf)
		}
	}
}

// fill moves bytes to buf until it has want bytes or the stream ends.
func (in *Input) fill(h *slot, buf []byte, want int) []byte {
	have := len(buf)
	buf = h.room(want)
	k := copy(buf[have:], in.carry)
	in.carry = in.carry[k:]
	if have += k; have < want && in.err == nil {
		k, in.err = readFull(in.src, buf[have:])
		have += k
	}
	return buf[:have]
}

// stopIn returns the end of a block whose first record ends in buf.
func (in *Input) stopIn(opt Options, buf []byte, limit int64, ended bool) int {
	stop := len(buf)
	if !ended {
		stop = opt.Boundary.last(buf, false)
	}
	if from := max(limit-in.next, 1); limit >= 0 && from < int64(stop) {
		if p := opt.Boundary.first(buf, int(from), ended); p > 0 && p < stop {
			return p
		}
	}
	return stop
}

// deliver makes buf[:stop] the block and keeps the rest for the next block.
func (in *Input) deliver(h *slot, opt Options, buf []byte, stop int) error {
	if rest := buf[stop:]; len(rest) > 0 {
		in.carry = append(append(make([]byte, 0, len(rest)+len(in.carry)), rest...), in.carry...)
	}
	h.block.Offset = in.next
	in.next += int64(stop)
	var err error
	if in.err != nil && len(in.carry) == 0 {
		stop, err = in.finish(opt, buf[:stop])
	}
	h.block.Data = buf[:stop]
	in.end = h.block.Offset + int64(stop)
	return err
}

// finish ends the input and returns how many of its last bytes to deliver: all,
// or those before an unfinished record.
func (in *Input) finish(opt Options, last []byte) (int, error) {
	in.done = true
	broken := in.err != io.EOF
	stop := len(last)
	if unfinished := stop > 0 && last[stop-1] != '\n'; unfinished && (opt.Whole || broken) {
		stop = max(opt.Boundary.last(last, true), 0)
	}
	if in.wrap != nil {
		in.wrap.all = stop == len(last) && !broken
	}
	if !broken {
		return stop, nil
	}
	in.failed = in.broken(in.err)
	if opt.Partial {
		return stop, nil
	}
	return stop, in.failed
}

// deliverLong makes a block of the beginning of the record that fills buf, and
// discards the rest of the record.
func (in *Input) deliverLong(h *slot, opt Options, buf []byte) error {
	b := &h.block
	b.Offset, b.Data = in.next, buf[:opt.MaxRecord]
	rest := append([]byte(nil), buf[opt.MaxRecord:]...)
	for {
		ended := in.err != nil && len(in.carry) == 0
		if p := opt.Boundary.first(rest, 1, ended); p > 0 {
			b.Dropped += int64(p)
			in.carry = append(rest[p:len(rest):len(rest)], in.carry...)
			break
		}
		if ended {
			b.Dropped += int64(len(rest))
			break
		}
		keep := min(len(rest), opt.Boundary.Ahead+1)
		b.Dropped += int64(len(rest) - keep)
		rest = in.more(append([]byte(nil), rest[len(rest)-keep:]...))
	}
	in.next += int64(opt.MaxRecord) + b.Dropped
	in.end = in.next
	if in.err != nil && len(in.carry) == 0 {
		_, err := in.finish(opt, nil)
		return err
	}
	return nil
}

// more appends the next bytes of the stream, at most a block.
func (in *Input) more(b []byte) []byte {
	if len(in.carry) > 0 {
		b = append(b, in.carry...)
		in.carry = nil
		return b
	}
	have := len(b)
	b = append(b, make([]byte, DefaultBlock)...)
	k, err := readFull(in.src, b[have:])
	in.err = err
	return b[:have+k]
}

// skipCut discards the rest of the record that SeekTo landed in.
func (in *Input) skipCut(opt Options) error {
	if !in.midway {
		return nil
	}
	in.midway = false
	rest := []byte{0} // the byte before the start, which is not a newline
	for {
		rest = in.more(rest)
		ended := in.err != nil && len(in.carry) == 0
		p := opt.Boundary.first(rest, 1, ended)
		if p < 0 && !ended {
			keep := opt.Boundary.Ahead + 1
			in.next += int64(len(rest) - 1 - keep)
			rest = append([]byte{0}, rest[len(rest)-keep:]...)
			continue
		}
		if p < 0 {
			p = len(rest)
		}
		in.next += int64(p - 1)
		in.carry = append(rest[p:len(rest):len(rest)], in.carry...)
		return nil
	}
}
