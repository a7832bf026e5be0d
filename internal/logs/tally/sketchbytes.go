package tally

import (
	"encoding"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

var (
	_ encoding.BinaryMarshaler   = (*Sketch)(nil)
	_ encoding.BinaryUnmarshaler = (*Sketch)(nil)
)

// sketchVersion is the first byte of a serialised sketch; another layout gets
// another number.
const sketchVersion = 1

// MarshalBinary writes the sketch: the version byte, then as varints count,
// sum, min, max and the two halves of the sum of squares; then the values in
// rising order if they are few, otherwise the non-empty buckets as (distance
// from the previous bucket, count). Equal sketches give equal bytes. It never
// fails.
func (s *Sketch) MarshalBinary() ([]byte, error) {
	b := []byte{sketchVersion}
	for _, v := range []uint64{uint64(s.count), uint64(s.sum), uint64(s.min), uint64(s.max), s.sq.hi, s.sq.lo} {
		b = binary.AppendUvarint(b, v)
	}
	if s.pages == nil {
		few := s.few
		slices.Sort(few[:s.count])
		for _, v := range few[:s.count] {
			b = binary.AppendUvarint(b, uint64(v))
		}
		return b, nil
	}
	before := -1
	for i, p := range s.pages {
		if p == nil {
			continue
		}
		for j, n := range p {
			if n > 0 {
				at := i*pageSize + j
				b = binary.AppendUvarint(b, uint64(at-before))
				b = binary.AppendUvarint(b, n)
				before = at
			}
		}
	}
	return b, nil
}

var errSketch = errors.New("the sketch is damaged")

// UnmarshalBinary replaces the sketch by one that MarshalBinary wrote. Invalid
// bytes are an error.
func (s *Sketch) UnmarshalBinary(b []byte) error {
	if len(b) == 0 {
		return errSketch
	}
	if b[0] != sketchVersion {
		return fmt.Errorf("the sketch has version %d, this program reads %d", b[0], sketchVersion)
	}
	b = b[1:]
	var head [6]uint64
	for i := range head {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return errSketch
		}
		head[i], b = v, b[n:]
	}
	for _, v := range head[:4] {
		if v > math.MaxInt64 {
			return errSketch
		}
	}
	t := Sketch{count: int64(head[0]), sum: int64(head[1]), min: int64(head[2]), max: int64(head[3]), sq: wide{head[4], head[5]}}
	if t.min > t.max || t.max > t.sum || t.count == 0 && t.sum > 0 {
		return errSketch
	}
	read := t.readBuckets
	if t.count <= maxFew {
		read = t.readFew
	}
	if err := read(b); err != nil {
		return err
	}
	*s = t
	return nil
}

// readFew adds the values one by one, which verifies the sums.
func (s *Sketch) readFew(b []byte) error {
	var t Sketch
	for range s.count {
		v, n := binary.Uvarint(b)
		if n <= 0 || v > math.MaxInt64 {
			return errSketch
		}
		t.Add(time.Duration(v))
		b = b[n:]
	}
	if t.sum != s.sum || t.min != s.min || t.max != s.max || t.sq != s.sq || len(b) > 0 {
		return errSketch
	}
	*s = t
	return nil
}

func (s *Sketch) readBuckets(b []byte) error {
	s.pages = new([maxPages]*page)
	at, left := -1, s.count
	for len(b) > 0 {
		step, n := binary.Uvarint(b)
		if n <= 0 || step == 0 || step > maxPages*pageSize {
			return errSketch
		}
		count, m := binary.Uvarint(b[n:])
		if at += int(step); m <= 0 || count == 0 || count > uint64(left) || at >= maxPages*pageSize {
			return errSketch
		}
		b, left = b[n+m:], left-int64(count)
		pg := at / pageSize
		if s.pages[pg] == nil {
			s.pages[pg] = new(page)
		}
		s.pages[pg][at%pageSize] = count
	}
	if left != 0 {
		return errSketch
	}
	return nil
}
