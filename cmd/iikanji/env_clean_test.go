package main

import (
	"errors"
	"strings"
	"testing"
)

// TestExplainClean: the bytes of a file that an error quotes do not reach the
// terminal as an escape sequence.
func TestExplainClean(t *testing.T) {
	var b strings.Builder
	explain(&b, hinted(errors.New("moved \x1b]0;x\x07"), "it differs so:\n+\x1b[2Jline\u200b\n-old"))
	if got, want := b.String(), "iikanji: moved ·]0;x·\nhint: it differs so:\n+·[2Jline·\n-old\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
