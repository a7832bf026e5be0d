package cause

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
)

// passing are the directives that pass a request on.
var passing = []string{"proxy_pass", "fastcgi_pass", "uwsgi_pass", "scgi_pass", "grpc_pass"}

// pass is the directive of a level that passes requests on. These directives
// are not inherited.
func (l level) pass() (iikanji.Directive, bool) {
	for _, d := range l.self().Block {
		if slices.Contains(passing, d.Name) {
			return d, true
		}
	}
	return iikanji.Directive{}, false
}

// serving are the servers that can have answered the run's requests: the one
// that nginx selects for the address of the sampled answers. If that address is
// unknown, they are all servers that pass requests on; servers that only
// redirect are left out.
func (v *view) serving(http iikanji.Directive) []level {
	all := servers(http)
	if s, ok := taken(all, v.address()); ok {
		return []level{s}
	}
	return slices.DeleteFunc(all, func(s level) bool {
		return !slices.ContainsFunc(locations(s), func(l level) bool { _, ok := l.pass(); return ok })
	})
}

// address is the host and port of the sampled answers, "" when unknown.
func (v *view) address() string {
	for _, a := range known[iikanji.Answer](v, iikanji.TopicAnswer) {
		if a.Host != "" {
			return a.Host
		}
	}
	return ""
}

// taken is the server that nginx selects for a request whose Host is an
// address: among the servers that listen there, the one with that name, else
// the default server, else the first.
func taken(all []level, address string) (level, bool) {
	host, port, ok := splitHostPort(address)
	if !ok {
		if host, port = strings.Trim(address, "[]"), "80"; host == "" {
			return level{}, false
		}
	}
	var there []level
	for _, ip := range []string{host, "*"} { // an exact address has precedence over a wildcard
		if there = listening(all, ip, port); len(there) > 0 {
			break
		}
	}
	best, most := level{}, 0
	for i, s := range there {
		rank := s.named(host)
		switch {
		case rank > 0:
		case s.isDefault(port):
			rank = 2
		case i == 0:
			rank = 1
		}
		if rank > most {
			best, most = s, rank
		}
	}
	return best, most > 0
}

// isDefault reports whether a server is the default server of a port.
func (l level) isDefault(port string) bool {
	return slices.ContainsFunc(l.self().All("listen"), func(d iikanji.Directive) bool {
		_, p := listen(d.Arg(0))
		return p == port && (slices.Contains(d.Args, "default_server") || slices.Contains(d.Args, "default"))
	})
}

// listening are the servers that listen on a port of an address, "*" for those
// that listen on all addresses. Names are not resolved: for a name, all servers
// with the port count.
func listening(all []level, ip, port string) []level {
	var out []level
	_, err := netip.ParseAddr(ip)
	byName := ip != "*" && ip != "localhost" && err != nil
	for _, s := range all {
		on := s.self().All("listen")
		if len(on) == 0 {
			on = []iikanji.Directive{{Args: []string{"80"}}} // nginx's default when started as root
		}
		if slices.ContainsFunc(on, func(d iikanji.Directive) bool {
			at, p := listen(d.Arg(0))
			return p == port && (byName || sameHost(at, ip))
		}) {
			out = append(out, s)
		}
	}
	return out
}

// listen parses the argument of a listen directive: "80", "127.0.0.1:80",
// "[::]:80", "localhost". A unix socket has no port.
func listen(arg string) (ip, port string) {
	if strings.HasPrefix(arg, "unix:") {
		return arg, ""
	}
	if strings.Trim(arg, "0123456789") == "" {
		return "*", arg
	}
	ip, port, ok := splitHostPort(arg)
	if !ok {
		ip, port = strings.Trim(arg, "[]"), "80"
	}
	if ip == "0.0.0.0" || ip == "::" || ip == "" {
		ip = "*"
	}
	return ip, port
}

// splitHostPort splits "host:port" and "[host]:port"; ok is false where there is
// no port. (net.SplitHostPort is in a package that does I/O.)
func splitHostPort(s string) (host, port string, ok bool) {
	if rest, bracketed := strings.CutPrefix(s, "["); bracketed {
		host, port, ok = strings.Cut(rest, "]:")
	} else {
		host, port, ok = strings.Cut(s, ":")
	}
	if !ok || strings.ContainsAny(host, "[]") || strings.ContainsAny(port, ":[]") {
		return "", "", false
	}
	return host, port, true
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

// Ranks of a server's names for a host: the exact name, the longest name with a
// leading wildcard, the longest with a trailing wildcard, a regular expression.
// The default server and the first server rank below.
const (
	asExpression = 10
	asBehind     = 1_000
	asFront      = 10_000
	asItself     = 100_000
)

// named is the rank of the best of a server's names for a host, 0 for none.
func (l level) named(host string) int {
	best := 0
	for _, d := range l.self().All("server_name") {
		for _, name := range d.Args {
			rank := 0
			switch pattern, isRegexp := strings.CutPrefix(name, "~"); {
			case isRegexp:
				if re, err := regexp.Compile(pattern); err == nil && re.MatchString(host) {
					rank = asExpression
				}
			case strings.EqualFold(name, host), strings.HasPrefix(name, ".") && strings.EqualFold(name[1:], host):
				rank = asItself
			case strings.HasPrefix(name, "*.") && strings.HasSuffix(host, name[1:]), strings.HasPrefix(name, ".") && strings.HasSuffix(host, name):
				rank = asFront + len(name)
			case strings.HasSuffix(name, ".*") && strings.HasPrefix(host, name[:len(name)-1]):
				rank = asBehind + len(name)
			}
			best = max(best, rank)
		}
	}
	return best
}

// handled is the location that passes a path's request on, following the names
// in try_files and error_page. ok is false if nginx answers by itself, or if
// that is unknown.
func handled(server level, path string) (at level, by iikanji.Directive, ok bool) {
	l, ok := match(server, path)
	for range 4 { // links of a chain; a longer chain is a loop
		if !ok {
			break
		}
		if by, ok := l.pass(); ok {
			return l, by, true
		}
		to := ""
		for _, name := range []string{"error_page", "try_files"} { // try_files has precedence
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

// location finds a named location.
func location(server level, name string) (level, bool) {
	for _, l := range locations(server) {
		if l.self().Arg(0) == name {
			return l, true
		}
	}
	return level{}, false
}
