package contest

import "testing"

// TestDiffers: only answers that stay the same for each of two visitors, and are not each other's,
// differ.
func TestDiffers(t *testing.T) {
	a, b, none := Visit{200, "a"}, Visit{200, "b"}, Visit{}
	for _, c := range []struct {
		benchmarker, visitor []Visit
		want                 bool
	}{
		{[]Visit{a, a}, []Visit{b, b}, true},
		{[]Visit{a, a}, []Visit{{404, "a"}, {404, "a"}}, true},
		{[]Visit{a, a}, []Visit{a, a}, false},
		{[]Visit{a, b}, []Visit{b, a}, false}, // it changes by itself
		{[]Visit{a, a}, []Visit{a, b}, false}, // it changed once
		{[]Visit{a, b}, []Visit{b, b}, false},
		{[]Visit{a, a}, []Visit{none, none}, false}, // no answer is none
		{[]Visit{none, none}, []Visit{a, a}, false},
		{[]Visit{a}, []Visit{b}, false}, // once is too little
		{nil, nil, false},
	} {
		if got := Differs(c.benchmarker, c.visitor); got != c.want {
			t.Errorf("%v and %v: %v", c.benchmarker, c.visitor, got)
		}
	}
}
