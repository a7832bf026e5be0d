package lines

import (
	"fmt"
	"io"
)

// peekAhead is how many bytes behind a range are read first, to find the end of
// its last record.
const peekAhead = 4 << 10

// remains reports whether the input may have bytes left. The caller holds its
// lock.
func (in *Input) remains() bool {
	if in.at != nil {
		return in.next < in.size
	}
	return !in.done
}

// claim reserves the next range of a plain input.
func (in *Input) claim(n, limit int64) (from, to int64) {
	from = in.next
	to = min(from+n, in.size)
	if limit >= 0 {
		to = min(to, limit)
	}
	in.next = to
	return from, to
}

// A span is a part of a plain input in a worker's buffer.
type span struct {
	in   *Input
	h    *slot
	base int64 // offset of data[0]
	data []byte
}

// grow reads until data has n bytes or the input ends.
func (s *span) grow(n int) error {
	n = int(min(int64(n), s.in.size-s.base))
	have := len(s.data)
	if n <= have {
		return nil
	}
	s.data = s.h.room(n)
	k, err := s.in.at.ReadAt(s.data[have:], s.base+int64(have))
	if have+k < n {
		if err == nil || err == io.EOF {
			return fmt.Errorf("reading %s: it became shorter while it was read", s.in.Name)
		}
		return s.in.broken(err)
	}
	return nil
}

// ended reports whether data reaches the end of the input.
func (s *span) ended() bool { return s.base+int64(len(s.data)) == s.in.size }

// readRange puts the records that start in [from, to) into the worker's buffer.
func (in *Input) readRange(h *slot, opt Options, from, to int64) error {
	s := &span{in: in, h: h, base: max(from-1, 0)}
	if err := s.grow(int(to-s.base) + max(peekAhead, opt.Boundary.Ahead)); err != nil {
		return err
	}
	end := int(to - s.base)
	start := 0
	if from > 0 {
		if start = opt.Boundary.Find(s.data, 1); start < 0 || start >= end {
			return nil // the range is inside a record of an earlier range
		}
	}
	stop, err := s.endOfRecord(opt, end)
	if err != nil {
		return err
	}
	if long := s.lastStart(opt, start, end); stop < 0 || stop-long > opt.MaxRecord {
		if err := s.cut(opt, long, stop); err != nil {
			return err
		}
		stop = long
	} else if opt.Whole && s.base+int64(stop) == in.size && s.data[stop-1] != '\n' {
		stop = long
	}
	h.block.Offset, h.block.Data = s.base+int64(start), s.data[start:stop]
	in.delivered(s.base + int64(stop))
	if start == stop {
		h.block, h.long = h.long, Block{}
	}
	return nil
}

// endOfRecord returns the first start at or after end, or -1 if it is more than
// MaxRecord away.
func (s *span) endOfRecord(opt Options, end int) (int, error) {
	for from := end; ; {
		if s.base+int64(end) == s.in.size {
			return end, nil
		}
		if p := opt.Boundary.first(s.data, from, s.ended()); p > 0 {
			return p, nil
		}
		if s.ended() {
			return len(s.data), nil
		}
		if len(s.data) > end+opt.MaxRecord+opt.Boundary.Ahead {
			return -1, nil
		}
		from = max(from, len(s.data)-opt.Boundary.Ahead)
		if err := s.grow(2*len(s.data) + peekAhead); err != nil {
			return 0, err
		}
	}
}

// lastStart returns the start of the last record that starts in [start, end).
func (s *span) lastStart(opt Options, start, end int) int {
	for window := peekAhead; ; window *= 4 {
		from, best := max(end-window, start+1), -1
		for p := from; p < end; p++ {
			if p = opt.Boundary.Find(s.data, p); p < 0 || p >= end {
				break
			}
			best = p
		}
		if best >= 0 {
			return best
		}
		if from == start+1 {
			return start
		}
	}
}

// cut makes a separate block of the record at long, with its first MaxRecord
// bytes. stop is the record's end, or -1 if it is not known yet.
func (s *span) cut(opt Options, long, stop int) error {
	b := &s.h.long
	*b = Block{File: s.h.block.File, Seq: s.h.block.Seq + 1, Offset: s.base + int64(long)}
	b.Data = s.data[long : long+opt.MaxRecord]
	end := s.base + int64(stop)
	if stop < 0 {
		var err error
		if end, err = s.in.findStart(opt, s.base+int64(len(s.data))); err != nil {
			return err
		}
	}
	b.Dropped = end - b.Offset - int64(opt.MaxRecord)
	s.in.delivered(end)
	return nil
}

// findStart reads from an offset until a record starts, and discards the bytes.
func (in *Input) findStart(opt Options, offset int64) (int64, error) {
	back := int64(opt.Boundary.Ahead + 1)
	s := &span{in: in, h: new(slot), base: offset - back}
	for s.base+back < in.size {
		s.data = s.data[:0]
		if err := s.grow(DefaultBlock + 2*int(back)); err != nil {
			return 0, err
		}
		if p := opt.Boundary.first(s.data, 1, s.ended()); p > 0 {
			return s.base + int64(p), nil
		}
		if s.ended() {
			break
		}
		s.base += int64(len(s.data)) - back
	}
	return in.size, nil
}

// delivered records the end of the delivered records, for End.
func (in *Input) delivered(end int64) {
	in.mu.Lock()
	in.end = max(in.end, end)
	in.mu.Unlock()
}
