package topology

import (
	"fmt"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

const (
	// leastStatements is how many statements a request must send over the network, and
	// leastDistance how long they must wait for it together: a few round trips cost less than
	// other machines give.
	leastStatements = 5
	leastDistance   = 2 * time.Millisecond
)

var distance = cause.Declare(cause.PerRun, findDistance,
	cause.Cause{Code: "NET102", Title: "price of distance", Of: iikanji.OfCPU, Relieves: cause.Pool,
		Line:     "each statement waits for the network, and a request sends many",
		Remedies: []cause.Way{cause.Patch, cause.Person}})

// findDistance reports databases on another machine than their clients to which a request
// sends many statements: each waits for a round trip.
func findDistance(v *cause.View) []iikanji.Finding {
	requests := v.Requests()
	if requests == 0 {
		return nil
	}
	var out []iikanji.Finding
	for _, t := range trips(v) {
		n := statements(v, t.server)
		if v.Input.Role(t.server) != iikanji.RoleDatabase || t.RoundTrip <= 0 {
			continue
		}
		each := n / requests
		price := time.Duration(each * float64(t.RoundTrip))
		if each < leastStatements || price < leastDistance {
			continue
		}
		out = append(out, iikanji.Finding{Code: "NET102", Where: t.client,
			Claim: fmt.Sprintf("%.0f statements a request go from %s to %s, %v each way and back: %v a request", each, t.client, t.server,
				t.RoundTrip.Round(10*time.Microsecond), price.Round(100*time.Microsecond)),
			Evidence: []iikanji.Evidence{{Source: "connections", Text: fmt.Sprintf("%s: round trip %v, least %v", cause.Plural(float64(t.Connections), "connection"), t.RoundTrip, t.Least)},
				{Source: "statements", Text: fmt.Sprintf("%s statements, %s requests", cause.Number(n), cause.Number(requests))}},
			Gain: cause.Between(n*t.RoundTrip.Seconds(), 0.3, 1),
			Remedies: []iikanji.Remedy{{Kind: "patch", Target: t.client, Says: "send fewer statements a request: read the rows of a loop at once"},
				iikanji.ByPerson(t.server, "run "+t.client+" and "+t.server+" on one machine")}})
	}
	return out
}
