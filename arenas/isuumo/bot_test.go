package isuumo

import (
	"math/rand/v2"
	"regexp"
	"testing"
)

func refused(agent string) (by []int) {
	for i, r := range robots {
		if regexp.MustCompile(r).MatchString(agent) {
			by = append(by, i)
		}
	}
	return by
}

// TestAgents checks that every bot may be refused, that each rule is for some
// bot, and that no other client may be refused.
func TestAgents(t *testing.T) {
	used := map[int]bool{}
	for _, agent := range botAgents {
		by := refused(agent)
		if len(by) == 0 {
			t.Errorf("no rule is for the bot %q", agent)
		}
		for _, i := range by {
			used[i] = true
		}
	}
	for i, r := range robots {
		if !used[i] {
			t.Errorf("no bot has the agent %s", r)
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	agents := []string{initializeAgent, verifyAgent}
	for range 1000 {
		agents = append(agents, humanAgent(rng))
	}
	for _, agent := range agents {
		if len(refused(agent)) > 0 {
			t.Errorf("a rule against bots is for %q", agent)
		}
	}
}
