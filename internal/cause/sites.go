package cause

import (
	"maps"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// Sends reports whether a site sends a digest. A statement with a part that is not
// constant stands for every digest that agrees with the rest.
func (s Site) Sends(d Digest) bool {
	for _, p := range s.Places {
		if slices.Contains(p.Digests, d.Query.Digest) || slices.ContainsFunc(p.Statements, func(sql string) bool { return built(sql, d.Query.Fingerprint) }) {
			return true
		}
	}
	return false
}

// builtPart stands in the text of a statement for a part that is built at run time.
const builtPart = "\ufffd"

// built reports whether a fingerprint may be that of a statement with one built part:
// it begins as the statement does before the part, and ends as it does behind it. A
// statement whose end is built as well must not be sorted or cut.
func built(sql, fingerprint string) bool {
	plain := func(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }
	head, tail, holed := strings.Cut(sql, builtPart)
	rest, ok := strings.CutPrefix(plain(fingerprint), plain(head)+" ")
	if !holed || !ok || plain(head) == "" || strings.Contains(tail, builtPart) {
		return false
	}
	if plain(tail) == "" {
		return !strings.Contains(rest, " order by ") && !strings.Contains(rest, " limit ")
	}
	return strings.HasSuffix(rest, " "+plain(tail))
}

// Reaches reports whether a route's handler reaches a function.
func (v *View) Reaches(service, route, function string) bool {
	for f, h := range fact.TopicHandler.In(v.Input.Facts) {
		if f.Target == service && sameHandled(f.Key, route) && (h.Func == function || slices.Contains(h.Reaches, function)) {
			return true
		}
	}
	return false
}

// OnlyResets reports whether all handlers that reach a function are of requests that make the
// site's data anew, before the load: what they do costs the load nothing.
func (v *View) OnlyResets(service, function string) bool {
	found := false
	for f, h := range fact.TopicHandler.In(v.Input.Facts) {
		if f.Target != service || h.Func != function && !slices.Contains(h.Reaches, function) {
			continue
		}
		found = true
		if !v.resets(f.Key) {
			return false
		}
	}
	return found
}

// resets reports whether a registered route is one that makes the site's data anew.
func (v *View) resets(registered string) bool {
	for f := range fact.TopicReset.In(v.Input.Facts) {
		if sameHandled(registered, f.Key) {
			return true
		}
	}
	return false
}

// sameHandled reports whether a registered route and one of an access log are the
// same; "ANY" is every method.
func sameHandled(registered, logged string) bool {
	if path, any := strings.CutPrefix(registered, "ANY "); any {
		_, seen, _ := strings.Cut(logged, " ")
		return SameRoute("- "+path, "- "+seen)
	}
	return SameRoute(registered, logged)
}

// Decode reads the value of a fact of a topic.
func Decode[T any](f iikanji.Fact, topic fact.Topic[T]) (x T, ok bool) {
	if !topic.Is(f) {
		return x, false
	}
	x, err := topic.Value(f)
	return x, err == nil
}

// A Site is the places of one lever in one function of an app.
type Site struct {
	Service string
	Lever   Lever
	Places  []fact.CodePlace
}

// leverSites groups the places in the facts by service, lever and function.
func (v *View) leverSites() []Site {
	sites := map[string]*Site{}
	levers := map[iikanji.Code]Lever{}
	for _, l := range v.Input.Levers {
		levers[l.Code] = l
	}
	for _, f := range v.Input.Facts {
		p, ok := Decode(f, fact.TopicCode)
		lever, known := levers[p.Code]
		if !ok || !known {
			continue
		}
		key := strings.Join([]string{f.Target, string(p.Code), p.File, p.Func}, "\x00")
		if p.Knob() { // each knob is a decision of its own
			key += "\x00" + p.What
		}
		if sites[key] == nil {
			sites[key] = &Site{Service: f.Target, Lever: lever}
		}
		sites[key].Places = append(sites[key].Places, p)
	}
	var out []Site
	for _, key := range slices.Sorted(maps.Keys(sites)) {
		out = append(out, *sites[key])
	}
	return out
}

// At is the first place of a site.
func (s Site) At() fact.CodePlace { return s.Places[0] }
