package observe

import (
	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// mostAgents bounds the User-Agents of a run that become facts: the others have a
// smaller share than any finding needs.
const mostAgents = 50

// agentFacts are the User-Agents with the most time among the requests that were not
// refused, and the sum over all.
func (a *accessRead) agentFacts(service string) []iikanji.Fact {
	if a.agents.Profile == nil || a.agents.Err != nil { // such as a log without User-Agents
		return nil
	}
	var all fact.AgentUse
	var out []iikanji.Fact
	for _, r := range a.agents.Profile.Rows {
		use := fact.AgentUse{Requests: r.Count, Took: r.Total}
		all.Requests, all.Took = all.Requests+use.Requests, all.Took+use.Took
		if len(out) == mostAgents || r.Key == "" {
			continue
		}
		out = append(out, fact.TopicAgent.Fact(service, r.Key, use, true))
	}
	return append(out, fact.TopicAgent.Fact(service, "", all, true))
}
