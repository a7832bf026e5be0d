package goapp

import (
	"errors"
	"go/format"
	"testing"
)

func TestApply(t *testing.T) {
	const before = "package a\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\nfunc f() { fmt.Println(os.Args) }\n"
	files := map[string][]byte{"a.go": []byte(before), "b.go": []byte("package a\n\nfunc  g()  {}\n"), "c.go": []byte("package a\n")}
	at := func(file, old, text string) Edit {
		s := string(files[file])
		for i := range s {
			if i+len(old) <= len(s) && s[i:i+len(old)] == old {
				return Edit{File: file, Start: i, End: i + len(old), New: text}
			}
		}
		t.Fatalf("%s has no %q", file, old)
		return Edit{}
	}
	print := Fix{Edits: []Edit{at("a.go", "os.Args", "slices.Sorted(strings.Lines(\"\"))")}}
	rename := Fix{Edits: []Edit{at("b.go", "g()", "h()")}}
	got, err := Apply(files, []Fix{print, rename, rename})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"a.go": "package a\n\nimport (\n\t\"fmt\"\n\t\"slices\"\n\t\"strings\"\n)\n\nfunc f() { fmt.Println(slices.Sorted(strings.Lines(\"\"))) }\n",
		"b.go": "package a\n\nfunc  h()  {}\n", // was not formatted
	}
	if len(got) != len(want) {
		t.Errorf("%d files changed, want %d", len(got), len(want))
	}
	for name, text := range want {
		if string(got[name]) != text {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got[name], text)
		}
	}
	for _, fixes := range [][]Fix{
		{print, {Edits: []Edit{at("a.go", "Args", "Environ()")}}},
		{{Edits: []Edit{{File: "c.go", Start: 3, End: 3, New: "a"}}}, {Edits: []Edit{{File: "c.go", Start: 3, End: 3, New: "b"}}}},
	} {
		if _, err := Apply(files, fixes); !errors.Is(err, ErrOverlap) {
			t.Errorf("fixes that overlap: %v", err)
		}
	}
	for name, fix := range map[string]Fix{
		"a file that was not read": {Edits: []Edit{{File: "d.go"}}},
		"code that does not parse": {Edits: []Edit{at("a.go", "fmt.Println", "}")}},
		"an edit behind the end":   {Edits: []Edit{{File: "c.go", Start: 5, End: 500}}},
	} {
		if _, err := Apply(files, []Fix{fix}); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

// FuzzApply checks that edits never panic, that a formatted file stays formatted,
// and that all other bytes stay.
func FuzzApply(f *testing.F) {
	f.Add("package a\n\nvar x = 1\n", 17, 18, "2")
	f.Add("package a\n\nimport \"fmt\"\n\nvar x = fmt.Sprint(1)\n", 33, 46, "strings.ToLower(\"\")")
	f.Add("package a\n", 0, 3, "")
	f.Fuzz(func(t *testing.T, text string, start, end int, replacement string) {
		files := map[string][]byte{"x.go": []byte(text)}
		got, err := Apply(files, []Fix{{Edits: []Edit{{File: "x.go", Start: start, End: end, New: replacement}}}})
		if err != nil {
			return
		}
		if was, err := format.Source([]byte(text)); err == nil && string(was) == text {
			if is, err := format.Source(got["x.go"]); err != nil || string(is) != string(got["x.go"]) {
				t.Fatalf("not formatted any more: %q", got["x.go"])
			}
		}
	})
}
