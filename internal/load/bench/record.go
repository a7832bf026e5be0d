package bench

import (
	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// ownClients is the number in samples of the first client that a scenario brings
// itself. The engine's browsers count from 1.
const ownClients = 1 << 31

// ownHeads is the number under which the headers of all these clients are kept.
const ownHeads = 0

// Record implements scenario.Session.
func (s *session) Record(x *scenario.Exchange) {
	if int(x.Step) < 0 || int(x.Step) >= len(s.info.Steps) {
		panic("BUG: the exchange's step is not in the scenario's Info")
	}
	s.dials.tried.Add(1)
	if x.Fault == iikanji.FaultDial {
		s.dials.failed(x.Cause)
	} else {
		s.dials.opened()
		s.dials.closed()
	}
	s.heads.add(ownHeads, x.Head)
	s.sample(x.Step, x.Method, x.Head)
	start := s.clock.at(x.Start)
	s.shards[int(x.Client)%len(s.shards)].record(&exchange{step: x.Step, client: ownClients + uint32(x.Client), due: start, start: start, end: s.clock.at(x.End),
		status: x.Status, sent: x.Sent, received: x.Received, fault: x.Fault}, s.phaseNumber())
}
