package selftest

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// A want is one goal of the searches of a scene under one budget.
type want struct {
	what  string
	of    func(Row) Measure
	limit float64
	least bool // the limit is the least that is wanted, and not the most
	plain bool // a number, and not a share
}

// Limits for all scenes.
const (
	mostProven    = 0.05 // searches with a useless change called proven
	mostIdle      = 0.05 // searches that leave a third of the time while a candidate had no run
	mostNulls     = 0.08 // searches with a useless change in force, where nothing is of use
	leastHeadline = 0.86 // headline's intervals that cover the truth
)

func uselessProven(r Row) Measure  { return r.UselessProven }
func uselessInForce(r Row) Measure { return r.UselessInForce }
func harmful(r Row) Measure        { return r.Harmful }
func headline(r Row) Measure       { return r.Headline }
func idle(r Row) Measure           { return r.Idle }
func ratioShare(r Row) Measure     { return r.Share }

// isLong reports whether a search has an hour and more.
func (s *Search) isLong() bool { return s.Options.Time == 0 || s.Options.Time >= hour }

// wants are the goals of a search of a scene.
func (sc *Scene) wants(s *Search, r Row) []want {
	mostHarm := 0.10
	if s.isLong() {
		mostHarm = 0.02
	}
	all := []want{
		{what: "a useless change is called proven", of: uselessProven, limit: mostProven},
		{what: "a harmful change in force", of: harmful, limit: mostHarm},
		{what: "a third of the time left while a candidate had no run", of: idle, limit: mostIdle},
		{what: "the headline's 90 % interval covers", of: headline, limit: leastHeadline, least: true},
	}
	switch {
	case sc.Interplay && s.isLong():
		all = append(all, want{what: "a useless change in force", of: uselessInForce, limit: 0.05})
	case sc.Interplay:
		all = append(all, want{what: "a useless change in force", of: uselessInForce, limit: 0.20})
	case r.Of == 0:
		all = append(all, want{what: "a useless change in force", of: uselessInForce, limit: mostNulls})
	}
	return append(all, sc.special(s)...)
}

// Row is the row of the searches of the scene under one budget, with its goals.
func (sc *Scene) Row(s *Search, t Tally) Row {
	r := t.row(sc.Name)
	for _, w := range sc.wants(s, r) {
		r.Goals = append(r.Goals, w.goal(r))
	}
	return r
}

// special are the goals that one scene has alone.
func (sc *Scene) special(s *Search) []want {
	limit := s.Options.Time
	switch {
	case sc.Name == "minutes" && limit == 20*time.Minute:
		return []want{{what: "share of the best ln ratio", of: ratioShare, limit: 0.85, least: true}}
	case strings.HasPrefix(sc.Name, "two-limits"):
		return []want{{what: "share of the best ln ratio", of: ratioShare, limit: 0.90, least: true}}
	case sc.Name == "ladder" && limit == quarter:
		return []want{
			{what: "useless changes in force, mean", of: func(r Row) Measure { return r.Useless }, limit: 0.3, plain: true},
			{what: "good changes in force, of 7", of: func(r Row) Measure { return r.Good }, limit: 6.8, least: true,
				plain: true},
			{what: "intervals shown of changes cover", of: func(r Row) Measure { return r.Shown }, limit: 0.88, least: true},
		}
	case sc.Name == "ladder" && limit == 0:
		return []want{{what: "share of the best ln ratio", of: ratioShare, limit: 0.90, least: true}}
	}
	return nil
}

// fewSearches is how many searches are too few to tell a missed goal from chance: the goal is
// then missed only if it is more than two standard errors away.
const fewSearches = 400

// reached reports whether a row reaches the goal.
func (w want) reached(r Row) bool {
	m := w.of(r)
	if m.N == 0 {
		return true
	}
	slack := 0.0
	if m.N < fewSearches {
		slack = 2 * m.SE
	}
	if w.least {
		return m.Mean >= w.limit-slack
	}
	return m.Mean <= w.limit+slack
}

// goal is the goal with what was measured.
func (w want) goal(r Row) Goal {
	m := w.of(r)
	sign, number, measured := "≤", fmt.Sprintf("%.0f %%", 100*w.limit), fmt.Sprintf("%.1f ± %.1f %%", 100*m.Mean, 100*m.SE)
	if w.least {
		sign = "≥"
	}
	if w.plain {
		number, measured = fmt.Sprintf("%.1f", w.limit), fmt.Sprintf("%.2f ± %.2f", m.Mean, m.SE)
	}
	if m.N == 0 {
		measured = "none"
	}
	return Goal{What: fmt.Sprintf("%s, %s: %s", r.World, r.Budget, w.what), Goal: sign + " " + number,
		Measured: measured, OK: w.reached(r)}
}

// sceneSearches is how many searches of each scene and budget are simulated for the goals.
const sceneSearches = 200

// scenes measures the goals of all scenes.
func (m *measurement) scenes() error {
	all := Scenes()
	total := 0
	for _, scene := range all {
		total += len(scene.Searches)
	}
	for _, scene := range all {
		for i := range scene.Searches {
			s := &scene.Searches[i]
			m.tell(scene.Name+", "+s.Name, len(m.rows), total)
			t, err := s.Simulate(m.ctx, m.seed+6000, m.times(sceneSearches), nil)
			if err != nil {
				return err
			}
			r := scene.Row(s, t)
			m.rows, m.goals = append(m.rows, r), append(m.goals, r.Goals...)
			m.note(&t)
		}
	}
	return nil
}

// mostErrors is the share of searches that may end with an error.
const mostErrors = 0.01

// note counts the searches that ended with an error.
func (m *measurement) note(t *Tally) {
	m.searches, m.errors = m.searches+t.Searches+t.Errors, m.errors+t.Errors
	if m.firstError == "" {
		m.firstError = t.Error
	}
}

// noErrors is the goal of the searches that ended with an error.
func (m *measurement) noErrors() error {
	s := share(m.errors, m.searches)
	measured := fmt.Sprintf("%d of %d", m.errors, m.searches)
	if m.firstError != "" {
		measured += ": " + m.firstError
	}
	ok := math.IsNaN(s.Mid) || s.Mid <= mostErrors
	m.add("searches that ended with an error", fmt.Sprintf("≤ %.0f %%", 100*mostErrors), measured, ok, 0, 0)
	return nil
}
