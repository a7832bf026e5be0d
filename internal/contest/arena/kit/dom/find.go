package dom

import (
	"slices"
	"strings"
)

// walk calls do with each node below n, outer ones first. It does not go into a node
// for which do returns false.
func (n *Node) walk(do func(*Node) bool) {
	for _, c := range n.children {
		if do(c) {
			c.walk(do)
		}
	}
}

// All lists the elements below n that match, but none inside of another match.
func (n *Node) All(match func(*Node) bool) (found []*Node) {
	if n == nil {
		return nil
	}
	n.walk(func(c *Node) bool {
		if c.tag == "" || !match(c) {
			return true
		}
		found = append(found, c)
		return false
	})
	return found
}

// First returns the first of All, nil for none.
func (n *Node) First(match func(*Node) bool) *Node {
	if found := n.All(match); len(found) > 0 {
		return found[0]
	}
	return nil
}

// ByID matches the elements with an identifier.
func ByID(id string) func(*Node) bool { return func(n *Node) bool { return n.attrs["id"] == id } }

// ByTag matches the elements of a name in lower case.
func ByTag(tag string) func(*Node) bool { return func(n *Node) bool { return n.tag == tag } }

// ByClass matches the elements that have a class among theirs.
func ByClass(class string) func(*Node) bool {
	return func(n *Node) bool { return slices.Contains(strings.Fields(n.attrs["class"]), class) }
}

// Attr returns the value of an attribute, "" also of no element.
func (n *Node) Attr(name string) string {
	if n == nil {
		return ""
	}
	return n.attrs[name]
}

// Words returns the text of an element without the white space around it.
func (n *Node) Words() string {
	if n == nil {
		return ""
	}
	var b strings.Builder
	n.walk(func(c *Node) bool { b.WriteString(c.text); return true })
	return strings.TrimSpace(b.String())
}

// Lines returns the lines of an element's text as a reader sees them: each ends with
// <br>, and white space around lines of the source does not count. Empty lines at
// the begin and the end are left out.
func (n *Node) Lines() []string {
	if n == nil {
		return nil
	}
	var b strings.Builder
	n.walk(func(c *Node) bool {
		if c.tag == "br" {
			b.WriteByte('\n')
		}
		for part := range strings.SplitSeq(c.text, "\n") {
			b.WriteString(strings.TrimSpace(part))
		}
		return true
	})
	return LinesOf(b.String())
}

// LinesOf splits a text into its lines in the same form as [Node.Lines].
func LinesOf(text string) []string {
	list := strings.Split(text, "\n")
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	for len(list) > 0 && list[0] == "" {
		list = list[1:]
	}
	for len(list) > 0 && list[len(list)-1] == "" {
		list = list[:len(list)-1]
	}
	return list
}
