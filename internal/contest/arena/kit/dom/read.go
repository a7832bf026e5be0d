// Package dom reads HTML pages for the checks of arenas whose contract is a page.
package dom

import (
	"html"
	"slices"
	"strings"
)

// A Node is an element or a text of a page. The reader is lenient, as browsers are:
// it never fails, closes what is left open, and ignores an end tag without a start.
type Node struct {
	tag      string // lower case; "" for a text
	text     string // of a text, without character references
	attrs    map[string]string
	children []*Node
}

// maxDepth limits how deep elements may be nested; deeper ones become siblings.
const maxDepth = 200

// void are the elements without content.
var void = map[string]bool{"area": true, "base": true, "br": true, "col": true, "embed": true, "hr": true, "img": true, "input": true,
	"link": true, "meta": true, "source": true, "track": true, "wbr": true}

// raw are the elements whose content is not markup.
var raw = map[string]bool{"script": true, "style": true, "textarea": true, "title": true}

// implied are the elements that end where one of the listed elements begins in the
// same table, as their end tags may be left out.
var implied = map[string][]string{"td": {"td", "th"}, "th": {"td", "th"}, "tr": {"tr"}}

// A reader reads one page.
type reader struct {
	rest string
	open []*Node // the root first
}

// Read returns the root of a page, whose tag is "#root".
func Read(page string) *Node {
	root := &Node{tag: "#root"}
	r := reader{rest: page, open: []*Node{root}}
	for r.rest != "" {
		r.step()
	}
	return root
}

func (r *reader) top() *Node { return r.open[len(r.open)-1] }

func (r *reader) add(n *Node) { r.top().children = append(r.top().children, n) }

func (r *reader) addText(text string) {
	if text != "" {
		r.add(&Node{text: html.UnescapeString(text)})
	}
}

// step reads a text, a comment or a tag.
func (r *reader) step() {
	at := strings.IndexByte(r.rest, '<')
	if at < 0 {
		r.addText(r.rest)
		r.rest = ""
		return
	}
	r.addText(r.rest[:at])
	r.rest = r.rest[at:]
	switch {
	case strings.HasPrefix(r.rest, "<!--"):
		r.skip("-->")
	case strings.HasPrefix(r.rest, "<!"), strings.HasPrefix(r.rest, "<?"):
		r.skip(">")
	case strings.HasPrefix(r.rest, "</"):
		r.end()
	case len(r.rest) > 1 && isLetter(r.rest[1]):
		r.begin()
	default:
		r.addText("<")
		r.rest = r.rest[1:]
	}
}

// skip moves behind the next mark, or to the end.
func (r *reader) skip(mark string) {
	_, r.rest, _ = strings.Cut(r.rest, mark)
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

// end closes the element of an end tag and all elements in it.
func (r *reader) end() {
	tag, rest, _ := strings.Cut(r.rest[2:], ">")
	r.rest = rest
	tag = strings.ToLower(strings.TrimSpace(tag))
	for i := len(r.open) - 1; i > 0; i-- {
		if r.open[i].tag == tag {
			r.open = r.open[:i]
			return
		}
	}
}

// endImplied closes the innermost open element of some tags in this table.
func (r *reader) endImplied(tags []string) {
	for i := len(r.open) - 1; i > 0 && len(tags) > 0 && r.open[i].tag != "table"; i-- {
		if slices.Contains(tags, r.open[i].tag) {
			r.open = r.open[:i]
			return
		}
	}
}

// begin reads a start tag with its attributes.
func (r *reader) begin() {
	i := 1
	for i < len(r.rest) && !strings.ContainsRune(" \t\r\n/>", rune(r.rest[i])) {
		i++
	}
	n := &Node{tag: strings.ToLower(r.rest[1:i]), attrs: map[string]string{}}
	r.rest = r.rest[i:]
	closed := r.attributes(n)
	r.endImplied(implied[n.tag])
	r.add(n)
	switch {
	case closed || void[n.tag]:
	case raw[n.tag]:
		r.rawText(n)
	case len(r.open) < maxDepth:
		r.open = append(r.open, n)
	}
}

// attributes reads up to the end of the tag. closed is true behind "/>".
func (r *reader) attributes(n *Node) (closed bool) {
	for {
		r.rest = strings.TrimLeft(r.rest, " \t\r\n")
		switch {
		case r.rest == "":
			return false
		case r.rest[0] == '>':
			r.rest = r.rest[1:]
			return closed
		case r.rest[0] == '/':
			closed, r.rest = true, r.rest[1:]
			continue
		}
		closed = false
		i := strings.IndexAny(r.rest, " \t\r\n=/>")
		if i < 0 {
			i = len(r.rest)
		}
		i = max(i, 1) // an attribute that begins with "=" has it in its name
		name := strings.ToLower(r.rest[:i])
		r.rest = strings.TrimLeft(r.rest[i:], " \t\r\n")
		value := ""
		if strings.HasPrefix(r.rest, "=") {
			r.rest = strings.TrimLeft(r.rest[1:], " \t\r\n")
			value = r.value()
		}
		if _, twice := n.attrs[name]; !twice {
			n.attrs[name] = html.UnescapeString(value)
		}
	}
}

// value reads an attribute's value, with or without quotes around it.
func (r *reader) value() (value string) {
	if r.rest != "" && (r.rest[0] == '"' || r.rest[0] == '\'') {
		value, r.rest, _ = strings.Cut(r.rest[1:], r.rest[:1])
		return value
	}
	i := strings.IndexAny(r.rest, " \t\r\n>")
	if i < 0 {
		i = len(r.rest)
	}
	value, r.rest = r.rest[:i], r.rest[i:]
	return value
}

// rawText reads the content of an element that has no markup, and its end tag.
func (r *reader) rawText(n *Node) {
	at := indexFold(r.rest, "</"+n.tag)
	text := r.rest[:at]
	r.rest = r.rest[at:]
	r.skip(">")
	if text != "" {
		n.children = append(n.children, &Node{text: html.UnescapeString(text)})
	}
}

// indexFold returns the first index of a text in ASCII letters of any case, or the
// length of s.
func indexFold(s, text string) int {
	for i := 0; i+len(text) <= len(s); i++ {
		if s[i] == text[0] && strings.EqualFold(s[i:i+len(text)], text) {
			return i
		}
	}
	return len(s)
}
