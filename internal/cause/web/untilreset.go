package web

import (
	"fmt"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// Least repeated answers, and different sizes, with which equal sizes prove that the
// answers of a route did not change: a change of one of many contents changes its size.
const (
	fixedRepeats = 50
	fixedSizes   = 5
)

// keepUntilReset is the remedy of nginx's cache for a route whose answers do not change
// until the data is made anew: they are kept for a day, and dropped by the request that
// made the data of this run. stored: the answer is a value of the database to which no
// statement of the run wrote.
func keepUntilReset(v *cause.View, route string, s fact.Series, stored bool) []iikanji.Remedy {
	path, ok := onePath(route)
	reset := resetPath(v)
	if !ok || reset == "" || reset == path || !stored && !unchanged(s) {
		return nil
	}
	return cause.Proven(cause.Proven(v.NginxConf(fmt.Sprintf("keep them in nginx until %s makes the data anew, a day at most (tested-only)", reset),
		map[string]string{"act": "cache until reset", "path": path, "reset": reset, "cookies": "ignore"}), iikanji.SameForAll), iikanji.Unchanged)
}

// unchanged reports whether every URL of a route that was requested again had answers of
// one size, and there were enough of them, of different sizes.
func unchanged(s fact.Series) bool {
	return s.Again > 0 && s.Fixed == s.Again && s.FixedRepeats >= fixedRepeats && s.Sizes >= fixedSizes
}

// resetPath is the path of the one request that made the data of this run anew through
// the view's web server. It is empty if no request did, or requests of several paths.
func resetPath(v *cause.View) string {
	if v.Input.Target.Bench.Resets {
		return ""
	}
	path := ""
	for f := range fact.TopicReset.In(v.Input.Facts) {
		if f.Target != v.Self.Name {
			continue
		}
		_, p, ok := strings.Cut(f.Key, " ")
		if !ok || path != "" && p != path {
			return ""
		}
		path = p
	}
	return path
}
