package cause

import (
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
)

// A sent is a statement in the source of an app.
type sent struct {
	service, place string
	iikanji.SentStatement
}

// sends are the statements in the source of the apps.
func (v *view) sends() []sent {
	var out []sent
	for _, f := range v.in.Facts {
		if s, ok := decode[iikanji.SentStatement](f, iikanji.TopicSends); ok {
			out = append(out, sent{f.Target, f.Key, s})
		}
	}
	return out
}

// sentBy are the digests that the handler of a route may send, by the source.
func (v *view) sentBy(route string) map[string]bool {
	out := map[string]bool{}
	for _, s := range v.sends() {
		if s.Func != "" && v.reaches(s.service, route, s.Func) {
			out[s.Digest] = true
		}
	}
	return out
}

// routed reports whether the handler of any route reaches a function of an app.
func (v *view) routed(service, function string) bool {
	return slices.ContainsFunc(v.in.Facts, func(f iikanji.Fact) bool {
		h, ok := decode[iikanji.Handler](f, iikanji.TopicHandler)
		return ok && f.Target == service && (h.Func == function || slices.Contains(h.Reaches, function))
	})
}

// routesSending are the routes of the run that send a digest: those that the times of
// requests and statements prove, else those whose handlers reach it.
func (v *view) routesSending(d digest) []iikanji.Row {
	var out []iikanji.Row
	for _, r := range v.access() {
		if slices.ContainsFunc(d.senders, func(f fit) bool { return f.route == r.Key }) {
			out = append(out, r)
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, s := range v.sends() {
		if s.Digest != d.Query.Digest || s.Func == "" {
			continue
		}
		for _, r := range v.access() {
			if v.reaches(s.service, r.Key, s.Func) && !slices.ContainsFunc(out, func(o iikanji.Row) bool { return o.Key == r.Key }) {
				out = append(out, r)
			}
		}
	}
	return out
}

// answered is the answer of a route to a request after the run, from any web server
// of the view.
func (v *view) answered(route string) (iikanji.Answer, bool) {
	for _, f := range v.in.Facts {
		if f.Key == route {
			if a, ok := decode[iikanji.Answer](f, iikanji.TopicAnswer); ok {
				return a, true
			}
		}
	}
	return iikanji.Answer{}, false
}

// isGet reports whether a route is of the method GET.
func isGet(route string) bool { return strings.HasPrefix(route, "GET ") }
