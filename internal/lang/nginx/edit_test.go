package nginx

import (
	"slices"
	"testing"
)

// TestQuote: a value that is written is the value that is read.
func TestQuote(t *testing.T) {
	for _, value := range []string{"", "a", "a b", `"`, `'`, `\`, `\n`, "\n", "{", "}", "a;", "#", "$a", "${a}", "a$", ")", "日本語", `\.(js|css)$`, "\r\n\t"} {
		text := New("d", value, "end").String() + "next x;"
		b, err := Parse("f", text)
		if err != nil || len(b.Items) != 2 || !slices.Equal(b.Items[0].Args(), []string{value, "end"}) {
			t.Errorf("%q was written as %s and read as %v, %v", value, text, b, err)
		}
	}
}

// TestEdit: an edit changes its own words and keeps comments and indentation.
func TestEdit(t *testing.T) {
	for _, c := range []struct {
		before string
		edit   func(root *Block)
		after  string
	}{
		{"a  b # c\n ;", func(r *Block) { r.Items[0].SetArgs("x y", "z") }, "a \"x y\" z # c\n ;"},
		{"a {\n  b c; # of b\n  # of d\n  d e;\n}", func(r *Block) { r.Items[0].Insert(1, New("n")) }, "a {\n  b c; # of b\n  n;\n  # of d\n  d e;\n}"},
		{"a {\n  b c; # of b\n}", func(r *Block) { r.Items[0].Add(NewBlock("n", "m").Put(New("o"))) }, "a {\n  b c; # of b\n  n m {\n      o;\n  }\n}"},
		{"a{}", func(r *Block) { r.Items[0].Add(New("n")) }, "a{\n    n;\n}"},
		{"# top\na;", func(r *Block) { r.Insert(0, New("n")) }, "n;\n# top\na;"},
		{"a; # of a\nb;", func(r *Block) { r.Insert(1, New("n")) }, "a; # of a\nn;\nb;"},
		{"a; # of a", func(r *Block) { r.Items[0].SetArgs("b"); r.Items[0].SetArgs() }, "a; # of a"},
		{"a { b 'c' # d\n; }", func(r *Block) { r.Insert(1, r.Items[0].Clone()) }, "a { b 'c' # d\n; }\na {\n    b 'c';\n}\n"},
	} {
		root, err := Parse("f", c.before)
		if err != nil {
			t.Fatal(err)
		}
		c.edit(root)
		if got := root.String(); got != c.after {
			t.Errorf("%q became\n%q, want\n%q", c.before, got, c.after)
		}
		if _, err := Parse("f", root.String()); err != nil {
			t.Errorf("%q: %v", root, err)
		}
	}
}
