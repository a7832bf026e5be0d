package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
)

// connect is what opening and closing a connection to the app costs both ends
// together, on a loopback. Seconds.
var connect = iikanji.Range{Lo: 20e-6, Hi: 120e-6}

// web102 reports proxying that opens a connection for each request: no
// keepalive in the upstream, or headers that close it.
func web102(v *view) []iikanji.Finding {
	http, ok := v.nginx()
	requests := v.requests()
	if !ok || requests == 0 {
		return nil
	}
	var out []iikanji.Finding
	told := map[string]bool{}
	for _, s := range servers(http) {
		for _, l := range append(locations(s), s) {
			for _, pass := range l.self().All("proxy_pass") {
				to, why := closes(http, l, pass)
				if why == "" || told[to] {
					continue
				}
				told[to] = true
				out = append(out, iikanji.Finding{Code: "WEB102", Where: to,
					Claim:    fmt.Sprintf("nginx opens a new connection to %s for each request: %s", to, why),
					Evidence: []iikanji.Evidence{{Source: "nginx -T", Text: place(pass) + ": proxy_pass " + pass.Arg(0)}, {Source: "requests", Text: people(requests) + " requests in the run"}},
					Gain:     iikanji.Range{Lo: round(requests * connect.Lo), Hi: round(requests * connect.Hi)},
					Remedies: []iikanji.Remedy{{Kind: "nginxconf", Target: "nginx", Says: "an upstream with keepalive, proxy_http_version 1.1 and an empty Connection header",
						Args: map[string]string{"act": "upstream keepalive", "to": to, "keepalive": "64"}}},
				})
			}
		}
	}
	return slices.DeleteFunc(out, func(f iikanji.Finding) bool { return !v.worth(f.Gain) })
}

// closes says why connections to a proxy_pass are not kept; "" when they are,
// or when the target is computed and nobody knows.
func closes(http iikanji.Directive, l level, pass iikanji.Directive) (to, why string) {
	_, rest, _ := strings.Cut(pass.Arg(0), "://")
	to, _, _ = strings.Cut(rest, "/")
	if strings.Contains(to, "$") {
		return to, ""
	}
	if strings.HasPrefix(rest, "unix:") {
		to = rest
	}
	kept := false
	for _, u := range http.All("upstream") {
		if u.Arg(0) == to {
			kept = len(u.All("keepalive")) > 0
		}
	}
	version := l.nearest("proxy_http_version")
	header := slices.ContainsFunc(l.nearest("proxy_set_header"), func(d iikanji.Directive) bool {
		return strings.EqualFold(d.Arg(0), "Connection") && !strings.EqualFold(d.Arg(1), "close")
	})
	switch {
	case !kept:
		return to, "no upstream with keepalive"
	case len(version) == 0 || version[0].Arg(0) != "1.1":
		return to, "HTTP/1.0 is spoken to it"
	case !header:
		return to, "the header Connection: close is sent to it"
	}
	return to, ""
}
