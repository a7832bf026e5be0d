package redact

import (
	"bytes"
	"strings"
	"testing"
)

// TestFile: a file without secrets keeps its bytes; one with secrets loses only these,
// in strings of any length, and stays a document of its form.
func TestFile(t *testing.T) {
	long := strings.Repeat("gzip on;\n", 1000)
	for name, same := range map[string]string{
		"a.json": "{\n  \"b\": 1.50,\n  \"a\": \"" + strings.ReplaceAll(long, "\n", `\n`) + "\"\n}\n", "a.jsonl": "{\"z\":1}\n{\"a\":\"x\"}\n{\"half", "a.md": "# A\n\ntext\n", "a.bin": "\x00\xff\xfepassword=x", "a.conf": "# caf\xe9\ngzip on;\n",
		"b.json": "not JSON",
	} {
		if got := File(name, []byte(same)); !bytes.Equal(got, []byte(same)) {
			t.Errorf("%s: %.200q became %.200q", name, same, got)
		}
	}
	for name, c := range map[string]struct{ text, want string }{
		"a.json":   {`{"body":"` + strings.ReplaceAll(long, "\n", `\n`) + `set password=Hunter2Password;\nsendfile on;\n","n":1}`, "sendfile on;"},
		"c.json":   {`{"args":{"password":"Hunter2Password","act":"gzip"}}`, `"act":"gzip"`},
		"d.json":   {"{\n  \"why\": \"UPDATE u SET a = 'Hunter2Password'\",\n  \"b\": 2\n}\n", "{\n  \"b\": 2"},
		"a.jsonl":  {"{\"text\":\"password: Hunter2Password\"}\n{\"n\":1}\n", "\n{\"n\":1}\n"},
		"b.jsonl":  {"{\"n\":1}\nhalf a line with password=Hunter2Password", "{\"n\":1}\nhalf a line with password="},
		"b.conf":   {"# caf\xe9\nset password=Hunter2Password;\ngzip on;\n", "gzip on;"},
		"undo.sql": {"UPDATE u SET password = 'Hunter2Password' WHERE id = 3;", "UPDATE u SET"},
	} {
		got := string(File(name, []byte(c.text)))
		if strings.Contains(got, "Hunter2") || !strings.Contains(got, c.want) || len(got) < len(c.text)-40 {
			t.Errorf("%s: %.300q became %.300q", name, c.text, got)
		}
		if again := string(File(name, []byte(got))); again != got {
			t.Errorf("%s: again %q", name, again)
		}
	}
}
