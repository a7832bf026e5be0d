package isucholar

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

func TestLinks(t *testing.T) {
	for text, want := range map[string]links{
		"":                        {},
		`</a?page=1>; rel="prev"`: {prev: "/a?page=1"},
		`</a?page=1>; rel="prev",</a>; rel="next"`:     {"/a?page=1", "/a"},
		`</a?page=3>;rel=next, </a?x=%2C>; rel="prev"`: {"/a?x=%2C", "/a?page=3"},
	} {
		if got, err := parseLinks(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"x", "<", "</a>", `<//host/a>; rel="next"`, `<http://h/a>; rel="next"`,
		`</a b>; rel="next"`,
		`</a>; rel="last"`, `</a>; rel="next",</b>; rel="next"`} {
		if got, err := parseLinks(text); err == nil {
			t.Errorf("%s: %+v, want an error", text, got)
		}
	}
}

// FuzzLinks: the header comes from the target, so it is hostile input.
func FuzzLinks(f *testing.F) {
	f.Add(`</a?page=1>; rel="prev",</a>; rel="next"`)
	f.Fuzz(func(t *testing.T, text string) {
		l, err := parseLinks(text)
		for _, path := range []string{l.prev, l.next} {
			if err == nil && path != "" && (!strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//")) {
				t.Errorf("%q: %q is not a path", text, path)
			}
		}
	})
}
