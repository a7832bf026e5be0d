package propose

import (
	"reflect"
	"strings"
	"testing"
	"unicode"

	"github.com/iikanji/iikanji"
)

var kinds = []string{"ddl", "mysqlconf", "nginxconf", "patch"}

// TestAnswer: the order and every field are kept.
func TestAnswer(t *testing.T) {
	got, err := Answer([]byte(`{"changes": [
		{"kind": "patch", "target": "app", "args": {"diff": "--- a\r\n+++ a\n\t"}},
		{"says": "インデックス", "answers": "DB101", "unsorted": ["SELECT id FROM t"], "args": {"act": "add index"}, "target": "database", "kind": "ddl"}
	], "version": 1}`+"\n"), kinds)
	want := []Proposal{
		{Remedy: iikanji.Remedy{Kind: "patch", Target: "app", Args: map[string]string{"diff": "--- a\r\n+++ a\n\t"}}},
		{Remedy: iikanji.Remedy{Kind: "ddl", Target: "database", Args: map[string]string{"act": "add index"}, Says: "インデックス"}, Answers: "DB101"},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := Answer([]byte(`{"version":1,"changes":[]}`), kinds); err != nil || len(got) != 0 {
		t.Errorf("no changes: %v, %v", got, err)
	}
}

// TestAnswerRefused: each error names its place.
func TestAnswerRefused(t *testing.T) {
	change := func(fields string) string { return `{"version":1,"changes":[{` + fields + `}]}` }
	full := func(more string) string { return change(`"kind":"ddl","target":"database"` + more) }
	for _, c := range []struct{ name, answer, want string }{
		{"nothing", " \n", "the answer is empty"},
		{"prose", "Sure! Here is the JSON", "invalid JSON"},
		{"a list", "[]", "answer: want an object"},
		{"half", `{"version":1,"changes":[`, "unexpected end"},
		{"no version", `{"changes":[]}`, "the version is missing"},
		{"no changes", `{"version":1}`, "the list of changes is missing"},
		{"a later version", `{"version":2,"changes":[]}`, "answer.version is 2"},
		{"version as text", `{"version":"1","changes":[]}`, "answer.version: want a number"},
		{"version as 1.0", `{"version":1.0,"changes":[]}`, "answer.version is 1.0"},
		{"further field", `{"version":1,"changes":[],"note":"x"}`, "answer.note is not a field"},
		{"other letters", `{"Version":1,"changes":[]}`, "answer.Version is not a field"},
		{"field twice", `{"version":1,"changes":[],"changes":[]}`, "answer.changes: duplicate field"},
		{"more behind", `{"version":1,"changes":[]} {}`, "data after the document"},
		{"bytes behind", `{"version":1,"changes":[]} x`, "data after the document"},
		{"changes an object", `{"version":1,"changes":{}}`, "changes: want a list"},
		{"change a text", `{"version":1,"changes":["x"]}`, "changes[0]: want an object"},
		{"no kind", change(`"target":"database"`), "changes[0]: the kind is missing"},
		{"no target", change(`"kind":"ddl"`), "changes[0]: the target is missing"},
		{"unknown kind", change(`"kind":"shell","target":"app"`), `changes[0].kind: "shell" is not a kind`},
		{"kind in other letters", change(`"kind":"DDL","target":"app"`), `"DDL" is not a kind`},
		{"null", change(`"kind":null`), "changes[0].kind: want a string"},
		{"argument a number", full(`,"args":{"level":1}`), "changes[0].args.level: want a string"},
		{"arguments a list", full(`,"args":[]`), "changes[0].args: want an object"},
		{"argument twice", full(`,"args":{"a":"1","a":"2"}`), "changes[0].args.a: duplicate field"},
		{"argument with an odd name", full(`,"args":{"a b":"1"}`), "not a valid name of an argument"},
		{"argument without a name", full(`,"args":{"":"1"}`), "not a valid name of an argument"},
		{"further field of a change", full(`,"risk":"none"`), "changes[0].risk is not a field"},
		{"weakens at the wrong place", full(`,"weakens":[]`), "changes[0].weakens is not a field"},
		{"no code", full(`,"answers":"db101"`), "not the code of a finding"},
		{"statements that are no list", full(`,"unsorted":"x"`), "changes[0].unsorted: want a list"},
		{"escape in says", full(`,"says":"a\u001b[2J"`), "invisible characters"},
		{"line feed in says", full(`,"says":"a\nb"`), "invisible characters"},
		{"turned text in says", full(`,"says":"a\u202eb"`), "invisible characters"},
		{"escape in the target", change(`"kind":"ddl","target":"a\u0007"`), "invisible characters"},
		{"escape in an argument", full(`,"args":{"value":"\u001b]0;x"}`), "changes[0].args.value: byte 0"},
		{"byte 0 in a diff", full(`,"args":{"diff":"x\u0000"}`), "changes[0].args.diff: byte 1"},
		{"turned text in a diff", full(`,"args":{"diff":"x\u2066"}`), "invisible character"},
		{"long says", full(`,"says":"` + strings.Repeat("x", maxSays+1) + `"`), "changes[0].says: 301 bytes"},
		{"long argument", full(`,"args":{"a":"` + strings.Repeat("x", maxArg+1) + `"}`), "are allowed"},
		{"long diff", full(`,"args":{"diff":"` + strings.Repeat("x", maxDiff+1) + `"}`), "are allowed"},
		{"many changes", `{"version":1,"changes":[` + strings.Repeat(`{"kind":"ddl","target":"x"},`, maxChanges) + `{"kind":"ddl","target":"x"}]}`, "changes: more than 50"},
		{"not UTF-8", full(",\"says\":\"\xff\""), "not UTF-8"},
		{"deep", strings.Repeat("[", 100_000), "want an object"},
	} {
		if got, err := Answer([]byte(c.answer), kinds); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v, want %q", c.name, got, err, c.want)
		} else if strings.ContainsFunc(err.Error(), unicode.IsControl) || len(err.Error()) > 400 {
			t.Errorf("%s: the error is not one short line: %q", c.name, err)
		}
	}
	var args []string
	for i := range maxArgs + 1 {
		args = append(args, `"a`+string(rune('A'+i))+`":"x"`)
	}
	if _, err := Answer([]byte(full(`,"args":{`+strings.Join(args, ",")+`}`)), kinds); err == nil {
		t.Error("too many arguments were accepted")
	}
}

// FuzzAnswer: no input panics, and every accepted answer keeps to the limits.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"version":1,"changes":[{"kind":"ddl","target":"database","args":{"act":"add index"},"says":"x","answers":"DB101"}]}`))
	f.Add([]byte(`{"version":1,"changes":[{"kind":"patch","target":"app","args":{"diff":"--- a\n+++ b\n"}}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := Answer(b, kinds)
		if err != nil {
			return
		}
		if len(got) > maxChanges {
			t.Fatalf("%d changes", len(got))
		}
		for _, p := range got {
			for name, v := range p.Remedy.Args {
				if len(v) > maxDiff || name != "diff" && len(v) > maxArg || strings.ContainsRune(v, 0x1b) {
					t.Fatalf("%s: %q", name, v)
				}
			}
			if p.Remedy.Kind == "" || p.Remedy.Target == "" || strings.ContainsFunc(p.Remedy.Says+p.Remedy.Target, unicode.IsControl) {
				t.Fatalf("%+v", p)
			}
		}
	})
}
