package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/contest"
)

// TestPortalDoctor: each thing that would spoil a round is named, and a portal that is well has no
// warning.
func TestPortalDoctor(t *testing.T) {
	now := time.Date(2027, 2, 6, 0, 0, 0, 0, time.UTC)
	well := func() *portalState {
		return &portalState{expires: now.Add(90 * 24 * time.Hour),
			round:   api.Round{ID: "cup_final", Contest: "cup", State: contest.Ready, Clock: api.Clock{Start: now.Add(time.Hour), End: now.Add(9 * time.Hour)}},
			workers: []api.Worker{{ID: "w1", Name: "one", Slots: 1, Version: "v1"}, {ID: "w2", Name: "two", Slots: 1, Version: "v1"}},
			teams:   []api.Applied{{Mine: api.Mine{Entrant: api.Entrant{Name: "a"}}}, {Mine: api.Mine{Entrant: api.Entrant{Name: "b"}, State: "withdrawn", Lacks: []string{"host"}}}},
			gauges:  map[string]float64{diskFree: 20 << 30, backupAge: 600}}
	}
	for _, c := range []struct {
		name, state, want string
		spoil             func(s *portalState)
	}{
		{"", "ok", "", func(*portalState) {}},
		{"portal", "failed", "no leader", func(s *portalState) { s.ready = errors.New("there is no leader") }},
		{"clock", "warning", "60.0s apart", func(s *portalState) { s.offset = -time.Minute }},
		{"certificate", "failed", "2027-02-06", func(s *portalState) { s.expires = now.Add(10 * time.Hour) }},
		{"round", "failed", "draft", func(s *portalState) { s.round.State = contest.Draft }},
		{"round", "warning", "registrations", func(s *portalState) { s.round.State = contest.Registering }},
		{"round", "warning", "paused", func(s *portalState) { s.round.State, s.round.Clock.Paused = contest.Running, true }},
		{"workers", "failed", "none is here", func(s *portalState) { s.workers = nil }},
		{"workers", "warning", "2 versions", func(s *portalState) { s.workers[1].Version = "v2" }},
		{"worker", "warning", "two is held", func(s *portalState) { s.workers[1].Quarantined = true }},
		{"worker", "warning", "two was not heard of", func(s *portalState) { s.workers[1].Gone = true }},
		{"teams", "warning", "1 of 1 team lack something: a (host, proof)", func(s *portalState) { s.teams[0].Lacks = []string{"host", "proof"} }},
		{"teams", "warning", "no team", func(s *portalState) { s.teams = nil }},
		{"notices", "warning", "1 notice did not arrive, the latest: no answer", func(s *portalState) { s.undelivered = []api.Delivery{{Why: "no answer"}} }},
		{"disk", "failed", "free", func(s *portalState) { s.gauges[diskFree] = 1 << 20 }},
		{"disk", "warning", "free", func(s *portalState) { s.gauges[diskFree] = 1 << 30 }},
		{"backup", "warning", "none", func(s *portalState) { delete(s.gauges, backupAge) }},
		{"backup", "warning", "old", func(s *portalState) { s.gauges[backupAge] = 3 * 24 * 3600 }},
	} {
		s := well()
		c.spoil(s)
		found := c.name == ""
		for _, x := range s.checks(now) {
			if x.Name == c.name && x.State == c.state && strings.Contains(x.Text, c.want) {
				found = true
			} else if x.State != "ok" {
				t.Errorf("%s %q: also %+v", c.name, c.want, x)
			}
		}
		if !found {
			t.Errorf("%s %q is not found: %+v", c.name, c.want, s.checks(now))
		}
	}
}
