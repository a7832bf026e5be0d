package isublog

import (
	"slices"
	"strings"
)

// walk calls do with each node below n, outer ones first. It does not go into a node
// for which do returns false.
func (n *node) walk(do func(*node) bool) {
	for _, c := range n.children {
		if do(c) {
			c.walk(do)
		}
	}
}

// all lists the elements below n that match, but none inside of another match.
func (n *node) all(match func(*node) bool) (found []*node) {
	if n == nil {
		return nil
	}
	n.walk(func(c *node) bool {
		if c.tag == "" || !match(c) {
			return true
		}
		found = append(found, c)
		return false
	})
	return found
}

// first returns the first of all, nil for none.
func (n *node) first(match func(*node) bool) *node {
	if found := n.all(match); len(found) > 0 {
		return found[0]
	}
	return nil
}

func byID(id string) func(*node) bool { return func(n *node) bool { return n.attrs["id"] == id } }

func byTag(tag string) func(*node) bool { return func(n *node) bool { return n.tag == tag } }

func byClass(class string) func(*node) bool {
	return func(n *node) bool { return slices.Contains(strings.Fields(n.attrs["class"]), class) }
}

// attr returns the value of an attribute, "" also of no element.
func (n *node) attr(name string) string {
	if n == nil {
		return ""
	}
	return n.attrs[name]
}

// words returns the text of an element without the white space around it.
func (n *node) words() string {
	if n == nil {
		return ""
	}
	var b strings.Builder
	n.walk(func(c *node) bool { b.WriteString(c.text); return true })
	return strings.TrimSpace(b.String())
}

// lines returns the lines of an element's text as a reader sees them: each ends with
// <br>, and white space around lines of the source does not count. Empty lines at
// the begin and the end are left out.
func (n *node) lines() []string {
	if n == nil {
		return nil
	}
	var b strings.Builder
	n.walk(func(c *node) bool {
		if c.tag == "br" {
			b.WriteByte('\n')
		}
		for part := range strings.SplitSeq(c.text, "\n") {
			b.WriteString(strings.TrimSpace(part))
		}
		return true
	})
	return linesOf(b.String())
}

// linesOf splits a text into its lines in the same form as [node.lines].
func linesOf(text string) []string {
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
