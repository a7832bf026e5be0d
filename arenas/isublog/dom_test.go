package isublog

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestReadDOM(t *testing.T) {
	const page = `<!DOCTYPE html><!-- <p id=x> --><HTML><body class='a b'>
<div id="one" class=article data-x=1/>text</div>
<div ID=two><p>un<b>closed<i>deep</div><p id=three>a &lt; b &amp;amp; <br>c<BR/>d<br />e
</p><script>if (a < b) { "</p>" }</SCRIPT><img src=/x.jpg><textarea><b>raw</b></textarea><table><tr><td>1<td>2<table><td>in</table><tr><td>3</table></x></body></html> < end`
	root := readDOM(page)
	if n := root.first(byID("two")); n.words() != "uncloseddeep" || len(n.all(byTag("p"))) != 1 {
		t.Errorf("two is %q", n.words())
	}
	three := root.first(byID("three"))
	if got := three.lines(); !slices.Equal(got, []string{"a < b &amp;", "c", "d", "e"}) {
		t.Errorf("lines %q", got)
	}
	if root.first(byID("x")) != nil {
		t.Error("a comment is read as an element")
	}
	if n := root.first(byTag("script")); n.words() != `if (a < b) { "</p>" }` {
		t.Errorf("script %q", n.words())
	}
	if n := root.first(byTag("textarea")); n.words() != "<b>raw</b>" || len(root.all(byTag("b"))) != 1 {
		t.Errorf("textarea %q", n.words())
	}
	if n := root.first(byTag("img")); n.attr("src") != "/x.jpg" || n.words() != "" {
		t.Errorf("img %v", n)
	}
	if n := root.first(byClass("b")); n == nil || n.tag != "body" {
		t.Errorf("by class: %v", n)
	}
	if rows := root.all(byTag("tr")); len(rows) != 2 || len(rows[0].all(byTag("td"))) != 2 || rows[0].words() != "12in" || rows[1].words() != "3" {
		t.Errorf("%d rows", len(rows))
	}
	var none *node
	if none.words() != "" || none.attr("x") != "" || none.all(byTag("p")) != nil || none.lines() != nil {
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
		if got := linesOf(text); !slices.Equal(got, want) {
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
		if got := readDOM(page).first(byTag("p")).lines(); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", page, got, want)
		}
	}
}

// depth is the number of elements around the deepest node.
func (n *node) depth() (deepest int) {
	for _, c := range n.children {
		deepest = max(deepest, 1+c.depth())
	}
	return deepest
}

func FuzzReadDOM(f *testing.F) {
	for _, page := range []string{"<div id=a><p class='b c'>text<br/>more</p></div>", "<script></", "<a =x y=\"", "</", "<!", "<!--", "<p/ /x=1 >&#x;", "<title>x</TITLE ", strings.Repeat("<b>", 300)} {
		f.Add(page)
	}
	f.Fuzz(func(t *testing.T, page string) {
		root := readDOM(page)
		if d := root.depth(); d > maxDepth+1 {
			t.Errorf("%d elements inside each other", d)
		}
		text := 0
		root.walk(func(n *node) bool {
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
		root.lines()
		root.words()
	})
}

// FuzzParseHead: no answer of a target breaks the load, and its numbers are not
// negative.
func FuzzParseHead(f *testing.F) {
	for _, head := range []string{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "HTTP/1.0 404\r\n\r\n", "HTTP/1.1 200 \r\ncontent-length:99999999999999999999\r\n\r\n", "", "\r\n\r\n"} {
		f.Add([]byte(head))
	}
	f.Fuzz(func(t *testing.T, head []byte) {
		var s slot
		s.inHead = copy(s.head[:], head)
		if s.parseHead() && (s.status < 100 || s.status > 999 || s.length < -1) {
			t.Errorf("status %d, length %d", s.status, s.length)
		}
	})
}
