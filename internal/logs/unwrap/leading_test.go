package unwrap

import (
	"strings"
	"testing"
)

// FuzzLeadingText: what a line begins with is read as member and text read it.
func FuzzLeadingText(f *testing.F) {
	for _, s := range []string{
		`{"log":"10.0.0.1 - - \"GET /a\\b HTTP/1.1\" 200\n","stream":"stdout"}`, `{"log":""}`, `{"log":"ab`, `{"log":"a\`, `{"log":"\u3042\ud83d\ude00\u00"}`,
		`{"log":"1234567\"`, `{"log":"12345678"`, `{"log":"\x\/\b\f\r\t"}`, `{"log":"` + strings.Repeat(`\\`, 50) + `"}`, `{"log":1}`, "{\"log\":\"\xa2\xdc\x22",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var one, other []byte
		got, ok := leadingText(line, `{"log":"`, &one)
		if !strings.HasPrefix(string(line), `{"log":"`) {
			if ok {
				t.Fatalf("%q: %q", line, got)
			}
			return
		}
		value, found := stringMember(line, "log")
		if ok != found {
			t.Fatalf("%q: %q %v, member %q %v", line, got, ok, value, found)
		}
		if want := []byte(nil); ok {
			if want = text(value, &other); string(got) != string(want) {
				t.Fatalf("%q: %q, want %q", line, got, want)
			}
		}
	})
}
