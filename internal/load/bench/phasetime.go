package bench

import (
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// A phaseTime is the current phase and its start. The scenario may change the
// name: within Prepare from initialize to prepare.
type phaseTime struct {
	name  scenario.Phase // "" between phases
	began int64
	named bool // by the scenario
}

// enterPhase makes p the current phase.
func (s *session) enterPhase(p *phase) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.Store(p)
	s.timed = phaseTime{name: p.name, began: s.clock.now()}
	if p.number == numPrepare {
		s.timed.name = scenario.Initialize
	}
}

// leavePhase ends the timing of the phase.
func (s *session) leavePhase() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timed.name == scenario.Initialize && !s.timed.named {
		s.timed.name = scenario.Prepare // the scenario has no separate initialize phase
	}
	s.timePhase()
	s.timed = phaseTime{}
}

// Phase implements scenario.Session.
func (s *session) Phase(p scenario.Phase) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timed.name == "" {
		return // called by an actor after the end of its phase
	}
	s.timed.named = true
	if p == s.timed.name {
		return
	}
	s.timePhase()
	s.timed.name, s.timed.began = p, s.clock.now()
}

func (s *session) timePhase() {
	took := time.Duration(s.clock.now() - s.timed.began)
	s.phases = append(s.phases, iikanji.PhaseStat{Phase: string(s.timed.name), Took: took})
}
