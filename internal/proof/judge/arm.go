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

// Count adds a run; void is why it does not count, or "".
func (r *Record) Count(run *iikanji.Run, void string) {
	r.Runs++
	if Failed(run) {
		r.Failed++
	}
	if void != "" {
		r.Void++
	}
}
