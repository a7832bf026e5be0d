package dom

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestRead(t *testing.T) {
	const page = `<!DOCTYPE html><!-- <p id=x> --><HTML><body class='a b'>
<div id="one" class=article data-x=1/>text</div>
<div ID=two><p>un<b>closed<i>deep</div><p id=three>a &lt; b &amp;amp; <br>c<BR/>d<br />e
</p><script>if (a < b) { "</p>" }</SCRIPT><img src=/x.jpg><textarea><b>raw</b></textarea><table><tr><td>1<td>2<table><td>in</table><tr><td>3</table></x></body></html> < end`
	root := Read(page)
	if n := root.First(ByID("two")); n.Words() != "uncloseddeep" || len(n.All(ByTag("p"))) != 1 {
		t.Errorf("two is %q", n.Words())
	}
	three := root.First(ByID("three"))
	if got := three.Lines(); !slices.Equal(got, []string{"a < b &amp;", "c", "d", "e"}) {
		t.Errorf("lines %q", got)
	}
	if root.First(ByID("x")) != nil {
		t.Error("a comment is read as an element")
	}
	if n := root.First(ByTag("script")); n.Words() != `if (a < b) { "</p>" }` {
		t.Errorf("script %q", n.Words())
	}
	if n := root.First(ByTag("textarea")); n.Words() != "<b>raw</b>" || len(root.All(ByTag("b"))) != 1 {
		t.Errorf("textarea %q", n.Words())
	}
	if n := root.First(ByTag("img")); n.Attr("src") != "/x.jpg" || n.Words() != "" {
		t.Errorf("img %v", n)
	}
	if n := root.First(ByClass("b")); n == nil || n.tag != "body" {
		t.Errorf("by class: %v", n)
	}
	if rows := root.All(ByTag("tr")); len(rows) != 2 || len(rows[0].All(ByTag("td"))) != 2 || rows[0].Words() != "12in" || rows[1].Words() != "3" {
		t.Errorf("%d rows", len(rows))
	}
	var none *Node
	if none.Words() != "" || none.Attr("x") != "" || none.All(ByTag("p")) != nil || none.Lines() != nil {
		t.Error("no element has something")
	}
}

func TestLinesOf(t *testing.T) {
	for text, want := range map[string][]string{
		"":             {},
		"\n\n":         {},
		"a":            {"a"},
		"\na\n\nb \n":  {"a", "", "b"},
		" a\r\nb\r\n ": {"a", "b"},
	} {
		if got := LinesOf(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestLines: line breaks in the source of a page do not count, <br> does.
func TestLines(t *testing.T) {
	for page, want := range map[string][]string{
		"<p>a<br>b<br></p>":                      {"a", "b"},
		"<p>\n  a\n  b<br/>\n c </p>":            {"ab", "c"},
		"<p>a<br><br>b</p>":                      {"a", "", "b"},
		"<p><span>a<br></span><b>b</b>c<BR></p>": {"a", "bc"},
	} {
		if got := Read(page).First(ByTag("p")).Lines(); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", page, got, want)
		}
	}
}

// depth is the number of elements around the deepest node.
func (n *Node) depth() (deepest int) {
	for _, c := range n.children {
		deepest = max(deepest, 1+c.depth())
	}
	return deepest
}

func FuzzRead(f *testing.F) {
	for _, page := range []string{"<div id=a><p class='b c'>text<br/>more</p></div>", "<script></", "<a =x y=\"", "</", "<!", "<!--", "<p/ /x=1 >&#x;", "<title>x</TITLE ", strings.Repeat("<b>", 300)} {
		f.Add(page)
	}
	f.Fuzz(func(t *testing.T, page string) {
		root := Read(page)
		if d := root.depth(); d > maxDepth+1 {
			t.Errorf("%d elements inside each other", d)
		}
		text := 0
		root.walk(func(n *Node) bool {
			if n.tag != "" && n.tag != strings.ToLower(n.tag) || n.tag != "" && n.text != "" || n.tag == "" && len(n.children) > 0 {
				t.Errorf("node %+v", n)
			}
			text += len(n.text)
			return true
		})
		// A character reference is at least as long as what it stands for, but for two
		// characters in very few of them.
		if utf8.ValidString(page) && text > 2*len(page) {
			t.Errorf("%d bytes of text in a page of %d", text, len(page))
		}
		root.Lines()
		root.Words()
	})
}
