package web

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// robots match the User-Agents by which robots name themselves. Browsers and the
// libraries of API clients are not among them.
var robots = []string{
	`(?i)(bot|crawler|spider)(?:[-_ ./;@()]|$)`,
	`(?i)(mediapartners|feedfetcher|feedseeker|slurp|archiver|scraper)`,
}

// people matches the User-Agents of browsers, and of the libraries of API clients.
var people = regexp.MustCompile(`(?i)^(mozilla/|opera/|curl/|wget/|go-http-client|python|java/|okhttp|apache-httpclient|axios|node|undici|ruby|php|guzzle|libwww|perl|dart|postman|k6/|vegeta|hey/|oha/|wrk|apachebench|iikanji|-?$)`)

// leastOther is the share of the requests from which an agent that is neither is named beside
// the robots.
const leastOther = 0.01

// leastRobots is the share of the requests, or of their time, from which robots are a
// finding.
const leastRobots = 0.05

var robotLoad = cause.Declare(cause.PerWeb, findRobots,
	cause.Cause{Code: "WEB114", Title: "robots", Of: iikanji.OfCPU, Relieves: cause.AnyLimit,
		Line:     "bots and crawlers send a large part of the requests",
		Remedies: []cause.Way{cause.Plan("nginxconf", "refuse user agents", iikanji.RoleWeb)}})

// findRobots reports robots with a large share of the requests or of their time. The
// target's policy may name more of them than they do themselves.
func findRobots(v *cause.View) []iikanji.Finding {
	all, ok := agent(v, "")
	if !ok || all.Requests == 0 {
		return nil
	}
	matchers := robotPatterns(v)
	var sum fact.AgentUse
	var used, seen, others []string
	for f, use := range fact.TopicAgent.In(v.Input.Facts) {
		if f.Target != v.Self.Name || f.Key == "" {
			continue
		}
		i := slices.IndexFunc(matchers, func(m *regexp.Regexp) bool { return m.MatchString(f.Key) })
		if i < 0 {
			if share := float64(use.Requests) / float64(all.Requests); share >= leastOther && !people.MatchString(f.Key) {
				others = append(others, fmt.Sprintf("%s (%.0f %%)", cause.Cut(f.Key, 60), 100*share))
			}
			continue
		}
		sum.Requests, sum.Took = sum.Requests+use.Requests, sum.Took+use.Took
		if seen = append(seen, fmt.Sprintf("%s: %s requests", cause.Cut(f.Key, 60), cause.Number(float64(use.Requests)))); !slices.Contains(used, matchers[i].String()) {
			used = append(used, matchers[i].String())
		}
	}
	requests := float64(sum.Requests) / float64(all.Requests)
	share := requests
	if all.Took > 0 {
		share = max(share, sum.Took.Seconds()/all.Took.Seconds())
	}
	if share < leastRobots {
		return nil
	}
	cpu := cause.UsedBy(v.Input.Run, "")
	f := iikanji.Finding{Code: "WEB114", Where: v.Self.Name, Gain: cause.Between(cpu*share, 0.3, 1),
		Claim: fmt.Sprintf("robots send %.0f %% of the requests and take %.0f %% of the time", 100*requests, 100*sum.Took.Seconds()/max(all.Took.Seconds(), 1e-9)),
		Remedies: v.NginxConf("refuse them by their User-Agent with status 503 (availability)",
			map[string]string{"act": "refuse user agents", "patterns": strings.Join(used, "\n")})}
	for _, text := range seen[:min(len(seen), 5)] {
		f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "access log", Text: text})
	}
	if len(others) > 0 {
		f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "access log",
			Text: "neither browsers nor libraries, and not counted because their names say nothing: " + strings.Join(others, ", ") + "; robots of [policy] names them"})
	}
	return []iikanji.Finding{f}
}

// agent is what the access log has of a User-Agent, or of all of them ("").
func agent(v *cause.View, name string) (fact.AgentUse, bool) {
	return fact.TopicAgent.Of(v.Input.Facts, v.Self.Name, name)
}

// robotPatterns are the expressions for robots: those of the policy, then the usual ones.
// An expression of the policy that Go does not read is left out.
func robotPatterns(v *cause.View) []*regexp.Regexp {
	var out []*regexp.Regexp
	for _, text := range slices.Concat(v.Input.Target.Policy.Robots, robots) {
		if m, err := regexp.Compile(text); err == nil {
			out = append(out, m)
		}
	}
	return out
}
