package nginxconf

import (
	"slices"
	"strings"
)

// levels are the blocks around a place from which it inherits, outermost first.
// "if" and "limit_except" are none for most directives.
func levels(around []*directive) []*directive {
	return slices.DeleteFunc(slices.Clone(around), func(d *directive) bool { return d.name() == "if" || d.name() == "limit_except" })
}

// effective lists the directives of a name that are in effect inside the last
// of the blocks, and the index of the block in which they stand; -1 for none.
// The nearest block that has any hides all of those outside: this is how nginx
// inherits proxy_set_header, add_header and the like, and single values, too.
func (c *conf) effective(around []*directive, name string) ([]place, int) {
	for i := len(around) - 1; i >= 0; i-- {
		if found := c.get(around[i], name); len(found) > 0 {
			return found, i
		}
	}
	return nil, -1
}

// value is the first argument of a directive in effect, or "".
func (c *conf) value(around []*directive, name string) string {
	if found, _ := c.effective(around, name); len(found) > 0 {
		return found[0].arg(0)
	}
	return ""
}

// holds makes one directive of a name stand right in the last of the blocks,
// with these arguments, unless it is in effect with them already.
func (c *conf) holds(around []*directive, name string, args ...string) {
	found, at := c.effective(around, name)
	last := len(around) - 1
	switch {
	case len(found) > 0 && slices.Equal(found[0].args(), args):
	case at == last:
		found[0].setArgs(args...)
	default:
		around[last].add(newDirective(name, args...))
	}
}

// adds makes one more directive of a name that may stand several times be in
// effect in the last of the blocks. Those in effect stay so: where they stand
// further out, they are copied in, as the new one would hide them. same says
// whether one that is there is of the same thing, so that it is replaced.
func (c *conf) adds(around []*directive, name string, same func(*directive) bool, args ...string) {
	found, at := c.effective(around, name)
	last := around[len(around)-1]
	i := slices.IndexFunc(found, func(p place) bool { return same(p.directive) })
	if i >= 0 && slices.Equal(found[i].args(), args) {
		return
	}
	if at == len(around)-1 && i >= 0 {
		found[i].setArgs(args...)
		return
	}
	if at != len(around)-1 {
		for k, p := range found {
			if k != i {
				last.add(p.clone())
			}
		}
	}
	last.add(newDirective(name, args...))
}

// sameHeader tells a header by its name.
func sameHeader(name string) func(*directive) bool {
	return func(d *directive) bool { return strings.EqualFold(d.arg(0), name) }
}
