package cause_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	kinds "github.com/iikanji/iikanji/internal/change"
	_ "github.com/iikanji/iikanji/internal/change/nginxconf"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// agents are the facts about User-Agents: requests and milliseconds by name.
func agents(t *testing.T, by map[string][2]int64) (out []iikanji.Fact) {
	t.Helper()
	var all fact.AgentUse
	add := func(name string, use fact.AgentUse) {
		b, err := json.Marshal(use)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, iikanji.Fact{Target: "nginx", Topic: string(fact.TopicAgent), Key: name, Value: string(b), Moves: true})
	}
	for name, n := range by {
		use := fact.AgentUse{Requests: n[0], Took: time.Duration(n[1]) * time.Millisecond}
		all.Requests, all.Took = all.Requests+use.Requests, all.Took+use.Took
		add(name, use)
	}
	if len(by) > 0 {
		add("", all)
	}
	return out
}

// TestRobots: robots are a finding by their share of requests or time, with the
// expressions that match them; browsers and libraries are not.
func TestRobots(t *testing.T) {
	const person = "Mozilla/5.0 (X11; Linux x86_64) Firefox/127.0"
	for name, c := range map[string]struct {
		agents map[string][2]int64
		policy []string
		want   string // in the patterns; "" for no finding
		claim  string
	}{
		"half the requests":      {map[string][2]int64{person: {50, 100}, "ExampleBot/2.1": {50, 10}}, nil, "(bot|crawler|spider)", "50 % of the requests and take 9 %"},
		"half the time":          {map[string][2]int64{person: {990, 100}, "crawler (https://example.org/)": {10, 100}}, nil, "(bot|crawler|spider)", "1 % of the requests and take 50 %"},
		"a log without times":    {map[string][2]int64{person: {50, 0}, "a-spider": {50, 0}}, nil, "(bot|crawler|spider)", "50 % of the requests"},
		"several":                {map[string][2]int64{person: {50, 1}, "ABot": {10, 1}, "bbot/1": {10, 1}}, nil, "(bot|crawler|spider)", "29 % of the requests"},
		"a feed reader":          {map[string][2]int64{person: {50, 1}, "Mediapartners-Example": {10, 1}}, nil, "mediapartners", "17 %"},
		"named by the policy":    {map[string][2]int64{person: {50, 1}, "ExampleCoffee/1": {10, 1}}, []string{"^ExampleCoffee/"}, "^ExampleCoffee/", "17 %"},
		"a broken policy":        {map[string][2]int64{person: {50, 1}, "ABot": {10, 1}}, []string{"("}, "(bot|crawler|spider)", "17 %"},
		"few":                    {map[string][2]int64{person: {970, 97}, "ABot": {30, 3}}, nil, "", ""},
		"people":                 {map[string][2]int64{person: {50, 1}, "Mozilla/5.0 (Robotnik Edition) Safari/1": {50, 1}}, nil, "", ""},
		"a library":              {map[string][2]int64{person: {50, 1}, "curl/8.1": {50, 1}, "Go-http-client/1.1": {50, 1}}, nil, "", ""},
		"not named":              {map[string][2]int64{person: {50, 1}, "ExampleCoffee/1": {10, 1}}, nil, "", ""},
		"a log without an agent": {nil, nil, "", ""},
	} {
		in := leverInput()
		in.Facts, in.Target.Policy.Robots = append(in.Facts, agents(t, c.agents)...), c.policy
		all, err := findAll(in)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(all, func(f iikanji.Finding) bool { return f.Code == "WEB114" })
		if (i >= 0) != (c.want != "") {
			t.Errorf("%s: a finding: %v", name, i >= 0)
		}
		if i < 0 || c.want == "" {
			continue
		}
		f := all[i]
		if !strings.Contains(f.Claim, c.claim) || len(f.Remedies) != 1 || !strings.Contains(f.Remedies[0].Args["patterns"], c.want) || strings.Contains(f.Remedies[0].Args["patterns"], "\n") {
			t.Errorf("%s: %s %+v", name, f.Claim, f.Remedies)
			continue
		}
		if _, err := kinds.Match(f.Remedies[0]); err != nil {
			t.Errorf("%s: the remedy is refused: %v", name, err)
		}
	}
}

// TestUnnamedAgents: beside robots, agents that are neither browsers nor libraries are named:
// their names do not say what they are.
func TestUnnamedAgents(t *testing.T) {
	s := newScene()
	s.Facts = append(s.Facts, agents(t, map[string][2]int64{"Mozilla/5.0 Firefox/127.0": {500, 500}, "ABot/1": {300, 300}, "ExampleCoffee/1": {100, 100}, "curl/8.1": {90, 90}, "Rare/1": {5, 5}})...)
	var texts []string
	for _, e := range findingOf(t, s, "WEB114").Evidence {
		texts = append(texts, e.Text)
	}
	all := strings.Join(texts, "\n")
	if !strings.Contains(all, "ExampleCoffee/1 (10 %); robots of [policy]") || strings.Contains(all, "curl") || strings.Contains(all, "Mozilla") || strings.Contains(all, "Rare") {
		t.Errorf("%s", all)
	}
}
