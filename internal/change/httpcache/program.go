package httpcache

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A program is what a generated VCL does. It is written into the VCL as lines that
// begin with mark, so that a later plan can add a page.
type program struct {
	apps  []string // host:port or unix:/path of the servers of the app
	purge bool     // a write drops all pages
	pages []page
}

// A page is a path whose answers are kept.
type page struct {
	path    string        // as in the remedy
	valid   time.Duration // how old an answer may be
	shared  bool          // cookies are removed: the answer is the same for all clients
	esi     bool
	headers []string // of requests, that tell answers apart
}

// mark begins the lines of a VCL that a plan reads.
const mark = "# iikanji: "

// The forms have no limits of length, which the functions after them check: a repetition
// of up to hundreds is compiled to as many copies, at the start of every command.
var (
	tcpForm    = regexp.MustCompile(`^[A-Za-z0-9._-]+(:[0-9]{1,5})?$`)
	socketForm = regexp.MustCompile(`^unix:/[A-Za-z0-9._/@+-]+$`)
	headerForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]*$`)
	pathForm   = regexp.MustCompile(`^(= )?/[A-Za-z0-9._~!&'()*+,=:@/-]*$`)
)

func isTCP(address string) bool {
	name, _, _ := strings.Cut(address, ":")
	return len(name) <= 200 && tcpForm.MatchString(address)
}

func isSocket(address string) bool {
	return len(address) <= len("unix:/")+100 && socketForm.MatchString(address)
}

func isHeader(name string) bool { return len(name) <= 61 && headerForm.MatchString(name) }

func isPath(path string) bool {
	return len(strings.TrimPrefix(path, "= ")) <= len("/")+500 && pathForm.MatchString(path)
}

// lines are the program's lines in the VCL.
func (p *program) lines() string {
	var b strings.Builder
	for _, app := range p.apps {
		fmt.Fprintf(&b, "%sapp %s\n", mark, app)
	}
	if p.purge {
		b.WriteString(mark + "writes purge\n")
	}
	for _, g := range p.pages {
		cookies, esi := "personal", "off"
		if g.shared {
			cookies = "ignore"
		}
		if g.esi {
			esi = "on"
		}
		fmt.Fprintf(&b, "%spage valid=%s cookies=%s esi=%s headers=%s path=%s\n", mark, g.valid, cookies, esi, strings.Join(g.headers, ","), g.path)
	}
	return b.String()
}

var pageForm = regexp.MustCompile(`^page valid=([0-9a-z.]+) cookies=(personal|ignore) esi=(on|off) headers=([A-Za-z0-9,-]*) path=(.+)$`)

// readProgram reads the program of a VCL that a plan generated; nil for any other
// VCL. A generated VCL that was edited is an error.
func readProgram(vcl string) (*program, error) {
	var p program
	found := false
	for line := range strings.Lines(vcl) {
		text, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), mark)
		if !ok {
			continue
		}
		found = true
		if err := p.read(text); err != nil {
			return nil, err
		}
	}
	if !found {
		return nil, nil
	}
	if p.vcl() != vcl {
		return nil, fmt.Errorf("the generated VCL was edited: restore it, or remove its lines %q", mark)
	}
	return &p, nil
}

// read reads one line.
func (p *program) read(text string) error {
	if app, ok := strings.CutPrefix(text, "app "); ok && isApp(app) {
		p.apps = append(p.apps, app)
		return nil
	}
	if text == "writes purge" {
		p.purge = true
		return nil
	}
	m := pageForm.FindStringSubmatch(text)
	if m == nil {
		return fmt.Errorf("the generated VCL was edited: line %.100q", mark+text)
	}
	g := page{path: m[5], shared: m[2] == "ignore", esi: m[3] == "on"}
	if m[4] != "" {
		g.headers = strings.Split(m[4], ",")
	}
	var err error
	if g.valid, err = time.ParseDuration(m[1]); err == nil {
		err = g.check()
	}
	if err != nil {
		return fmt.Errorf("the generated VCL was edited: %w", err)
	}
	p.pages = append(p.pages, g)
	return nil
}

// isApp reports whether an address can be written into a VCL.
func isApp(app string) bool { return isTCP(app) || isSocket(app) }

// check refuses what cannot be written into a VCL.
func (g *page) check() error {
	if !isPath(g.path) || len(g.headers) > 100 || g.valid < leastValid || g.valid > mostValid {
		return fmt.Errorf("path %q, valid %v: want the path of a URL, and %v to %v", g.path, g.valid, leastValid, mostValid)
	}
	for _, h := range g.headers {
		if !isHeader(h) {
			return fmt.Errorf("header %q: want the name of a header", h)
		}
	}
	return nil
}

// add adds a page, or replaces that of the same path, in the order in which they
// are tried: exact paths, routes, then folders, long ones first.
func (p *program) add(g page) {
	p.pages = slices.DeleteFunc(p.pages, func(o page) bool { return o.path == g.path })
	p.pages = append(p.pages, g)
	slices.SortFunc(p.pages, func(a, b page) int {
		if a.rank() != b.rank() {
			return a.rank() - b.rank()
		}
		if len(a.path) != len(b.path) {
			return len(b.path) - len(a.path)
		}
		return strings.Compare(a.path, b.path)
	})
}

func (g page) rank() int {
	switch {
	case g.path == everything:
		return 3
	case g.folder():
		return 2
	case strings.Contains(g.path, "/:"):
		return 1
	}
	return 0
}

// everything is the folder of all paths.
const everything = "/*"

func (g page) folder() bool {
	return g.path != "/" && strings.HasSuffix(g.path, "/") && !strings.HasPrefix(g.path, "= ")
}

// placeholder stands for one segment of a path. Percent signs and leading dots are
// left out: nginx decodes them, and another location might answer such a URL.
const placeholder = "[^/?%.][^/?%]*"

// expression matches the URLs of a page, with their query.
func (g page) expression() string {
	path, exact := strings.CutPrefix(g.path, "= ")
	switch {
	case path == everything && !exact:
		return "^/"
	case g.folder():
		return "^" + regexp.QuoteMeta(path)
	}
	segments := strings.Split(path, "/")
	for i, s := range segments {
		if segments[i] = regexp.QuoteMeta(s); strings.HasPrefix(s, ":") && !exact {
			segments[i] = placeholder
			if _, ending, dotted := strings.Cut(s, "."); dotted {
				segments[i] += regexp.QuoteMeta("." + ending)
			}
		}
	}
	return "^" + strings.Join(segments, "/") + `(\?|$)`
}
