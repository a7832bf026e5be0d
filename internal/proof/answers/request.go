package answers

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// A Request is a GET request.
type Request struct {
	Route  string      // requests of one route have answers of one form
	Path   string      // path and query
	Header [][2]string // name and value
	Border bool        // not recorded, but made from a recorded one
}

// Choose draws up to n different requests, as evenly over their routes as there are
// requests, in an order in which the routes take turns: the first part of the result
// has all routes too.
func Choose(recorded []Request, seed uint64, n int) []Request {
	rng := rand.New(rand.NewPCG(seed, uint64(len(recorded))))
	byRoute, seen := map[string][]Request{}, map[string]bool{}
	var routes []string
	for _, r := range recorded {
		if r.Route == "" {
			r.Route = routeOf(r.Path)
		}
		if key := r.key(); seen[key] || unsafe(r.Path) {
			continue
		} else {
			seen[key] = true
		}
		if byRoute[r.Route] == nil {
			routes = append(routes, r.Route)
		}
		byRoute[r.Route] = append(byRoute[r.Route], r)
	}
	slices.Sort(routes)
	for _, route := range routes {
		of := byRoute[route]
		rng.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
	}
	var out []Request
	for i := 0; len(out) < n; i++ {
		had := len(out)
		for _, route := range routes {
			if i < len(byRoute[route]) && len(out) < n {
				out = append(out, byRoute[route][i])
			}
		}
		if len(out) == had {
			break
		}
	}
	return out
}

// key identifies a request.
func (r Request) key() string {
	var b strings.Builder
	b.WriteString(r.Path)
	for _, f := range r.Header {
		b.WriteString("\x00" + f[0] + ":" + f[1])
	}
	return b.String()
}

// unsafeWords are words of paths that change the site's state although the method is
// GET.
var unsafeWords = []string{"initialize", "logout", "signout", "delete", "reset"}

// unsafe reports whether a path names an act.
func unsafe(path string) bool {
	path, _, _ = strings.Cut(strings.ToLower(path), "?")
	for part := range strings.SplitSeq(path, "/") {
		if slices.Contains(unsafeWords, part) {
			return true
		}
	}
	return false
}

// routeOf is a path without values: parts with a digit become a colon.
func routeOf(path string) string {
	path, _, _ = strings.Cut(path, "?")
	parts := strings.Split(path, "/")
	for i, p := range parts {
		if strings.ContainsAny(p, "0123456789") {
			parts[i] = ":"
		}
	}
	return strings.Join(parts, "/")
}
