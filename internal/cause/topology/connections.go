package topology

import (
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// leastOpened is how many connections to another machine a request must open.
const leastOpened = 0.1

// connectTrips is how many round trips a connection costs before its first statement: one of
// TCP, and two of the login of a database.
const connectTrips = 3

var farConnections = cause.Declare(cause.PerRun, findFarConnections,
	cause.Cause{Code: "NET103", Title: "connections between hosts made per request", Of: iikanji.OfCPU, Relieves: cause.CPU | cause.Pool,
		Line:     "connections to another machine are opened again and again, perhaps with a lookup of names",
		Remedies: []cause.Way{cause.Patch, cause.Person}})

// findFarConnections reports databases on another machine to which connections are opened
// while requests come.
func findFarConnections(v *cause.View) []iikanji.Finding {
	requests := v.Requests()
	if requests == 0 {
		return nil
	}
	var out []iikanji.Finding
	for _, t := range trips(v) {
		opened, _ := fact.TopicStatus.Of(v.Input.Facts, t.server, "Connections")
		if v.Input.Role(t.server) != iikanji.RoleDatabase || opened < leastOpened*requests {
			continue
		}
		f := iikanji.Finding{Code: "NET103", Where: t.client,
			Claim: fmt.Sprintf("%s opened %s connections to %s on another machine in %s requests", t.client, cause.Number(opened), t.server, cause.Number(requests)),
			Evidence: []iikanji.Evidence{{Source: "status", Text: fmt.Sprintf("connections of %s grew by %s", t.server, cause.Number(opened))},
				{Source: "connections", Text: fmt.Sprintf("a round trip takes %v, a connection with its login %d of them", t.RoundTrip, connectTrips)}},
			Gain:     cause.Between(opened*connectTrips*t.RoundTrip.Seconds(), 0.5, 1),
			Remedies: []iikanji.Remedy{{Kind: "patch", Target: t.client, Says: "keep its connections: as many idle ones in the pool as it may open"}}}
		if skip, known := fact.TopicVariable.Of(v.Input.Facts, t.server, "skip_name_resolve"); known && (skip == "OFF" || skip == "0") {
			f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "variable", Text: t.server + " looks the name of each client's address up: skip_name_resolve is off"})
			f.Remedies = append(f.Remedies, iikanji.ByPerson(t.server, "set skip_name_resolve = ON, after no account has a host name"))
		}
		out = append(out, f)
	}
	return out
}
