package stack

import (
	"testing"
	"unicode"
	"unicode/utf8"
)

// FuzzTelling asserts that any log yields few, short, printable lines.
func FuzzTelling(f *testing.F) {
	f.Add([]byte("0 [ERROR] Aborting\n\x1b[31mpanic: \xff\n\n"))
	f.Add([]byte("panic: a\r\n\tb\u202e\n"))
	f.Fuzz(func(t *testing.T, log []byte) {
		lines := failureLines(log)
		if len(lines) > tailLines {
			t.Fatalf("%d lines", len(lines))
		}
		for _, l := range lines {
			if l == "" || len(l) > lineBytes+len("…") || !utf8.ValidString(l) {
				t.Errorf("line %q", l)
			}
			for _, r := range l {
				if unicode.IsControl(r) && r != '\t' {
					t.Errorf("line %q has %q", l, r)
				}
			}
		}
	})
}
