package search

import "slices"

// Diagnosed takes the result of an observation: the limit and the candidates of its causes.
func (s *State) Diagnosed(binding string, found []Candidate) {
	s.Observed, s.Binding, s.Moved, s.Stale = true, binding, false, false
	if s.Screened.Binding != binding || s.Screened.Found == nil {
		s.Screened = Screened{Found: map[string]PartEffect{}, Broken: map[string]bool{}, Binding: binding}
	}
	s.Candidates = slices.DeleteFunc(found, s.IsCured)
}

// Carry keeps candidates of earlier diagnoses that the latest one does not have,
// except for other remedies of a finding that has a remedy in force, and for placements: what
// they promise depends on which host is full.
func (s *State) Carry(older []Candidate) {
	for _, c := range older {
		if !s.IsCured(c) && !s.hasCandidate(c) && !c.Traits.Prepared {
			c.Chance *= s.constant(Faded)
			s.Candidates = append(s.Candidates, c)
		}
	}
}

// Add adds a candidate of a proposer, unless the diagnosis has it. It promises something,
// whatever is known of its kind: who wrote it has read what the diagnosis says.
func (s *State) Add(c Candidate) {
	c.Chance, c.Gain = max(c.Chance, s.constant(ProposedChance)), max(c.Gain, s.constant(ProposedGain))
	if !s.hasCandidate(c) {
		s.Candidates = append(s.Candidates, c)
	}
}

func (s *State) hasCandidate(c Candidate) bool {
	return slices.ContainsFunc(s.Candidates, func(o Candidate) bool { return o.Key() == c.Key() })
}

// KeptWith notes that a change with an effect on ln(score) was kept: a considerable one may
// have moved the limit, so that the site is observed again.
func (s *State) KeptWith(effect float64) {
	s.Stale, s.Moved = s.Stale || effect >= s.constant(Leap), true
}

// LeastScreened is the least number of candidates of a screening.
func (s *State) LeastScreened() int { return s.count(LeastFactors) }

// ScreenBroke notes that a design could not be finished. One that ended because initialize
// makes tables anew is made again, with its parts in the schema file; the candidate that was
// chosen is then chosen anew.
func (s *State) ScreenBroke(d *Design) {
	if d.Learned {
		s.Plan.Chosen = nil
		return
	}
	for _, p := range d.Parts {
		s.Screened.Broken[p.Key()] = true
	}
}

// ScreenedAll notes what a design found, and plans what follows it: the bundle of the parts
// that it favours, or the parts of a run that scored above the site without them. A single one
// comes first anyway.
func (s *State) ScreenedAll(d *Design, effects []PartEffect) {
	for i, p := range d.Parts {
		s.Screened.Found[p.Key()] = effects[i]
	}
	s.Plan = Plan{Screened: d.Parts}
	if row := s.bestRow(d); !s.Scarce() && len(s.favoured(d.Parts)) < 2 && row != nil {
		s.Plan.Set = d.partsOf(row)
	}
}
