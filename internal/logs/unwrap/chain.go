package unwrap

import (
	"bytes"
	"slices"
	"strings"
)

// maxDepth is how many layers are looked for: a container's line in a record of the
// journal in an object of a shipper is three.
const maxDepth = 5

// A Chain is the layers of a log, the outer one first. The zero value is a log as its
// program wrote it.
type Chain struct {
	kinds []*kind
	times bool
}

// A kind is one form of a wrapper.
type kind struct {
	name string // for people, as in "Docker's json-file"
	// cosmetic layers change the look of lines and hide nothing: they are not named.
	cosmetic bool
	// certain: no log has this form by itself.
	certain bool
	// found reports whether the lines, which are not blank, have the form.
	found func(sample [][]byte) bool
	// open returns the layer of one log.
	open func() layer
}

// A layer removes one wrapper from the lines of one log.
type layer interface {
	// strip returns the text of the program in a line. The text and the line are valid until
	// the next call. The line has no newline; the text may have some.
	strip(line []byte) (text []byte, how verdict)
}

// A verdict is what a layer says of a line.
type verdict uint8

const (
	whole   verdict = iota // the text is a line
	nothing                // the line belongs to the wrapper, or is a part that the layer keeps
	foreign                // the line does not have the form; it is passed on as it is
	behind                 // the text continues the line before, behind a newline
)

// kinds are all forms, in the order in which they are looked for.
func kinds() []*kind {
	return slices.Concat(cosmetics, containers, services, syslogs, possible)
}

// Find returns the certain layers of a log with the first bytes head.
func Find(head []byte) Chain {
	var c Chain
	for len(c.kinds) < maxDepth+len(cosmetics) {
		sample := lines(c.Apply(head))
		if len(sample) == 0 {
			return c
		}
		next := c.next(sample, true)
		if len(next) == 0 {
			return c
		}
		c = next[0]
	}
	return c
}

// Possible returns chains with one or more possible layers below those of c, the most
// likely first. A reader tries them if it does not know the text of c.
func (c Chain) Possible(head []byte) []Chain {
	var all []Chain
	for _, next := range c.next(lines(c.Apply(head)), false) {
		inner := next.below(head)
		all = append(all, inner)
		if len(inner.kinds) < maxDepth {
			all = append(all, inner.Possible(head)...)
		}
	}
	return all
}

// below adds the certain layers that are below those of c.
func (c Chain) below(head []byte) Chain {
	for len(c.kinds) < maxDepth+len(cosmetics) {
		next := c.next(lines(c.Apply(head)), true)
		if len(next) == 0 {
			break
		}
		c = next[0]
	}
	return c
}

// next returns the chains with one more layer.
func (c Chain) next(sample [][]byte, certain bool) (all []Chain) {
	if len(sample) == 0 {
		return nil
	}
	for _, k := range kinds() {
		if k.certain != certain || k.cosmetic && slices.Contains(c.kinds, k) || !k.found(sample) {
			continue
		}
		all = append(all, Chain{kinds: append(slices.Clone(c.kinds), k), times: c.times})
	}
	return all
}

// WithTimes returns the same layers; the text of each line begins with the time that
// its outermost wrapper has: as a word before a line of text, as the key "time" in a
// JSON object. It is for programs that write no time themselves.
func (c Chain) WithTimes() Chain { return Chain{kinds: c.kinds, times: true} }

// HasTimes reports whether a layer has times of its own.
func (c Chain) HasTimes() bool {
	return slices.ContainsFunc(c.kinds, func(k *kind) bool { _, ok := k.open().(timed); return ok })
}

// Empty reports whether nothing has to be removed.
func (c Chain) Empty() bool { return len(c.kinds) == 0 }

// String names the wrappers, "" for none: "CRI lines, colours".
func (c Chain) String() string {
	var names []string
	for _, k := range c.kinds {
		if !k.cosmetic {
			names = append(names, k.name)
		}
	}
	return strings.Join(names, ", ")
}

// Apply returns the unwrapped text of the first bytes of a log. A last line without a
// newline is left out if there are others.
func (c Chain) Apply(head []byte) []byte {
	if c.Empty() {
		return head
	}
	if end := bytes.LastIndexByte(head, '\n'); end >= 0 {
		head = head[:end+1]
	}
	s := newStripper(c)
	out := make([]byte, 0, len(head))
	for len(head) > 0 {
		var line []byte
		line, head, _ = bytes.Cut(head, []byte{'\n'})
		out = s.appendLine(out, line)
	}
	return s.appendRest(out)
}

// sampled is how many lines decide on a layer.
const sampled = 400

// lines returns the first lines that are not blank, without an unfinished last one if
// there are others.
func lines(head []byte) (sample [][]byte) {
	for len(head) > 0 && len(sample) < sampled {
		line, rest, ended := bytes.Cut(head, []byte{'\n'})
		head = rest
		if line = bytes.TrimSuffix(line, []byte{'\r'}); len(bytes.TrimSpace(line)) > 0 && (ended || len(sample) == 0) {
			sample = append(sample, line)
		}
	}
	return sample
}

// most returns a test of a sample: nine of ten lines must meet the condition.
func most(has func(line []byte) bool) func([][]byte) bool {
	return func(sample [][]byte) bool {
		n := 0
		for _, line := range sample {
			if has(line) {
				n++
			}
		}
		return n > 0 && n*10 >= len(sample)*9
	}
}

// one returns a test of a sample: one line must meet the condition.
func one(has func(line []byte) bool) func([][]byte) bool {
	return func(sample [][]byte) bool { return slices.ContainsFunc(sample, has) }
}
