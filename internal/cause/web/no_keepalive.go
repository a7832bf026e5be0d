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

// connect is the cost in seconds of opening and closing a connection to the app
// on a loopback, for both ends together.
var connect = iikanji.Range{Lo: 20e-6, Hi: 120e-6}

// keptByDefault is the first version of nginx that by default keeps connections
// to a named upstream, uses HTTP/1.1 to it and sends no Connection header
// (nginx's change log, 24 March 2026).
var keptByDefault = [3]int{1, 29, 7}

// An opened is an upstream with a new connection for each request.
type opened struct {
	to, why string
	pass    *nginx.Directive
	header  string // the variable whose map has the value close, "" for none
	count   float64
}

var noKeepalive = cause.Declare(cause.PerNginx, findNoKeepalive,
	cause.Cause{Code: "WEB102", Title: "no upstream keep-alive", Of: iikanji.OfCPU, Relieves: cause.CPU,
		Line:     "nginx opens a new connection to the app for each request",
		Remedies: []cause.Way{cause.Plan("nginxconf", "upstream keepalive", iikanji.RoleWeb), cause.Person}})

// findNoKeepalive reports upstreams to which nginx opens a connection for each request:
// no connection is kept, or the request header closes it. Each upstream is
// charged with the requests of the routes that nginx passes to it.
func findNoKeepalive(v *cause.View) []iikanji.Finding {
	http, ok := nginxHTTP(v)
	if !ok {
		return nil
	}
	byDefault := nginxFrom(v, keptByDefault)
	var all []*opened
	for _, r := range passedOn(v) {
		for _, s := range serving(v, http) {
			a, ok := passed(v, s, r.route)
			if !ok {
				continue
			}
			if o := closes(http, a.Scope, a.By, byDefault); o.why != "" {
				i := slices.IndexFunc(all, func(x *opened) bool { return x.to == o.to })
				if i < 0 {
					i, all = len(all), append(all, &o)
				}
				all[i].count += r.count
			}
			break // other servers that may answer have no additional requests
		}
	}
	var out []iikanji.Finding
	for _, o := range all {
		if f := o.finding(v); v.Worth(f.Gain) {
			out = append(out, f)
		}
	}
	return out
}

// finding is the finding about an upstream.
func (o *opened) finding(v *cause.View) iikanji.Finding {
	f := iikanji.Finding{Code: "WEB102", Where: o.to,
		Claim: fmt.Sprintf("nginx opens a new connection to %s for each request: %s", o.to, o.why),
		Evidence: []iikanji.Evidence{{Source: "nginx -T", Text: place(o.pass) + ": " + o.pass.Name() + " " + o.pass.Arg(0)},
			{Source: "requests", Text: cause.Number(o.count) + " requests in the run were passed there"}},
		Gain: iikanji.Range{Lo: cause.Round(o.count * connect.Lo), Hi: cause.Round(o.count * connect.Hi)}}
	switch {
	case o.pass.Name() == "fastcgi_pass": // a process with a persistent connection serves only that one
		f.Gain.Lo = 0
		f.Remedies = []iikanji.Remedy{iikanji.ByPerson(v.Self.Name, "use an upstream with keepalive, for fewer connections than the app has processes, and fastcgi_keep_conn on")}
	case o.header != "":
		f.Remedies = []iikanji.Remedy{iikanji.ByPerson(v.Self.Name, "set the map of "+o.header+` to "" instead of close for requests without an upgrade`)}
	default:
		f.Remedies = v.NginxConf("use an upstream with keepalive, proxy_http_version 1.1 and an empty Connection header", map[string]string{"act": "upstream keepalive", "to": o.to, "keepalive": "64"})
	}
	return f
}

// A passedRoute is a route of the run, as "GET /a", with the number of requests that
// may have been passed on.
type passedRoute struct {
	route string
	count float64
}

// passedOn are the routes of the run, from the access log or, without one, from
// the load generator. If the log shows which requests were passed on, only
// those count.
func passedOn(v *cause.View) []passedRoute {
	answers := cause.FactsOf(v, fact.TopicAnswer)
	rows := v.Access()
	byUpstream := slices.ContainsFunc(rows, func(r iikanji.Row) bool { return r.Web.Upstreams > 0 })
	var out []passedRoute
	for _, r := range rows {
		route := r.Key
		if a, ok := answers[v.Self.Name+" "+r.Key]; ok { // a path without placeholders
			route = "GET " + a.URL
		}
		n := r.Count
		if byUpstream {
			n = r.Web.Upstreams
		}
		out = append(out, passedRoute{route, float64(n)})
	}
	if len(out) == 0 && v.Input.Run != nil && !v.Blind(iikanji.Access) {
		for _, s := range v.Input.Run.Steps {
			out = append(out, passedRoute{s.Step, float64(s.Count)})
		}
	}
	return out
}

// closes is the reason why connections to the upstream of a directive are not
// kept; why is "" if they are kept, or if that is unknown: the upstream is
// computed, or its protocol has no persistent connections.
func closes(http, l nginx.Scope, pass *nginx.Directive, byDefault bool) opened {
	o := opened{pass: pass}
	to := pass.Arg(0)
	if _, rest, ok := strings.Cut(to, "://"); ok {
		to = rest
	}
	if o.to = to; !strings.HasPrefix(to, "unix:") {
		o.to, _, _ = strings.Cut(to, "/")
	}
	kept := kept(http, o.to, byDefault)
	switch {
	case strings.Contains(o.to, "$"):
	case pass.Name() == "fastcgi_pass":
		asked := l.Effective("fastcgi_keep_conn")
		switch {
		case !kept:
			o.why = "no upstream with keepalive"
		case !byDefault && (len(asked) == 0 || asked[0].Arg(0) != "on"):
			o.why = "fastcgi_keep_conn is not on"
		}
	case pass.Name() != "proxy_pass":
	case !kept:
		o.why = "no upstream with keepalive"
	case version(l, byDefault) == "1.0":
		o.why = "HTTP/1.0 is used"
	default:
		o.why, o.header = sentClose(http, l, byDefault)
	}
	return o
}

// kept reports whether connections to an upstream are kept open. Without an
// upstream block, no version of nginx keeps them.
func kept(http nginx.Scope, to string, byDefault bool) bool {
	for _, u := range http.Blocks("upstream") {
		if u.Last().Arg(0) == to {
			n := u.Own("keepalive")
			return len(n) == 0 && byDefault || len(n) > 0 && n[0].Arg(0) != "0"
		}
	}
	return false
}

// version is the HTTP version used to an upstream.
func version(l nginx.Scope, byDefault bool) string {
	if set := l.Effective("proxy_http_version"); len(set) > 0 {
		return set[0].Arg(0)
	}
	if byDefault {
		return "1.1"
	}
	return "1.0"
}

// sentClose reports whether a level sends "Connection: close" to an upstream,
// and the map variable that does; why is "" if not.
func sentClose(http, l nginx.Scope, byDefault bool) (why, variable string) {
	const closed = "the header Connection: close is sent to it"
	for _, d := range l.Effective("proxy_set_header") {
		if !strings.EqualFold(d.Arg(0), "Connection") {
			continue
		}
		value, computed := usually(http, d.Arg(1))
		switch {
		case !strings.EqualFold(value, "close"):
			return "", ""
		case computed:
			return closed + " by " + d.Arg(1), d.Arg(1)
		}
		return closed, ""
	}
	if byDefault {
		return "", ""
	}
	return closed, ""
}

// usually is a value for a request without an upgrade: for a variable, the
// entry for "" in its map of $http_upgrade.
func usually(http nginx.Scope, value string) (_ string, computed bool) {
	for _, m := range http.Blocks("map") {
		if m.Last().Arg(1) != value || m.Last().Arg(0) != "$http_upgrade" {
			continue
		}
		out := ""
		for _, e := range m.Directives() {
			switch e.Name() {
			case "":
				return e.Arg(0), true
			case "default":
				out = e.Arg(0)
			}
		}
		return out, true
	}
	return value, false
}
