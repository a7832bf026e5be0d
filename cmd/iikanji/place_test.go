package main

import (
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
)

// TestPlace: the placement stands with the result of a search.
func TestPlace(t *testing.T) {
	for want, p := range map[string]*iikanji.Placement{
		"": nil,
		"  generator and site shared CPUs: all of 2\n": {Cores: 2, Generator: "all", Stack: "all"},
		"  generator on CPU 0, site on CPU 1-3 of 4\n": {Cores: 4, Generator: "0", Stack: "1-3"},
	} {
		var b strings.Builder
		if writePlace(&b, p); b.String() != want {
			t.Errorf("%q, want %q", b.String(), want)
		}
	}
}
