package nginxedit

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/nginx"
)

// A Spot is the location that a remedy's path needs, and the blocks that answer
// the path now.
type Spot struct {
	Want  nginx.Pattern
	Chain []*nginx.Directive // http, server, locations: the last one answers the path
}

// Server is the server block.
func (s Spot) Server() *nginx.Directive { return s.Chain[1] }

// Last is the block that answers the path.
func (s Spot) Last() *nginx.Directive { return s.Chain[len(s.Chain)-1] }

// Is reports whether the location that answers is the wanted one.
func (s Spot) Is() bool {
	if len(s.Chain) == 2 {
		return false
	}
	m := nginx.PatternOf(s.Last())
	return m == s.Want || m.IsPrefix() && s.Want.IsPrefix() && m.What == s.Want.What
}

// placeholder is a segment of a route that stands for any one segment, or for any with
// an ending, as in ":id.png".
var placeholder = regexp.MustCompile(`^:[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z0-9]+)?$`)

// CleanPath refuses what is not the path of a URL in nginx's normal form.
func CleanPath(p string) error {
	if !strings.HasPrefix(p, "/") || len(p) > 1000 || strings.ContainsAny(p, "\x00\r\n\t ;{}?#%\\\"'$") ||
		path.Clean(p) != strings.TrimSuffix(p, "/") && p != "/" {
		return fmt.Errorf("path %q: want the path of a URL, as /a/b", p)
	}
	return nil
}

// Everything is the folder of all paths; "/" alone is the one path.
const Everything = "/*"

// spotOf finds the spot of a remedy's path in a server: one path ("/a", "= /"),
// a folder ("/a/", everything) or a route with placeholders ("/a/:id").
func (c *Conf) spotOf(http, server *nginx.Directive, arg string) (Spot, error) {
	if arg == Everything {
		return c.pathSpot(http, server, nginx.Pattern{How: "", What: "/"})
	}
	p, exact := strings.CutPrefix(arg, "= ")
	if err := CleanPath(p); err != nil {
		return Spot{}, err
	}
	if !exact && strings.Contains(p, "/:") {
		return c.routeSpot(http, server, p)
	}
	if exact || p == "/" || !strings.HasSuffix(p, "/") {
		return c.pathSpot(http, server, nginx.Pattern{How: "=", What: p})
	}
	return c.pathSpot(http, server, nginx.Pattern{How: "", What: p})
}

// pathSpot is the spot of one path or a folder. Expressions that answer some
// paths of a folder continue to do so.
func (c *Conf) pathSpot(http, server *nginx.Directive, want nginx.Pattern) (Spot, error) {
	s := Spot{Want: want}
	of := nginx.Scope{Config: c.Config, Chain: []*nginx.Directive{http, server}}
	if want.How == "=" {
		f, err := of.Location(want.What)
		if err != nil {
			return s, err
		}
		if f.Redirects {
			return s, fmt.Errorf("path %q: nginx redirects it to %s/, because that location passes requests on", want.What, want.What)
		}
		s.Chain = f.Chain
		return s, nil
	}
	s.Chain = of.Folder(want.What).Chain
	if s.Want.How == "" && len(s.Chain) > 2 && nginx.PatternOf(s.Last()).How == "^~" {
		s.Want.How = "^~" // expressions did not answer these paths before either
	}
	return s, nil
}

// A routePattern is a route with placeholders as an expression.
type routePattern struct {
	expression string
	fixed      string // the folder before the first placeholder
	sample     string // a path that the expression matches
}

func patternOfRoute(route string) (routePattern, error) {
	segments := strings.Split(route, "/")
	fixed, sample := "", slices.Clone(segments)
	for i, s := range segments {
		if placeholder.MatchString(s) {
			if fixed == "" {
				fixed = strings.Join(segments[:i], "/") + "/"
			}
			_, ending, dotted := strings.Cut(s, ".")
			if dotted {
				ending = "." + ending
			}
			segments[i], sample[i] = "[^/]+"+regexp.QuoteMeta(ending), "iikanji"+ending
		} else {
			segments[i] = regexp.QuoteMeta(s)
		}
	}
	if fixed == "" {
		return routePattern{}, fmt.Errorf("path %q: want placeholders as /:id", route)
	}
	return routePattern{"^" + strings.Join(segments, "/") + "$", fixed, strings.Join(sample, "/")}, nil
}

// routeSpot is the spot of a route with placeholders: an expression, after
// those that are there. It refuses a route if another location may answer
// some paths.
func (c *Conf) routeSpot(http, server *nginx.Directive, route string) (Spot, error) {
	r, err := patternOfRoute(route)
	if err != nil {
		return Spot{}, err
	}
	s := Spot{Want: nginx.Pattern{How: "~", What: r.expression}}
	f, err := nginx.Scope{Config: c.Config, Chain: []*nginx.Directive{http, server}}.Location(r.sample)
	if err != nil {
		return s, err
	}
	s.Chain = f.Chain
	if s.Is() {
		return s, nil
	}
	now := nginx.PatternOf(s.Last())
	if len(s.Chain) > 2 && (len(s.Chain) > 3 || now.How != "") {
		return s, fmt.Errorf("path %q: location %s may answer it, and is before the one that would be added", route, now)
	}
	rivals := c.Get(server, "location")
	if len(s.Chain) > 2 {
		rivals = append(rivals, c.Get(s.Last(), "location")...)
	}
	for _, l := range rivals {
		p := nginx.PatternOf(l.Directive)
		longer := strings.HasPrefix(r.fixed, p.What) && len(p.What) > len(now.What)
		if p.IsPrefix() && l.Directive != s.Last() && (strings.HasPrefix(p.What, r.fixed) || longer) {
			return s, fmt.Errorf("path %q: location %s answers some of its paths", route, p)
		}
	}
	return s, nil
}

// Split gives the path a location of its own and returns it: the one that is
// there, or a copy of the location that answers now. The last block of s.chain
// becomes this location.
func (c *Conf) Split(s *Spot) (*nginx.Directive, error) {
	if s.Is() {
		return s.Last(), nil
	}
	l, err := c.copyFor(*s, s.Last())
	if err != nil {
		return nil, err
	}
	in, err := c.InsertLocation(*s, l)
	if err != nil {
		return nil, err
	}
	s.Chain = append(slices.Clone(in), l)
	return l, nil
}

// InsertLocation inserts a location beside the one that answers its path, or
// into that one if it has locations inside, because nginx searches those first.
// It returns the blocks around the new one.
func (c *Conf) InsertLocation(s Spot, l *nginx.Directive) ([]*nginx.Directive, error) {
	in := s.Chain
	if len(in) > 2 {
		from := in[len(in)-1]
		if nested := c.Get(from, "location"); len(nested) == 0 {
			in = in[:len(in)-1]
		} else if p := nginx.PatternOf(from); !p.IsPrefix() {
			return nil, fmt.Errorf("location %s has locations inside", p)
		}
	}
	in[len(in)-1].Add(l)
	return in, nil
}

// capture is a variable that the match of an expression sets.
var capture = regexp.MustCompile(`\$\{?[0-9]`)

// copyFor copies the location that answers a path now into one for that path
// alone.
func (c *Conf) copyFor(s Spot, from *nginx.Directive) (*nginx.Directive, error) {
	l := s.Want.NewLocation()
	if from == s.Server() {
		return l, nil // everything is inherited
	}
	p := nginx.PatternOf(from)
	for _, d := range c.Copies(from) {
		switch {
		case d.Name() == "alias":
			return nil, fmt.Errorf("location %s has an alias, which is valid for this location only", p)
		case d.Name() == "internal":
			return nil, fmt.Errorf("location %s is internal", p)
		case p.IsExpression() && (capture.MatchString(d.String()) || strings.Contains(p.What, "(?P<") || strings.Contains(p.What, "(?<")):
			return nil, fmt.Errorf("location %s uses what its expression captures", p)
		case d.Name() == "proxy_pass":
			if err := movePass(d, p, s.Want); err != nil {
				return nil, err
			}
		}
		l.Put(d)
	}
	return l, nil
}

// Copies are copies of the directives in a location, without the locations in
// it. An include is copied as an include if all that it includes are settings of
// proxying; else its content is copied.
func (c *Conf) Copies(from *nginx.Directive) []*nginx.Directive {
	var all []*nginx.Directive
	var add func(b *nginx.Block)
	add = func(b *nginx.Block) {
		for _, d := range b.Items {
			files, _ := c.Included(d)
			switch {
			case d.Name() == "location":
			case len(files) > 0 && !c.plain(files):
				for _, f := range files {
					add(f.Root)
				}
			default:
				all = append(all, d.Clone())
			}
		}
	}
	add(from.Block)
	return all
}

// plain reports whether files contain nothing but settings of proxying.
func (c *Conf) plain(files []*nginx.File) bool {
	ok := true
	for _, f := range files {
		c.Walk(f.Root, nil, func(p nginx.Place) {
			name := p.Name()
			ok = ok && strings.HasPrefix(name, "proxy_") && name != "proxy_pass"
		})
	}
	return ok
}

// movePass corrects a proxy_pass with a path in a copy for another location:
// the path replaces the location's prefix.
func movePass(d *nginx.Directive, from, to nginx.Pattern) error {
	pass, ok := PassOf(d.Arg(0))
	if !ok || pass.URI == "" {
		return nil
	}
	rest, inside := strings.CutPrefix(to.What, from.What)
	if to.IsExpression() || !from.IsPrefix() || !inside {
		return fmt.Errorf("location %s passes requests on to a path, which is valid for this location only", from)
	}
	d.SetArgs(d.Arg(0) + rest)
	return nil
}

// Passes reports whether a block passes its requests on to an app.
func (c *Conf) Passes(d *nginx.Directive) bool { return len(c.Get(d, "proxy_pass")) > 0 }

// Servers are the server blocks that pass any requests on, or those that have a
// server_name or listen on an address or a port.
func (c *Conf) Servers(named string) ([]*nginx.Directive, error) {
	var found []*nginx.Directive
	for _, s := range c.Find("server", "http") {
		if s.Block == nil || named != "" && !c.isServer(s.Directive, named) {
			continue
		}
		pass := false
		c.Walk(s.Block, nil, func(p nginx.Place) { pass = pass || p.Name() == "proxy_pass" })
		if pass || named != "" {
			found = append(found, s.Directive)
		}
	}
	if len(found) == 0 && named != "" {
		return nil, fmt.Errorf("server %q: no server has that name or listens there", named)
	} else if len(found) == 0 {
		return nil, fmt.Errorf("no server passes requests on")
	}
	return found, nil
}

// isServer reports whether a server has a name, or listens on an address or a port.
func (c *Conf) isServer(s *nginx.Directive, named string) bool {
	for _, d := range c.Get(s, "server_name") {
		if d.Has(named) {
			return true
		}
	}
	to := nginx.ParseAddress(named)
	if !strings.Contains(named, ":") && named != to.Port {
		return false
	}
	of := nginx.Scope{Config: c.Config, Chain: []*nginx.Directive{s}}
	return slices.ContainsFunc(of.Listens(), func(l nginx.Listen) bool {
		return l.Port == to.Port && l.Unix == to.Unix && (to.IP == "" || l.IP == "" || l.IP == to.IP)
	})
}

// server is the only server that a remedy can mean.
func (c *Conf) server(named string) (*nginx.Directive, error) {
	found, err := c.Servers(named)
	if err != nil {
		return nil, err
	}
	if len(found) > 1 {
		return nil, fmt.Errorf("server %q: %d servers are possible; want the name or an address of one", named, len(found))
	}
	return found[0], nil
}

// NoRedirect keeps nginx from redirecting "/a" to "/a/", which it does if a
// location for that folder passes requests on. The app answered "/a" before; a
// location for "/a" alone keeps that.
func (c *Conf) NoRedirect(s Spot) error {
	l := s.Last()
	folder := nginx.PatternOf(l)
	isNew := l.Line == 0
	if !isNew || !folder.IsPrefix() || !c.Passes(l) || folder.What == "/" {
		return nil
	}
	path := strings.TrimSuffix(folder.What, "/")
	before := Spot{Want: nginx.Pattern{How: "=", What: path}}
	f, err := nginx.Scope{Config: c.Config, Chain: s.Chain[:2:2]}.LocationWithout(path, l)
	if err != nil {
		return err
	}
	before.Chain = f.Chain
	if before.Is() || !c.Passes(before.Last()) {
		return nil
	}
	_, err = c.Split(&before)
	return err
}
