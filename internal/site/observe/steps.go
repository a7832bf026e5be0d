package observe

import (
	"fmt"
	"math"
	"strings"

	"github.com/iikanji/iikanji"
)

// stepFlight is how many requests of a step may be in flight at either end of the
// load, in addition to those that the end of the load cut off.
const stepFlight = 10

// A tallied compares the requests that were sent of some steps with their lines in
// the access log.
type tallied struct {
	name       string // of the first of the steps
	route      string // route in a step's name; "" for lines without a step
	sent, seen float64
	gone       float64 // sent, and given up before nginx may have taken it
	cut        float64
}

// proveSteps compares the rows of an access log with the steps of a run: equal
// totals prove little about a route that is not logged, or that had few requests.
// It returns how many requests were sent, without those that a client gave up on
// and that the log does not have. A step that is not named by its route cannot be
// matched with lines: there is no proof then.
func proveSteps(p *iikanji.Profile, run *iikanji.Run) (sent float64, proofs []Proof) {
	groups := groupSteps(run.Steps)
	byRoute := len(groups) > 1
	for _, r := range p.Rows {
		groups[ownerOf(groups, r.Key)].seen += float64(r.Count)
	}
	flight := float64(run.Load.PeakConns + run.Load.DialFaults)
	worst, over, n := Proof{}, 0.0, 0
	for i, g := range groups {
		if i == 0 && g.sent > 0 {
			byRoute = false
		}
		if missing := g.sent - g.seen; missing > 0 {
			g.sent -= min(missing, g.gone)
		}
		sent += g.sent
		if g.sent == 0 && g.seen == 0 {
			continue
		}
		n++
		room := min(flight, 2*g.cut+stepFlight+float64(run.Load.DialFaults))
		a := alike(g.name, g.seen, "sent", g.sent, room)
		a.Holds = math.Abs(g.seen-g.sent) <= countSlack*g.sent+room // few may be none
		if by := math.Abs(g.seen-g.sent) - countSlack*g.sent - room; !a.Holds && by > over {
			worst, over = a, by
		}
	}
	if !byRoute {
		return sent, nil
	}
	if over > 0 {
		return sent, []Proof{worst}
	}
	return sent, []Proof{{fmt.Sprintf("each of %d steps has its lines", n), "a difference of 1 % or of the requests in flight", true}}
}

// groupSteps puts steps of one route together. The first group has the steps, and
// later the lines, without a route.
func groupSteps(steps []iikanji.StepStat) []*tallied {
	groups := []*tallied{{name: "requests of no step"}}
	for _, st := range steps {
		route := stepRoute(st.Step)
		g := groups[0]
		if route != "" {
			at := 1
			for at < len(groups) && groups[at].route != route {
				at++
			}
			if at == len(groups) {
				groups = append(groups, &tallied{name: st.Step, route: route})
			}
			g = groups[at]
		}
		g.sent += float64(st.Count)
		g.gone += float64(st.Timeouts + st.QuietTimeouts)
		g.cut += float64(st.Cut)
	}
	return groups
}

// stepRoute is the route in the name of a step, as in "GET /a/:id (second page)";
// "" when there is none.
func stepRoute(name string) string {
	f := strings.Fields(name)
	if len(f) < 2 || !strings.HasPrefix(f[1], "/") {
		return ""
	}
	path, _, _ := strings.Cut(f[1], "?")
	return f[0] + " " + path
}

// ownerOf finds the group whose route matches a row with the most words; 0 if no
// group does.
func ownerOf(groups []*tallied, row string) int {
	best, most := 0, -1
	for i, g := range groups {
		if i == 0 {
			continue
		}
		if words, ok := alikeRoutes(g.route, stepRoute(row)); ok && words > most {
			best, most = i, words
		}
	}
	return best
}

// alikeRoutes reports whether two names may mean the same route, and how many
// words they share. Both replace identifiers, each in its own way (":id"), and a
// step may end in "*" for all paths below it.
func alikeRoutes(step, row string) (words int, ok bool) {
	a, b := strings.Split(step, "/"), strings.Split(row, "/")
	for i, s := range a {
		if s == "*" && i == len(a)-1 && len(b) >= len(a) {
			return words, true
		}
		switch {
		case i >= len(b):
			return 0, false
		case s == b[i]:
			words++
		case !strings.HasPrefix(s, ":") && s != "*" && !strings.HasPrefix(b[i], ":"):
			return 0, false
		}
	}
	return words, len(a) == len(b)
}
