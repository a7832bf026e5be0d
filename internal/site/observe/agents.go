package observe

import (
	"encoding/json"

	"github.com/iikanji/iikanji"
)

// mostAgents bounds the User-Agents of a run that become facts: the others have a
// smaller share than any finding needs.
const mostAgents = 50

// agentFacts are the User-Agents with the most time among the requests that were not
// refused, and the sum over all.
func (a *accessRead) agentFacts(service string) ([]iikanji.Fact, error) {
	if a.agents.Profile == nil || a.agents.Err != nil { // such as a log without User-Agents
		return nil, nil
	}
	var all iikanji.AgentUse
	var out []iikanji.Fact
	for _, r := range a.agents.Profile.Rows {
		use := iikanji.AgentUse{Requests: r.Count, Took: r.Total}
		all.Requests, all.Took = all.Requests+use.Requests, all.Took+use.Took
		if len(out) == mostAgents || r.Key == "" {
			continue
		}
		f, err := agentFact(service, r.Key, use)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	f, err := agentFact(service, "", all)
	return append(out, f), err
}

func agentFact(service, agent string, use iikanji.AgentUse) (iikanji.Fact, error) {
	b, err := json.Marshal(use)
	return iikanji.Fact{Target: service, Topic: iikanji.TopicAgent, Key: agent, Value: string(b), Moves: true}, err
}
