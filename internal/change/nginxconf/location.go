package nginxconf

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A pattern is what a location matches: how ("", "=", "^~", "~", "~*", "@")
// and what.
type pattern struct{ how, what string }

// matches reads the arguments of a location, of which nginx also takes the two
// written as one word.
func matches(d *directive) pattern {
	args := d.args()
	switch {
	case len(args) == 2:
		return pattern{args[0], args[1]}
	case len(args) != 1:
		return pattern{}
	}
	for _, how := range []string{"=", "^~", "~*", "~", "@"} {
		if rest, ok := strings.CutPrefix(args[0], how); ok {
			return pattern{how, rest}
		}
	}
	return pattern{"", args[0]}
}

func (p pattern) prefix() bool { return p.how == "" || p.how == "^~" }
func (p pattern) regex() bool  { return p.how == "~" || p.how == "~*" }

func (p pattern) String() string { return strings.TrimSpace(p.how + " " + p.what) }

// location makes an empty location block of a pattern.
func (p pattern) location() *directive {
	switch p.how {
	case "":
		return newBlock("location", p.what)
	case "@":
		return newBlock("location", "@"+p.what)
	}
	return newBlock("location", p.how, p.what)
}

// matchesPath says whether a path is one of a regular expression's. Go's
// dialect is nearly that of PCRE; where it is not, nobody knows.
func (p pattern) matchesPath(path string) (bool, error) {
	text := p.what
	if p.how == "~*" {
		text = "(?i)" + text
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return false, fmt.Errorf("cannot tell whether location %s answers %s: %w", p, path, err)
	}
	return re.MatchString(path), nil
}

// locate finds what answers a path in a block, as nginx does: the exact
// location; else the first regular expression in the order of the file, those
// inside the longest prefix first, unless that prefix forbids them; else the
// longest prefix. It returns the blocks from b to the one found.
func (c *conf) locate(b *directive, path string, regexes bool) ([]*directive, error) {
	var longest *directive
	length := -1
	locations := c.get(b, "location")
	for _, l := range locations {
		p := matches(l.directive)
		if p.how == "=" && p.what == path {
			return []*directive{b, l.directive}, nil
		}
		if p.prefix() && strings.HasPrefix(path, p.what) && len(p.what) > length {
			longest, length = l.directive, len(p.what)
		}
	}
	chain := []*directive{b}
	forbidden := false
	if longest != nil {
		nested, err := c.locate(longest, path, regexes)
		if err != nil {
			return nil, err
		}
		chain = append(chain, nested...)
		if how := matches(chain[len(chain)-1]).how; how != "" && how != "^~" {
			return chain, nil // exact or by expression, inside
		}
		forbidden = matches(longest).how == "^~"
	}
	for _, l := range locations {
		p := matches(l.directive)
		if !regexes || forbidden || !p.regex() {
			continue
		}
		if ok, err := p.matchesPath(path); err != nil {
			return nil, err
		} else if ok {
			nested, err := c.locate(l.directive, path, regexes)
			return append([]*directive{b}, nested...), err
		}
	}
	return chain, nil
}

// A spot is where a location for a path is or would have to be.
type spot struct {
	want  pattern
	chain []*directive // http, server, locations: the last answers the path now
}

func (s spot) server() *directive { return s.chain[1] }
func (s spot) last() *directive   { return s.chain[len(s.chain)-1] }

// is says whether the location that answers is one for just this path.
func (s spot) is() bool {
	if len(s.chain) == 2 {
		return false
	}
	m := matches(s.last())
	return m == s.want || m.prefix() && s.want.prefix() && m.what == s.want.what
}

// placeholder is a segment of a route that stands for any one segment.
var placeholder = regexp.MustCompile(`^:[A-Za-z_][A-Za-z0-9_]*$`)

// cleanPath wants the path of a URL as it is after nginx has cleaned it.
func cleanPath(p string) error {
	if !strings.HasPrefix(p, "/") || len(p) > 1000 || strings.ContainsAny(p, "\x00\r\n\t ;{}?#%\\\"'$") ||
		path.Clean(p) != strings.TrimSuffix(p, "/") && p != "/" {
		return fmt.Errorf("path %q: want the path of a URL, as /a/b", p)
	}
	return nil
}

// everything is the folder of all paths; "/" alone is the one path.
const everything = "/*"

// spotOf finds the spot of a remedy's path in a server: one path ("/a", "= /"),
// a folder ("/a/", everything) or a route with placeholders ("/a/:id").
func (c *conf) spotOf(http, server *directive, arg string) (spot, error) {
	if arg == everything {
		return c.pathSpot(http, server, pattern{"", "/"})
	}
	p, exact := strings.CutPrefix(arg, "= ")
	if err := cleanPath(p); err != nil {
		return spot{}, err
	}
	if !exact && strings.Contains(p, "/:") {
		return c.routeSpot(http, server, p)
	}
	if exact || p == "/" || !strings.HasSuffix(p, "/") {
		return c.pathSpot(http, server, pattern{"=", p})
	}
	return c.pathSpot(http, server, pattern{"", p})
}

// pathSpot is the spot of one path or a folder. Expressions that answer some
// of a folder's paths go on doing so.
func (c *conf) pathSpot(http, server *directive, want pattern) (spot, error) {
	s := spot{want: want}
	chain, err := c.locate(server, want.what, want.how == "=")
	s.chain = append([]*directive{http}, chain...)
	if s.want.how == "" && matches(s.last()).how == "^~" && len(s.chain) > 2 {
		s.want.how = "^~" // expressions were not asked before either
	}
	return s, err
}

// routeSpot is the spot of a route with placeholders: an expression, behind
// those that are there. It refuses where another location may answer some of
// the route's paths.
func (c *conf) routeSpot(http, server *directive, route string) (spot, error) {
	segments := strings.Split(route, "/")
	fixed, sample := "", slices.Clone(segments)
	for i, s := range segments {
		if placeholder.MatchString(s) {
			if fixed == "" {
				fixed = strings.Join(segments[:i], "/") + "/"
			}
			segments[i], sample[i] = "[^/]+", "iikanji"
		} else {
			segments[i] = regexp.QuoteMeta(s)
		}
	}
	s := spot{want: pattern{"~", "^" + strings.Join(segments, "/") + "$"}}
	if fixed == "" {
		return s, fmt.Errorf("path %q: want placeholders as /:id", route)
	}
	chain, err := c.locate(server, strings.Join(sample, "/"), true)
	if err != nil {
		return s, err
	}
	s.chain = append([]*directive{http}, chain...)
	if s.is() {
		return s, nil
	}
	if p := matches(s.last()); len(s.chain) > 2 && (len(s.chain) > 3 || p.how != "") {
		return s, fmt.Errorf("path %q: location %s may answer it, and stands before what iikanji would add", route, p)
	}
	rivals := c.get(server, "location")
	if len(s.chain) > 2 {
		rivals = append(rivals, c.get(s.last(), "location")...)
	}
	for _, l := range rivals {
		if p := matches(l.directive); p.prefix() && l.directive != s.last() && (strings.HasPrefix(p.what, fixed) || strings.HasPrefix(fixed, p.what) && len(p.what) > len(matches(s.last()).what)) {
			return s, fmt.Errorf("path %q: location %s answers some of it", route, p)
		}
	}
	return s, nil
}

// split gives the path a location of its own, which answers as the one before
// did, and returns it: the one that is there, or a copy. Blocks around it are
// s.chain but for the last, which becomes it.
func (c *conf) split(s *spot) (*directive, error) {
	if s.is() {
		return s.last(), nil
	}
	from := s.last()
	l, err := c.copyFor(*s, from)
	if err != nil {
		return nil, err
	}
	in, err := c.insertLocation(*s, l)
	if err != nil {
		return nil, err
	}
	s.chain = append(slices.Clone(in), l)
	return l, nil
}

// insertLocation puts a location beside the one that answers its path, or into
// it where that has locations inside: nginx looks among those first. It
// returns the blocks around the new one.
func (c *conf) insertLocation(s spot, l *directive) ([]*directive, error) {
	in := s.chain
	if len(in) > 2 {
		from := in[len(in)-1]
		if nested := c.get(from, "location"); len(nested) == 0 {
			in = in[:len(in)-1]
		} else if p := matches(from); !p.prefix() {
			return nil, fmt.Errorf("location %s has locations inside", p)
		}
	}
	in[len(in)-1].add(l)
	return in, nil
}

// capture is a variable that an expression has set.
var capture = regexp.MustCompile(`\$\{?[0-9]`)

// copyFor copies what answers a path now, "from", into a location for that
// path alone.
func (c *conf) copyFor(s spot, from *directive) (*directive, error) {
	l := s.want.location()
	if from == s.server() {
		return l, nil // everything is inherited
	}
	p := matches(from)
	for _, d := range c.copies(from) {
		one := block{items: []*directive{d}}
		switch {
		case d.name() == "alias":
			return nil, fmt.Errorf("location %s has an alias, which fits no other location", p)
		case d.name() == "internal":
			return nil, fmt.Errorf("location %s is internal", p)
		case p.regex() && (capture.MatchString(one.String()) || strings.Contains(p.what, "(?P<") || strings.Contains(p.what, "(?<")):
			return nil, fmt.Errorf("location %s uses what its expression captures", p)
		case d.name() == "proxy_pass":
			if err := movePass(d, p, s.want); err != nil {
				return nil, err
			}
		}
		l.put(d)
	}
	return l, nil
}

// copies are copies of the directives in a location, without the locations in
// it. An include stays one where all that it brings are headers and settings
// of proxying; else what it brings is copied.
func (c *conf) copies(from *directive) []*directive {
	var all []*directive
	var add func(b *block, depth int)
	add = func(b *block, depth int) {
		for _, d := range b.items {
			files := c.included(d)
			switch {
			case d.name() == "location", depth > maxDepth:
			case len(files) > 0 && !c.plain(files):
				for _, f := range files {
					if src := c.file(f); src != nil {
						add(src.root, depth+1)
					}
				}
			default:
				all = append(all, d.clone())
			}
		}
	}
	add(from.body, 0)
	return all
}

// plain says whether files hold nothing but settings of proxying.
func (c *conf) plain(files []string) bool {
	ok := true
	for _, f := range files {
		if src := c.file(f); src != nil {
			c.walk(src.root, nil, func(p place) {
				name := p.name()
				ok = ok && strings.HasPrefix(name, "proxy_") && name != "proxy_pass"
			})
		}
	}
	return ok
}

// movePass corrects a proxy_pass with a path, which stands for the location's,
// in a copy for another location.
func movePass(d *directive, from, to pattern) error {
	pass, ok := passOf(d.arg(0))
	if !ok || pass.uri == "" {
		return nil
	}
	rest, inside := strings.CutPrefix(to.what, from.what)
	if to.regex() || !from.prefix() || !inside {
		return fmt.Errorf("location %s passes on to a path, which fits no other location", from)
	}
	d.setArgs(d.arg(0) + rest)
	return nil
}

// passes says whether a block hands its requests to an app.
func (c *conf) passes(d *directive) bool { return len(c.get(d, "proxy_pass")) > 0 }

// servers are the server blocks that pass anything on, or the one that is named:
// by a server_name, or the address or port it listens on.
func (c *conf) servers(named string) ([]*directive, error) {
	var found []*directive
	for _, s := range c.find("server", "http") {
		if named != "" && !c.isServer(s.directive, named) {
			continue
		}
		pass := false
		c.walk(s.body, nil, func(p place) { pass = pass || p.name() == "proxy_pass" })
		if pass || named != "" {
			found = append(found, s.directive)
		}
	}
	if len(found) == 0 && named != "" {
		return nil, fmt.Errorf("server %q: no server has that name or listens there", named)
	} else if len(found) == 0 {
		return nil, fmt.Errorf("no server passes requests on")
	}
	return found, nil
}

func (c *conf) isServer(s *directive, named string) bool {
	for _, d := range c.get(s, "server_name") {
		if d.has(named) {
			return true
		}
	}
	for _, d := range c.get(s, "listen") {
		a := d.arg(0)
		if a == named || strings.HasSuffix(a, ":"+named) {
			return true
		}
		if _, err := strconv.Atoi(a); err == nil && strings.HasSuffix(named, ":"+a) {
			return true
		}
	}
	return false
}

// server is the only server that a remedy can mean.
func (c *conf) server(named string) (*directive, error) {
	found, err := c.servers(named)
	if err != nil {
		return nil, err
	}
	if len(found) > 1 {
		return nil, fmt.Errorf("server %q: %d servers may be meant; want a name or an address of one", named, len(found))
	}
	return found[0], nil
}
