package nginxedit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/nginx"
)

// Levels are the blocks around a place from which it inherits, outermost first.
// Most directives do not inherit through "if" and "limit_except".
func Levels(around []*nginx.Directive) []*nginx.Directive {
	return slices.DeleteFunc(slices.Clone(around), func(d *nginx.Directive) bool { return d.Name() == "if" || d.Name() == "limit_except" })
}

// Value is the first argument of a directive in effect, or "".
func (c *Conf) Value(around []*nginx.Directive, name string) string {
	if found, _ := c.Effective(around, name); len(found) > 0 {
		return found[0].Arg(0)
	}
	return ""
}

// Ensure makes a directive have these arguments in the last of the blocks: by
// an edit of the one in that block, or by a new one. Nothing changes if the
// directive is in effect with these arguments.
func (c *Conf) Ensure(around []*nginx.Directive, name string, args ...string) {
	found, at := c.Effective(around, name)
	last := len(around) - 1
	switch {
	case len(found) > 0 && slices.Equal(found[0].Args(), args):
	case at == last:
		found[0].SetArgs(args...)
	default:
		around[last].Add(nginx.New(name, args...))
	}
}

// EnsureValue is ensure, but leaves arguments that mean the same.
func (c *Conf) EnsureValue(around []*nginx.Directive, name string, args ...string) {
	if found, _ := c.Effective(around, name); len(found) > 0 && slices.EqualFunc(found[0].Args(), args, SameValue) {
		return
	}
	c.Ensure(around, name, args...)
}

// EnsureOneOf makes a directive be in effect in the last of the blocks together
// with the others of its name. If the others are written further out, they are
// copied, because the new one would hide them. same reports whether a directive
// is about the same thing, so that the new one replaces it.
func (c *Conf) EnsureOneOf(around []*nginx.Directive, name string, same func(*nginx.Directive) bool, args ...string) {
	found, at := c.Effective(around, name)
	last := around[len(around)-1]
	i := slices.IndexFunc(found, func(p nginx.Place) bool { return same(p.Directive) })
	if i >= 0 && slices.Equal(found[i].Args(), args) {
		return
	}
	if at == len(around)-1 && i >= 0 {
		found[i].SetArgs(args...)
		return
	}
	if at != len(around)-1 {
		for k, p := range found {
			if k != i {
				last.Add(p.Clone())
			}
		}
	}
	last.Add(nginx.New(name, args...))
}

// SameHeader reports for a directive whether it is about a header.
func SameHeader(name string) func(*nginx.Directive) bool {
	return func(d *nginx.Directive) bool { return strings.EqualFold(d.Arg(0), name) }
}

// SetIn sets a directive directly inside a block, or adds it at the end of the
// block. Arguments that mean the same stay.
func SetIn(c *Conf, d *nginx.Directive, name string, args ...string) {
	if found := c.Get(d, name); len(found) > 0 {
		if !slices.EqualFunc(found[0].Args(), args, SameValue) {
			found[0].SetArgs(args...)
		}
		return
	}
	d.Add(nginx.New(name, args...))
}

// InsertBeforeServers inserts a directive before the first server block, or at
// the end of http if there is none.
func InsertBeforeServers(http, d *nginx.Directive) {
	at := slices.IndexFunc(http.Block.Items, func(d *nginx.Directive) bool { return d.Name() == "server" })
	if at < 0 {
		at = len(http.Block.Items)
	}
	http.Insert(at, d)
}

// EveryPlace chooses every directive of a name.
func EveryPlace(nginx.Place) bool { return true }

// SetEverywhere sets the directives of a name that where chooses, and adds one
// at the end of the context if there is none directly in it.
func SetEverywhere(c *Conf, name, context string, words []string, where func(nginx.Place) bool) error {
	found := false
	c.Walk(c.Root(), nil, func(p nginx.Place) {
		if p.Name() != name {
			return
		}
		same := slices.EqualFunc(p.Args(), words, SameValue)
		found = found || p.Within(context) && (same || where(p))
		if !same && where(p) {
			p.SetArgs(words...)
		}
	})
	if found {
		return nil
	}
	d := nginx.New(name, words...)
	if context == "" {
		main := c.Root()
		at := slices.IndexFunc(main.Items, func(d *nginx.Directive) bool { return d.Block != nil })
		main.Insert(max(at, 0), d)
		return nil
	}
	around := c.Find(context)
	if len(around) != 1 || around[0].Block == nil {
		return fmt.Errorf("%s has %d %s blocks, want 1", c.Files[0].Path, len(around), context)
	}
	around[0].Add(d)
	return nil
}
