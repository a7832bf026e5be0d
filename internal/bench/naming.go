package bench

import (
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/scenario"
)

// A naming times the phases by the scenario's own names: within Prepare it may
// go from initialize to prepare.
type naming struct {
	name  scenario.Phase // "" between phases
	began int64
	asked bool // the scenario has named it
}

// enterPhase makes p the phase in which everything happens from now on.
func (s *session) enterPhase(p *phase) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.Store(p)
	s.naming = naming{name: p.name, began: s.clock.now()}
	if p.number == numPrepare {
		s.naming.name = scenario.Initialize
	}
}

// leavePhase ends the timing of the phase.
func (s *session) leavePhase() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.naming.name == scenario.Initialize && !s.naming.asked {
		s.naming.name = scenario.Prepare // it has no part of its own that initialises
	}
	s.timePhase()
	s.naming = naming{}
}

// Phase implements scenario.Session.
func (s *session) Phase(p scenario.Phase) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.naming.name == "" {
		return // from an actor that outlived its phase
	}
	s.naming.asked = true
	if p == s.naming.name {
		return
	}
	s.timePhase()
	s.naming.name, s.naming.began = p, s.clock.now()
}

func (s *session) timePhase() {
	took := time.Duration(s.clock.now() - s.naming.began)
	s.phases = append(s.phases, iikanji.PhaseStat{Phase: string(s.naming.name), Took: took})
}
