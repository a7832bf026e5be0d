package nginx

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"testing"
)

// memory are files by path. A file that is not there does not exist.
type memory map[string]string

func (m memory) Read(name string) ([]byte, error) {
	text, ok := m[name]
	if !ok {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	return []byte(text), nil
}

func (m memory) Glob(pattern string) (found []string, err error) {
	for name := range m {
		if ok, _ := path.Match(pattern, name); ok {
			found = append(found, name)
		}
	}
	return found, nil
}

// TestLoadErrors: an error of loading names the file, and no includes exhaust
// time or memory.
func TestLoadErrors(t *testing.T) {
	chain := memory{}
	for i := range 40 {
		chain[fmt.Sprintf("/c/%d", i)] = fmt.Sprintf("include %d; include %d;", i+1, i+1)
	}
	chain["/c/40"] = "a b;"
	many := memory{"/c/0": "include d/*;"}
	for i := range maxFiles {
		many[fmt.Sprintf("/c/d/%d", i)] = ""
	}
	for name, c := range map[string]struct {
		files memory
		want  string
	}{
		"missing":       {memory{"/c/0": "a { include none; }"}, "/c/none"},
		"itself":        {memory{"/c/0": "a { include 0; }"}, "/c/0: the file includes itself"},
		"in a circle":   {memory{"/c/0": "include 1;", "/c/1": "include 2;", "/c/2": "include *;"}, "includes itself"},
		"by a pattern":  {memory{"/c/0": "include ?;"}, "/c/0: the file includes itself"},
		"syntax":        {memory{"/c/0": "include 1;", "/c/1": "\n}"}, `/c/1:2: unexpected "}"`},
		"doubling":      {chain, "add up to more than"},
		"many files":    {many, "more than 1000 files"},
		"open brackets": {memory{"/c/0": "\ninclude [;"}, "/c/0:2: include /c/[: syntax error"},
		"class":         {memory{"/c/0": "include [[:digit:]];"}, "classes of characters"},
		"no main file":  {memory{}, "/c/0"},
	} {
		if _, err := Load("/c/0", c.files); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := Load("/c/0", memory{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

// TestWalk: an included directive is at the position of its include.
func TestWalk(t *testing.T) {
	c, err := Load("/c/0", memory{"/c/0": "a { include 1; b c; } include 2;", "/c/1": "b d; e { b x; }", "/c/2": "include 1; a { b f; }"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	c.Walk(c.Root(), nil, func(p Place) {
		at := ""
		for _, d := range p.Around {
			at += d.Name() + "/"
		}
		got = append(got, at+strings.Join(append([]string{p.Name()}, p.Args()...), " "))
	})
	if want := "a, a/include 1, a/b d, a/e, a/e/b x, a/b c, include 2, include 1, b d, e, e/b x, a, a/b f"; strings.Join(got, ", ") != want {
		t.Errorf("%s\nwant %s", strings.Join(got, ", "), want)
	}
	if n := len(c.Find("b", "a")); n != 3 {
		t.Errorf("%d b in a, want 3", n)
	}
	if n := len(c.Get(c.Root().Items[0], "b")); n != 2 {
		t.Errorf("%d b directly in the first a, want 2", n)
	}
	if r := c.Reads(); r[c.File("/c/1")] != 2 || r[c.File("/c/2")] != 1 || r[c.File("/c/0")] != 0 {
		t.Errorf("reads: %v", r)
	}
	if len(c.Changed()) != 0 {
		t.Error("a file is changed without an edit")
	}
	c.File("/c/1").Root.Items[0].SetArgs("d;")
	if changed := c.Changed(); len(changed) != 1 || changed[0].Root.String() != `b "d;"; e { b x; }` {
		t.Errorf("changed: %v", changed)
	}
	one := "b \"d;\"; e { b x; }\n"
	if want := "a { " + one + " b c; } " + one + " a { b f; }\n"; c.Flat() != want {
		t.Errorf("flat: %q\nwant %q", c.Flat(), want)
	}
}

// TestSplitDump: a file has its own bytes, whatever its last line is.
func TestSplitDump(t *testing.T) {
	for _, texts := range [][]string{{"a b;\n", ""}, {"a b;", "\n\n"}, {"# configuration file\r\n", "# x:\n", "\r\n"}} {
		dump := "nginx: configuration file /c/0 test is successful\n"
		for i, text := range texts {
			dump += fmt.Sprintf("# configuration file /c/%d:\n%s\n", i, text)
		}
		files := SplitDump(dump)
		if len(files) != len(texts) {
			t.Fatalf("%q: %q", dump, files)
		}
		for i, f := range files {
			if f.Text != texts[i] || f.Path != fmt.Sprintf("/c/%d", i) {
				t.Errorf("%q: %q", dump, f)
			}
		}
	}
	if _, err := SplitDump("nginx: [emerg]").Config(); err == nil {
		t.Error("a dump without files is a configuration")
	}
}

// FuzzLoad: whatever the files, loading ends, and the flat configuration is one
// text that parses.
func FuzzLoad(f *testing.F) {
	f.Add("a { include 1; } include [12];", "b c; # d", "include 1;")
	f.Add("include *;", "include 2;", "include 1;")
	f.Add("x_by_lua_block { include 1; }", "}", "map a b { include 1; }")
	f.Fuzz(func(t *testing.T, main, one, two string) {
		c, err := Load("/c/0", memory{"/c/0": main, "/c/1": one, "/c/2": two})
		if err != nil {
			return
		}
		for _, file := range c.Files {
			if file.Root.String() != file.Text {
				t.Fatalf("%q printed %q", file.Text, file.Root)
			}
		}
		if flat := c.Flat(); len(flat) < 1<<20 {
			if _, err := Parse("flat", flat); err != nil && !strings.Contains(err.Error(), "buffer") && !strings.Contains(err.Error(), "nested") && !strings.Contains(err.Error(), `unexpected "{"`) {
				t.Fatalf("%q: %v", flat, err)
			}
		}
		c.Reads()
	})
}
