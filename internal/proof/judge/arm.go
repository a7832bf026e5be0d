package judge

import "github.com/iikanji/iikanji"

// An Arm is a side of a pair.
type Arm uint8

const (
	ArmUnknown   Arm = iota
	ArmIncumbent     // A
	ArmCandidate     // B
)

// Voids counts the void runs of each arm. A change that makes its own runs void,
// as by swapping, has more of them.
func Voids(pairs []Pair) (incumbent, candidate int) {
	for _, p := range pairs {
		switch p.VoidArm {
		case ArmIncumbent:
			incumbent++
		case ArmCandidate:
			candidate++
		}
	}
	return incumbent, candidate
}

// A Record counts runs of the incumbent before a trial.
type Record struct {
	Runs   int `json:"runs"`   // void and failed ones included
	Failed int `json:"failed"` // their checks
	Void   int `json:"void"`
}

// Count adds a run; void is why it does not count, or "". A run that something outside of
// the site disturbed is no evidence on the change, and is not counted as void.
func (r *Record) Count(run *iikanji.Run, void string) {
	r.Runs++
	if Failed(run) {
		r.Failed++
	}
	if void != "" && !disturbedFromOutside(run) {
		r.Void++
	}
}

// disturbedFromOutside reports whether other programs or the hypervisor disturbed a run.
// These come in bursts, so that the runs of one arm may have more of them by chance than a
// test of independent runs expects.
func disturbedFromOutside(run *iikanji.Run) bool {
	e := run.Environment
	return e != nil && fromOutside(e.Disturbance)
}

func fromOutside(d iikanji.Disturbance) bool {
	return d == iikanji.OtherPrograms || d == iikanji.Stolen
}
