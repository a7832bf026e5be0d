package goapp

import (
	"errors"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"strings"
	"testing"
	"testing/fstest"
)

// TestFits: a folder of ours holds nothing else, and files beside those of the app replace
// none of them.
func TestFits(t *testing.T) {
	own := Addition{Folder: "lib/cache", Files: map[string][]byte{"cache.go": nil, "plan.go": nil}}
	beside := Addition{Files: map[string][]byte{"probe.go": nil}}
	for _, c := range []struct {
		a     Addition
		there []string
		want  string
	}{
		{own, nil, ""},
		{own, []string{"cache.go"}, ""},
		{own, []string{"cache.go", "mine.go"}, "lib/cache holds mine.go"},
		{beside, []string{"main.go"}, ""},
		{beside, []string{"main.go", "probe.go"}, "probe.go: file already exists"},
	} {
		err := c.a.Fits(c.there)
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || !errors.Is(err, fs.ErrExist)) {
			t.Errorf("%+v beside %q: %v, want %q", c.a, c.there, err, c.want)
		}
	}
	if got := own.ImportPath("example.org/shop"); got != "example.org/shop/lib/cache" {
		t.Error(got)
	}
	if in := own.In("/src"); len(in) != 2 || in["/src/lib/cache/plan.go"] != nil {
		t.Errorf("%q", in)
	}
}

// TestJoinFiles: the joined file has every declaration and each import once.
func TestJoinFiles(t *testing.T) {
	from := fstest.MapFS{
		"a.go": {Data: []byte("// Package two is an example.\npackage two\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\nfunc a() { fmt.Println(os.Args) }\n")},
		"b.go": {Data: []byte("package two\n\nimport \"fmt\"\n\n// b prints.\nfunc b() { fmt.Println() }\n")},
		"c.md": {Data: []byte("no source")},
	}
	const want = "// head\n\n// Package two is an example.\npackage two\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\nfunc a() { fmt.Println(os.Args) }\n\n// b prints.\nfunc b() { fmt.Println() }\n"
	got, err := JoinFiles(from, "// head\n\n")
	if err != nil || string(got) != want {
		t.Errorf("%v:\n%s\nwant\n%s", err, got, want)
	}
	copies, err := CopyFiles(from, "// head\n\n")
	if err != nil || len(copies) != 2 {
		t.Fatalf("%v, %d files", err, len(copies))
	}
	for name := range maps.Keys(copies) {
		if f, err := parser.ParseFile(token.NewFileSet(), name, copies[name], parser.ParseComments); err != nil || len(f.Comments) == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := JoinFiles(fstest.MapFS{"a.go": {Data: []byte("package")}}, ""); err == nil {
		t.Error("source with an error was joined")
	}
}
