package nginx

import "slices"

// A Scope is a block with the blocks around it, outermost first: http, server,
// locations, and the "if" and "limit_except" blocks in them that apply.
type Scope struct {
	Config *Config
	Chain  []*Directive
}

// HTTP is the scope of the http block; false unless there is exactly one.
func (c *Config) HTTP() (Scope, bool) {
	if c == nil || len(c.Files) == 0 {
		return Scope{}, false
	}
	var found []*Directive
	c.each(c.Root(), func(_ *Block, d *Directive) {
		if d.Name() == "http" {
			found = append(found, d)
		}
	})
	if len(found) != 1 || found[0].Block == nil {
		return Scope{}, false
	}
	return Scope{c, found}, true
}

// In is the scope of a block inside.
func (s Scope) In(d *Directive) Scope { return Scope{s.Config, append(slices.Clip(s.Chain), d)} }

// Last is the innermost block.
func (s Scope) Last() *Directive { return s.Chain[len(s.Chain)-1] }

// Own lists the directives of a name directly inside the innermost block,
// through includes.
func (s Scope) Own(name string) []*Directive {
	var found []*Directive
	for _, p := range s.Config.Get(s.Last(), name) {
		found = append(found, p.Directive)
	}
	return found
}

// Directives lists all directives directly inside the innermost block, through includes.
func (s Scope) Directives() []*Directive {
	var all []*Directive
	s.Config.each(s.Last().Block, func(_ *Block, d *Directive) { all = append(all, d) })
	return all
}

// Value is the first argument of a directive in effect, or nginx's default.
func (s Scope) Value(name string) string {
	if found := s.Effective(name); len(found) > 0 {
		return found[0].Arg(0)
	}
	return Default(name)
}

// Blocks are the scopes of the blocks of a name directly inside.
func (s Scope) Blocks(name string) []Scope {
	var out []Scope
	for _, d := range s.Own(name) {
		if d.Block != nil {
			out = append(out, s.In(d))
		}
	}
	return out
}

// Locations are the scopes of all locations inside, also of nested ones, each
// before those in it.
func (s Scope) Locations() []Scope {
	var out []Scope
	for _, l := range s.Blocks("location") {
		out = append(append(out, l), l.Locations()...)
	}
	return out
}

// Effective lists the directives of a name that are in effect in the innermost
// block (see [Config.Effective]).
func (s Scope) Effective(name string) []*Directive {
	places, _ := s.Config.Effective(s.Chain, name)
	var out []*Directive
	for _, p := range places {
		out = append(out, p.Directive)
	}
	return out
}

// Effective lists the directives of a name that are in effect in the last of some
// nested blocks, and the index of the block in which they are written; -1 if
// there are none. The innermost block that has any replaces all of those outside:
// this is how nginx inherits single values, and also lists such as
// proxy_set_header, add_header and access_log. Directives that decide what
// answers a request, such as proxy_pass, try_files and return, are not inherited.
func (c *Config) Effective(around []*Directive, name string) ([]Place, int) {
	for i := len(around) - 1; i >= 0; i-- {
		if found := c.Get(around[i], name); len(found) > 0 {
			return found, i
		}
		if notInherited(name) && !withinLocation(around[i]) || c.hides(around[i], name) {
			break
		}
	}
	return nil, -1
}

// withinLocation reports whether a block is a part of its location for some
// requests, so that what passes the location's requests on applies in it too.
func withinLocation(d *Directive) bool { return d.Name() == "if" || d.Name() == "limit_except" }

// notInherited reports whether a directive is in effect only in the block in which
// it is written.
func notInherited(name string) bool {
	return slices.Contains(passing, name) || slices.Contains(alone, name)
}

// passing are the directives that pass a request on.
var passing = []string{"proxy_pass", "fastcgi_pass", "uwsgi_pass", "scgi_pass", "grpc_pass", "memcached_pass"}

// alone are the other directives that are not inherited.
var alone = []string{
	"try_files", "return", "rewrite", "set", "if", "break", "location", "limit_except",
	"empty_gif", "stub_status", "flv", "mp4",
}

// sharing are directives that nginx keeps in one place: one of them in a block
// hides the other of the blocks around.
var sharing = map[string]string{"root": "alias", "alias": "root", "allow": "deny", "deny": "allow"}

// hides reports whether a block has a directive that hides those of a name in the
// blocks around.
func (c *Config) hides(d *Directive, name string) bool {
	other, ok := sharing[name]
	return ok && len(c.Get(d, other)) > 0
}

// Pass is the directive that passes the requests of the innermost block on; nil
// without one. A location has it, and the "if" and "limit_except" blocks in it.
func (s Scope) Pass() *Directive {
	for i := len(s.Chain) - 1; i >= 0; i-- {
		at := Scope{s.Config, s.Chain[:i+1]}
		for _, name := range passing {
			if found := at.Own(name); len(found) > 0 {
				return found[0]
			}
		}
		if !withinLocation(at.Last()) {
			break
		}
	}
	return nil
}
