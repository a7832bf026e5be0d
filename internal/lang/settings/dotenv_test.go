package settings

import (
	"strings"
	"testing"
)

func TestDotenv(t *testing.T) {
	got := Dotenv("# comment\nexport A=1\nB=\"two words\"\nC='x'\nnot a line\nD =4\n")
	want := map[string]string{"A": "1", "B": "two words", "C": "x", "D": "4"}
	if len(got) != len(want) {
		t.Errorf("%q", got)
	}
	for k, v := range want {
		if got[k] != v {
			t.Errorf("%s is %q, want %q", k, got[k], v)
		}
	}
}

// FuzzDotenv expects names of variables only.
func FuzzDotenv(f *testing.F) {
	f.Add("A=b")
	f.Fuzz(func(t *testing.T, lines string) {
		for name := range Dotenv(lines) {
			if name == "" || strings.ContainsAny(name, " \n") {
				t.Errorf("a variable is called %q", name)
			}
		}
	})
}
