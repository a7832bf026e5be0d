package web

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/lang/nginx"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// nginxHTTP is the http block of the configuration among the facts.
func nginxHTTP(v *cause.View) (nginx.Scope, bool) {
	for _, conf := range fact.TopicNginx.In(v.Input.Facts) {
		return conf.HTTP()
	}
	return nginx.Scope{}, false
}

// serving are the servers that can have answered the run's requests: the one that
// nginx selects for the address of the sampled answers. If that is unknown, they are
// all servers that pass requests on; servers that only redirect are left out.
func serving(v *cause.View, http nginx.Scope) []nginx.Scope {
	if to := address(v); to != "" {
		if s, err := http.Config.Server(to, to); err == nil {
			return []nginx.Scope{s}
		}
	}
	return slices.DeleteFunc(http.Blocks("server"), func(s nginx.Scope) bool {
		return !slices.ContainsFunc(s.Locations(), func(l nginx.Scope) bool { return l.Pass() != nil })
	})
}

// address is the host and port of the sampled answers, "" when unknown.
func address(v *cause.View) string {
	for _, a := range cause.FactsOf(v, fact.TopicAnswer) {
		if a.Host != "" {
			return a.Host
		}
	}
	return ""
}

// answeredBy is what answers the requests of a route ("GET /a") at a server. The headers
// of the requests are not known.
func answeredBy(v *cause.View, server nginx.Scope, route string) (nginx.Answer, error) {
	method, uri, _ := strings.Cut(route, " ")
	return server.Answer(nginx.Request{Address: address(v), Host: address(v), Method: method, URI: uri})
}

// passed is the answer to the requests of a route if the server passes them on; ok is
// false if nginx answers by itself, or if that is unknown.
func passed(v *cause.View, server nginx.Scope, route string) (a nginx.Answer, ok bool) {
	a, err := answeredBy(v, server, route)
	return a, err == nil && a.By != nil && a.By == a.Pass()
}

// place is the file and line of a directive.
func place(d *nginx.Directive) string { return fmt.Sprintf("%s:%d", d.File, d.Line) }

// nginxFrom reports whether nginx is known to have a version or a later one.
// Forks have other version numbers.
func nginxFrom(v *cause.View, least [3]int) bool {
	for _, version := range fact.TopicNginxVersion.In(v.Input.Facts) {
		var is [3]int
		name, number, _ := strings.Cut(version, "/")
		if n, _ := fmt.Sscanf(number, "%d.%d.%d", &is[0], &is[1], &is[2]); n < 3 || iikanji.Engine(name) != iikanji.EngineNginx && name != "openresty" {
			return false
		}
		return slices.Compare(is[:], least[:]) >= 0
	}
	return false
}
