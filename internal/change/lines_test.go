package change

import (
	"strings"
	"testing"
)

// TestLines: lines are edited in place, once, and only where the value differs;
// setting them again changes nothing.
func TestLines(t *testing.T) {
	lines := Lines{
		Header: "# new\n",
		Read: func(line string) (name, value string, ok bool) {
			name, value, ok = strings.Cut(strings.TrimSpace(line), "=")
			return name, value, ok && !strings.HasPrefix(name, "#")
		},
		Write: func(name, value string) string { return name + "=" + value },
	}
	for _, c := range []struct{ name, old, ahead, want string }{
		{"new", "\x00", "", "# new\na=1\nb=2\n"},
		{"empty", "", "", "a=1\nb=2\n"},
		{"in place", "c=3\n#a=0\n  a=0\nb=9\n", "", "c=3\n#a=0\na=1\nb=2\n"},
		{"no line feed at the end", "c=3\nb=2", "", "c=3\nb=2\na=1\n"},
		{"nothing to change", " b=2 \na=1\n", "", " b=2 \na=1\n"},
		{"twice", "a=1\nb=0\n# x\na=0\nb=2\n", "", "a=1\nb=2\n# x\n"},
		{"text ahead of added lines", "a=0\n", "[s]\n", "a=1\n[s]\nb=2\n"},
		{"no line is added", "b=0\na=0\n", "[s]\n", "b=2\na=1\n"},
	} {
		old := []byte(c.old)
		if c.old == "\x00" {
			old = nil
		}
		if lines.Ahead = nil; c.ahead != "" {
			lines.Ahead = func() string { return c.ahead }
		}
		wanted := map[string]string{"a": "1", "b": "2"}
		got := string(lines.Set(old, wanted))
		if got != c.want {
			t.Errorf("%s: %q became %q, want %q", c.name, c.old, got, c.want)
		}
		if again := string(lines.Set([]byte(got), wanted)); again != got {
			t.Errorf("%s: setting again turned %q into %q", c.name, got, again)
		}
		if len(wanted) != 2 {
			t.Errorf("%s: the caller's map became %v", c.name, wanted)
		}
	}
	if got := SaySettings(map[string]string{"b": "2", "a": "1 3"}); got != "a = 1 3, b = 2" {
		t.Errorf("formatted as %q", got)
	}
}
