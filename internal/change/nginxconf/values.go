package nginxconf

import (
	"fmt"
	"strconv"

	"github.com/iikanji/iikanji/internal/change/nginxedit"
	"github.com/iikanji/iikanji/internal/lang/nginx"
)

// A size is an argument in bytes, as "128k".
type size int64

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *size) UnmarshalText(b []byte) error {
	n, ok := nginx.Size(string(b))
	if !ok || n < 1 {
		return fmt.Errorf("want a size, as 128k")
	}
	*s = size(n)
	return nil
}

// atMost refuses a size above a bound.
func (s size) atMost(bound size, name string) error {
	if s > bound {
		return fmt.Errorf("%s %d: want a size up to %s", name, s, bound)
	}
	return nil
}

// String is the size rounded up to whole pages of memory.
func (s size) String() string { return strconv.FormatInt((int64(s)+4095)/4096*4, 10) + "k" }

// A span is an argument that is a length of time, as it was written.
type span string

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *span) UnmarshalText(b []byte) error {
	if _, ok := nginxedit.TimeOf(string(b)); !ok {
		return fmt.Errorf("want a time, as 60s")
	}
	*s = span(b)
	return nil
}

// zero reports whether the time is 0.
func (s span) zero() bool {
	d, _ := nginxedit.TimeOf(string(s))
	return d == 0
}
