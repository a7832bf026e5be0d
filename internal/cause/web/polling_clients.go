package web

import (
	"fmt"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/site/fact"
)

const (
	// leastPolling is the share of all requests from which a route that tells its clients to
	// come again is a finding.
	leastPolling = 0.2
	// soonAgain is the longest time after which clients come again soon.
	soonAgain = 2 * time.Second
)

var pollingClients = cause.Declare(cause.PerWeb, findPollingClients,
	cause.Cause{Code: "WEB119", Title: "polling clients", Of: iikanji.OfCPU, Relieves: cause.AnyLimit,
		Line:     "an answer tells its clients to ask again soon, and most requests are of that",
		Remedies: []cause.Way{cause.Patch}})

// findPollingClients reports routes whose answers tell clients when to ask again, if these
// requests are a large part of all. Half of them is what twice the time would save.
func findPollingClients(v *cause.View) []iikanji.Finding {
	if v.Blind(iikanji.Access) {
		return nil
	}
	rows := v.Access()
	all := requestsIn(rows)
	var out []iikanji.Finding
	for _, r := range rows {
		a, ok := fact.TopicAnswer.Of(v.Input.Facts, v.Self.Name, r.Key)
		share := float64(r.Count) / max(all, 1)
		if !ok || a.Again == 0 || a.Again > soonAgain || share < leastPolling {
			continue
		}
		out = append(out, iikanji.Finding{Code: "WEB119", Where: r.Key, Gain: cause.Between(cause.UsedBy(v.Input.Run, "")*share, 0, 0.5),
			Claim:    fmt.Sprintf("%.0f %% of the requests are %s, whose answer tells its clients to ask again after %v", 100*share, r.Key, a.Again),
			Evidence: []iikanji.Evidence{{Source: "answer", Text: fmt.Sprintf("%s: %s requests, %.0f ms each", a.URL, cause.Number(float64(r.Count)), 1000*r.Mean.Seconds())}},
			Remedies: v.Patch("have clients ask again later where the rules allow it, hold a request until there is news, or send events (text/event-stream) where clients take them", nil)})
	}
	return out
}
