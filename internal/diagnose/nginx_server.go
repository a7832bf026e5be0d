package diagnose

import (
	"net"
	"regexp"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
)

// passing are the directives that hand a request on.
var passing = []string{"proxy_pass", "fastcgi_pass", "uwsgi_pass", "scgi_pass", "grpc_pass"}

// pass is the directive of a level that hands requests on. None is inherited.
func (l level) pass() (iikanji.Directive, bool) {
	for _, d := range l.self().Block {
		if slices.Contains(passing, d.Name) {
			return d, true
		}
	}
	return iikanji.Directive{}, false
}

// serving are the servers that can have answered the run's requests: the one
// that nginx takes for the address at which the run's answers were asked for.
// Where nobody knows that, they are all that pass requests on; one that only
// redirects is none of them.
func (v *view) serving(http iikanji.Directive) []level {
	all := servers(http)
	if s, ok := taken(all, v.address()); ok {
		return []level{s}
	}
	return slices.DeleteFunc(all, func(s level) bool {
		return !slices.ContainsFunc(locations(s), func(l level) bool { _, ok := l.pass(); return ok })
	})
}

// address is the host and port at which the answers were asked for, "" where
// nobody knows.
func (v *view) address() string {
	for _, a := range known[iikanji.Answer](v, iikanji.TopicAnswer) {
		if a.Host != "" {
			return a.Host
		}
	}
	return ""
}

// taken is the server that nginx takes for a request to an address that names
// it as its host: of those that listen there, the one with the name, the one
// that is marked as default, or the first.
func taken(all []level, address string) (level, bool) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		if host, port = strings.Trim(address, "[]"), "80"; host == "" {
			return level{}, false
		}
	}
	var there []level
	for _, ip := range []string{host, "*"} { // what names the address goes before what listens on all
		if there = listening(all, ip, port); len(there) > 0 {
			break
		}
	}
	for _, s := range there {
		if s.named(host) {
			return s, true
		}
	}
	for _, s := range there {
		if slices.ContainsFunc(s.self().All("listen"), func(d iikanji.Directive) bool {
			ip, p := listen(d.Arg(0))
			return p == port && (ip == "*" || sameHost(ip, host)) && (slices.Contains(d.Args, "default_server") || slices.Contains(d.Args, "default"))
		}) {
			return s, true
		}
	}
	if len(there) > 0 {
		return there[0], true
	}
	return level{}, false
}

// listening are the servers that listen on a port of an address, "*" for those
// that listen on all of them.
func listening(all []level, ip, port string) []level {
	var out []level
	for _, s := range all {
		on := s.self().All("listen")
		if len(on) == 0 {
			on = []iikanji.Directive{{Args: []string{"80"}}} // nginx's default, as root
		}
		if slices.ContainsFunc(on, func(d iikanji.Directive) bool {
			at, p := listen(d.Arg(0))
			return p == port && sameHost(at, ip)
		}) {
			out = append(out, s)
		}
	}
	return out
}

// listen reads what a listen directive says: "80", "127.0.0.1:80", "[::]:80",
// "localhost". A unix socket has no port.
func listen(arg string) (ip, port string) {
	if strings.HasPrefix(arg, "unix:") {
		return arg, ""
	}
	if strings.Trim(arg, "0123456789") == "" {
		return "*", arg
	}
	ip, port, err := net.SplitHostPort(arg)
	if err != nil {
		ip, port = strings.Trim(arg, "[]"), "80"
	}
	if ip == "0.0.0.0" || ip == "::" || ip == "" {
		ip = "*"
	}
	return ip, port
}

func sameHost(a, b string) bool {
	local := func(s string) string {
		if s == "localhost" {
			return "127.0.0.1"
		}
		return s
	}
	return local(a) == local(b)
}

// named says whether a server has a host as a name of its own.
func (l level) named(host string) bool {
	for _, d := range l.self().All("server_name") {
		for _, name := range d.Args {
			switch pattern, isRegexp := strings.CutPrefix(name, "~"); {
			case isRegexp:
				if re, err := regexp.Compile(pattern); err == nil && re.MatchString(host) {
					return true
				}
			case strings.EqualFold(name, host),
				strings.HasPrefix(name, "*.") && strings.HasSuffix(host, name[1:]),
				strings.HasSuffix(name, ".*") && strings.HasPrefix(host, name[:len(name)-1]):
				return true
			}
		}
	}
	return false
}

// handled is where a path's request is handed on from, through the names that
// try_files and error_page of its location lead to. ok is false where nginx
// answers by itself, or nobody knows.
func handled(server level, path string) (at level, by iikanji.Directive, ok bool) {
	l, ok := match(server, path)
	for range 4 { // of a chain; a longer one is a loop
		if !ok {
			break
		}
		if by, ok := l.pass(); ok {
			return l, by, true
		}
		to := ""
		for _, name := range []string{"error_page", "try_files"} { // the latter goes first
			if d := l.self().All(name); len(d) > 0 {
				to = d[0].Arg(len(d[0].Args) - 1)
			}
		}
		switch {
		case strings.HasPrefix(to, "@"):
			l, ok = location(server, to)
		case strings.HasPrefix(to, "/"):
			to, _, _ = strings.Cut(to, "?")
			l, ok = match(server, to)
		default:
			ok = false
		}
	}
	return level{}, iikanji.Directive{}, false
}

// location finds a named one.
func location(server level, name string) (level, bool) {
	for _, l := range locations(server) {
		if l.self().Arg(0) == name {
			return l, true
		}
	}
	return level{}, false
}
