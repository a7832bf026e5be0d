package timeline

import (
	"bytes"
	"testing"
)

// FuzzParseSeconds: no file panics, and what is read is written and read alike.
func FuzzParseSeconds(f *testing.F) {
	f.Add([]byte("# iikanji-seconds 1 2026-11-22T10:00:00.5Z\nsecond\tanswers\terrors\tp50_ms\tp95_ms\tp99_ms\tcpu app\n1\t12\t0\t1.5\t2\t3\t0.25\n2\t\t\t\t\t\t1\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := parseSeconds(text)
		if err != nil {
			return
		}
		if s.Length() > maxSeconds {
			t.Fatalf("%d seconds", s.Length())
		}
		first := s.tsv()
		again, err := parseSeconds(first)
		if err != nil {
			t.Fatalf("%v in %q", err, first)
		}
		if !bytes.Equal(first, again.tsv()) {
			t.Errorf("%q became %q", first, again.tsv())
		}
	})
}
