package diagnose

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
)

// answering is the share of the time of a request alone that its refusal saves:
// nginx still reads the request and sends a short answer.
var answering = iikanji.Range{Lo: 0.5, Hi: 1}

// web112 reports requests that were answered although the site's rules permit to
// refuse them, by their User-Agent.
func web112(v *view) []iikanji.Finding {
	patterns := v.in.Target.Policy.Refuse
	if len(patterns) == 0 || v.blind(iikanji.Access) {
		return nil
	}
	f := iikanji.Finding{Code: "WEB112", Where: v.self.Name}
	requests, all, seconds := 0.0, 0.0, 0.0
	for _, r := range v.access() {
		all += float64(r.Count)
	}
	for _, fact := range v.in.Facts {
		if fact.Topic != iikanji.TopicRefusable || fact.Target != v.self.Name {
			continue
		}
		n, err := strconv.ParseFloat(fact.Value, 64)
		if err != nil {
			continue
		}
		took := v.tookAlone(fact.Key)
		requests += n
		seconds += n * took
		f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "access log",
			Text: fmt.Sprintf("%s requests of %s, %.3g ms each", people(n), fact.Key, took*1000)})
	}
	f.Gain = between(seconds, answering.Lo, answering.Hi)
	if requests == 0 || !v.worth(f.Gain) {
		return nil
	}
	f.Claim = fmt.Sprintf("%s of %s requests were answered although the rules permit to refuse their User-Agents", people(requests), people(all))
	f.Remedies = v.nginxconf("answer them 503 in nginx (availability)", map[string]string{"act": "refuse user agents", "patterns": strings.Join(patterns, "\n")})
	return []iikanji.Finding{f}
}

// tookAlone is the time of one request of a route in seconds: alone, else its
// mean in the log, else its mean as the load generator measured it.
func (v *view) tookAlone(route string) float64 {
	if _, mean := v.served(route); mean > 0 || v.in.Run == nil {
		return mean
	}
	for _, s := range v.in.Run.Steps {
		if sameRoute(s.Step, route) {
			return s.Mean.Seconds()
		}
	}
	return 0
}
