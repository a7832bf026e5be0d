package discover

import (
	"cmp"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/nginx"
)

// siteURL corrects the URL of the site by the configuration of its web server: the port
// where the server only redirects to TLS, the scheme where it answers over TLS only, and
// the name of the site where a request by the address alone reaches another server block.
func (s *search) siteURL(svc *service, site *server) {
	u, err := url.Parse(s.URL)
	if err != nil {
		return
	}
	if port := site.behindRedirect(); port != "" {
		s.note(svc, "the site is at port "+port, Sure, "port %s only redirects to https", site.port)
		site.port = port
		u.Host = net.JoinHostPort(u.Hostname(), port)
		s.listens(svc, u.Host)
	}
	if u.Scheme == "http" && site.onlyTLS() {
		u.Scheme = "https"
		u.Host = strings.TrimSuffix(u.Host, ":443")
		s.note(svc, "it answers over TLS", Sure, "all its listen directives at port %s have ssl", site.port)
	}
	if ip := net.ParseIP(u.Hostname()); ip != nil || u.Hostname() == "localhost" {
		if name := site.hiddenName(); name != "" {
			if u.Host = name; u.Scheme == "http" && site.port != "80" || u.Scheme == "https" && site.port != "443" {
				u.Host = net.JoinHostPort(name, site.port)
			}
			s.note(svc, "the site's name is "+name, Likely, "requests by the address alone reach another server block, which serves nothing")
		}
	}
	if net.ParseIP(u.Hostname()) == nil && u.Hostname() != "localhost" {
		site.name = u.Hostname()
	}
	if names := site.sites(); len(names) > 1 {
		s.todo("service %s has several sites at port %s (%s): url is the address of %s. Correct it if the benchmarker loads another one, and remove the services that are no part of it", svc.Name, site.port, strings.Join(names, ", "), names[0])
	}
	s.others = slices.DeleteFunc(s.others, func(other string) bool { return !site.another(other) })
	s.URL = u.String()
	s.out.File.URL = s.URL
}

// another reports whether a server block passes requests on at the port of a URL that is
// none of this port. The same site often listens with and without TLS, and by IPv6.
func (v *server) another(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return true
	}
	own := v.servers()
	there := &server{conf: v.conf, port: cmp.Or(u.Port(), "80")}
	return slices.ContainsFunc(there.servers(), func(srv nginx.Place) bool {
		return there.serves(srv) && there.passesOn(srv) && !slices.ContainsFunc(own, func(o nginx.Place) bool { return o.Directive == srv.Directive })
	})
}

// behindRedirect is the port with TLS of the server blocks that pass requests on, where
// those of this port only redirect to https; else "".
func (v *server) behindRedirect() string {
	redirects := false
	for _, srv := range v.servers() {
		if v.passesOn(srv) {
			return ""
		}
		v.conf.Walk(srv.Block, nil, func(p nginx.Place) {
			redirects = redirects || p.Name() == "return" && slices.ContainsFunc(p.Args(), func(a string) bool { return strings.HasPrefix(a, "https://") })
		})
	}
	if !redirects {
		return ""
	}
	for _, srv := range v.conf.Find("server", "http") {
		for _, l := range v.conf.Get(srv.Directive, "listen") {
			a := l.Arg(0)
			if port := a[strings.LastIndexByte(a, ':')+1:]; v.passesOn(srv) && l.Has("ssl") && strings.Trim(port, "0123456789") == "" {
				return port
			}
		}
	}
	return ""
}

// passesOn reports whether a server block passes requests to other servers.
func (v *server) passesOn(srv nginx.Place) bool {
	return len(v.passing(srv)) > 0
}

// onlyTLS reports whether all sockets at the port expect TLS.
func (v *server) onlyTLS() bool {
	found := false
	for _, srv := range v.servers() {
		if !v.serves(srv) {
			continue
		}
		old := slices.ContainsFunc(v.conf.Get(srv.Directive, "ssl"), func(d nginx.Place) bool { return d.Arg(0) == "on" })
		for _, l := range v.conf.Get(srv.Directive, "listen") {
			if !v.listensAt(l) {
				continue
			}
			if found = true; !old && !l.Has("ssl") && !l.Has("quic") {
				return false
			}
		}
	}
	return found
}

// hiddenName is the name by which the server block of the site is reached where the
// default server of the port serves nothing. It is "" where the default server serves
// something, and where no plain name is known.
func (v *server) hiddenName() string {
	var all []nginx.Place
	first := 0
	for _, srv := range v.servers() {
		if !v.serves(srv) {
			continue
		}
		if slices.ContainsFunc(v.conf.Get(srv.Directive, "listen"), func(l nginx.Place) bool {
			return v.listensAt(l) && (l.Has("default_server") || l.Has("default"))
		}) {
			first = len(all)
		}
		all = append(all, srv)
	}
	if len(all) < 2 || v.content(all[first]) {
		return ""
	}
	for _, srv := range all {
		if !v.content(srv) {
			continue
		}
		for _, names := range v.conf.Get(srv.Directive, "server_name") {
			for _, name := range names.Args() {
				if name != "" && name != "_" && !strings.ContainsAny(name, "~*$") && !strings.HasPrefix(name, ".") {
					return name
				}
			}
		}
	}
	return ""
}

// content reports whether a server block passes requests on or has files of its own.
func (v *server) content(srv nginx.Place) bool {
	has := v.passesOn(srv)
	v.conf.Walk(srv.Block, nil, func(p nginx.Place) { has = has || p.Name() == "root" || p.Name() == "alias" })
	return has
}
