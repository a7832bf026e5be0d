package cause

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
)

// link is the bandwidth of a network of 1 Gbit/s in bytes per second: it
// converts saved bytes to seconds.
const link = 125e6

// known collects the facts of a topic whose values are JSON, by target and key.
// Unreadable values are left out: rules treat them as missing.
func known[T any](v *view, topic string) map[string]T {
	out := map[string]T{}
	for _, f := range v.in.Facts {
		var x T
		if f.Topic == topic && json.Unmarshal([]byte(f.Value), &x) == nil {
			out[f.Target+" "+f.Key] = x
		}
	}
	return out
}

// fact is the number in a fact; ok is false if there is none.
func (v *view) fact(target, topic, key string) (n float64, ok bool) {
	for _, f := range v.in.Facts {
		if f.Target == target && f.Topic == topic && f.Key == key {
			n, err := strconv.ParseFloat(f.Value, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// innodb is a number of InnoDB's status before and after the load; zero when
// unknown.
func (v *view) innodb(name string) iikanji.Moved {
	return known[iikanji.Moved](v, iikanji.TopicInnoDB)[v.self.Name+" "+name]
}

// access are the rows of the access logs, none when their sensor is blind.
func (v *view) access() []iikanji.Row {
	var out []iikanji.Row
	for _, p := range v.in.Profiles {
		if p.Source == iikanji.Access && !v.blind(iikanji.Access) {
			for _, r := range p.Rows {
				if r.Web != nil {
					out = append(out, r)
				}
			}
		}
	}
	return out
}

// A logged is a row of an error log with its service.
type logged struct {
	iikanji.Row
	service string
	output  bool // written by a program of the site, not by server software
}

// logged are the rows of all error logs, none when their sensor is blind.
func (v *view) logged() []logged {
	var out []logged
	for _, p := range v.in.Profiles {
		if p.Source != iikanji.Errors || v.blind(iikanji.Errors) {
			continue
		}
		for _, r := range p.Rows {
			if r.Log != nil {
				out = append(out, logged{r, p.Target, p.Intake.Format == "text"})
			}
		}
	}
	return out
}

// ofKind are the rows of error logs of one kind, of any service for "".
func (v *view) ofKind(kind, service string) (rows []logged, count float64) {
	for _, r := range v.logged() {
		if r.Log.Kind == kind && (service == "" || r.service == service) {
			rows = append(rows, r)
			count += float64(r.Count)
		}
	}
	return rows, count
}

// evidence quotes a row of an error log.
func (r logged) evidence() iikanji.Evidence {
	return iikanji.Evidence{Source: r.service + " log", Text: fmt.Sprintf("%s× %s (first at %s:%d)", people(float64(r.Count)), cut(r.Log.Message, 160), r.Example.File, r.Example.Line)}
}

// sameRoute reports whether two names are of the same route: readers fold
// identifiers under different names. Queries are ignored.
func sameRoute(a, b string) bool {
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

// folds reports whether a route stands for several paths.
func folds(route string) bool { return strings.ContainsAny(route, ":*") }

// roundUp is the least power of two in KiB that holds a size, in nginx's
// notation.
func roundUp(n iikanji.Bytes) string {
	k := iikanji.Bytes(1)
	for k<<10 < n {
		k *= 2
	}
	return fmt.Sprintf("%dk", k)
}
