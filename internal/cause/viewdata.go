package cause

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// LinkSpeed is the bandwidth of a network of 1 Gbit/s in bytes per second: it
// converts saved bytes to seconds.
const LinkSpeed = 125e6

// FactsOf collects the facts of a topic by target and key.
func FactsOf[T any](v *View, topic fact.Topic[T]) map[string]T {
	out := map[string]T{}
	for f, x := range topic.In(v.Input.Facts) {
		out[f.Target+" "+f.Key] = x
	}
	return out
}

// Limit is a limit of the processes of a service; ok is false if it is unknown, or unlimited.
func (v *View) Limit(service, key string) (n float64, ok bool) {
	text, _ := fact.TopicLimit.Of(v.Input.Facts, service, key)
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil
}

// InnoDB is a number of InnoDB's status before and after the load; zero when
// unknown.
func (v *View) InnoDB(name string) fact.Moved {
	return FactsOf(v, fact.TopicInnoDB)[v.Self.Name+" "+name]
}

// Access are the rows of the access logs, none when their sensor is blind.
func (v *View) Access() []iikanji.Row {
	var out []iikanji.Row
	for _, p := range v.Input.Profiles {
		if p.Source == iikanji.Access && !v.Blind(iikanji.Access) {
			for _, r := range p.Rows {
				if r.Web != nil {
					out = append(out, r)
				}
			}
		}
	}
	return out
}

// A Logged is a row of an error log with its service.
type Logged struct {
	iikanji.Row
	Service string
	Output  bool // written by a program of the site, not by server software
}

// Logged are the rows of all error logs, none when their sensor is blind.
func (v *View) Logged() []Logged {
	var out []Logged
	for _, p := range v.Input.Profiles {
		if p.Source != iikanji.Errors || v.Blind(iikanji.Errors) {
			continue
		}
		for _, r := range p.Rows {
			if r.Log != nil {
				out = append(out, Logged{r, p.Target, p.Intake.Format == "text"})
			}
		}
	}
	return out
}

// OfKind are the rows of error logs of one kind, of any service for "".
func (v *View) OfKind(kind, service string) (rows []Logged, count float64) {
	for _, r := range v.Logged() {
		if r.Log.Kind == kind && (service == "" || r.Service == service) {
			rows = append(rows, r)
			count += float64(r.Count)
		}
	}
	return rows, count
}

// Evidence quotes a row of an error log.
func (r Logged) Evidence() iikanji.Evidence {
	return iikanji.Evidence{Source: r.Service + " log", Text: fmt.Sprintf("%s× %s (first at %s:%d)", Number(float64(r.Count)), Cut(r.Log.Message, 160), r.Example.File, r.Example.Line)}
}

// SameRoute reports whether two names are of the same route: readers fold
// identifiers under different names. Queries are ignored.
func SameRoute(a, b string) bool {
	a, _, _ = strings.Cut(a, "?")
	b, _, _ = strings.Cut(b, "?")
	x, y := strings.Split(a, "/"), strings.Split(b, "/")
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if x[i] != y[i] && !strings.HasPrefix(x[i], ":") && !strings.HasPrefix(y[i], ":") {
			return false
		}
	}
	return true
}

// Folds reports whether a route stands for several paths.
func Folds(route string) bool { return strings.ContainsAny(route, ":*") }

// RoundUp is the least power of two in KiB that holds a size, in nginx's
// notation.
func RoundUp(n iikanji.Bytes) string {
	k := iikanji.Bytes(1)
	for k<<10 < n {
		k *= 2
	}
	return fmt.Sprintf("%dk", k)
}
