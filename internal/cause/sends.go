package cause

import (
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// A SentStatement is a statement in the source of an app.
type SentStatement struct {
	Service, Place string
	fact.SentStatement
}

// Sends are the statements in the source of the apps.
func (v *View) Sends() []SentStatement {
	var out []SentStatement
	for _, f := range v.Input.Facts {
		if s, ok := Decode(f, fact.TopicSends); ok {
			out = append(out, SentStatement{f.Target, f.Key, s})
		}
	}
	return out
}

// SentBy are the digests that the handler of a route may send, by the source.
func (v *View) SentBy(route string) map[string]bool {
	out := map[string]bool{}
	for _, s := range v.Sends() {
		if s.Func != "" && v.Reaches(s.Service, route, s.Func) {
			out[s.Digest] = true
		}
	}
	return out
}

// Routed reports whether the handler of any route reaches a function of an app.
func (v *View) Routed(service, function string) bool {
	return slices.ContainsFunc(v.Input.Facts, func(f iikanji.Fact) bool {
		h, ok := Decode(f, fact.TopicHandler)
		return ok && f.Target == service && (h.Func == function || slices.Contains(h.Reaches, function))
	})
}

// RoutesSending are the routes of the run that send a digest: those that the times of
// requests and statements prove, else those whose handlers reach it.
func (v *View) RoutesSending(d Digest) []iikanji.Row {
	var out []iikanji.Row
	for _, r := range v.Access() {
		if slices.ContainsFunc(d.Senders, func(f Sender) bool { return f.Route == r.Key }) {
			out = append(out, r)
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, s := range v.Sends() {
		if s.Digest != d.Query.Digest || s.Func == "" {
			continue
		}
		for _, r := range v.Access() {
			if v.Reaches(s.Service, r.Key, s.Func) && !slices.ContainsFunc(out, func(o iikanji.Row) bool { return o.Key == r.Key }) {
				out = append(out, r)
			}
		}
	}
	return out
}

// Answered is the answer of a route to a request after the run, from any web server
// of the view.
func (v *View) Answered(route string) (fact.Answer, bool) {
	for _, f := range v.Input.Facts {
		if f.Key == route {
			if a, ok := Decode(f, fact.TopicAnswer); ok {
				return a, true
			}
		}
	}
	return fact.Answer{}, false
}

// IsGet reports whether a route is of the method GET.
func IsGet(route string) bool { return strings.HasPrefix(route, "GET ") }
