package topology

import (
	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

// acts are the acts that this kind can plan.
var acts = []change.DeclaredAct{
	change.Declare[moveArgs](change.Act{
		Name: "move", Help: "run a service on another host, and lead its clients there; two changes: prepare, then switch",
		Belief: change.Belief{Chance: 0.3, Gain: 0.4}, Worth: change.WorthState, Prepares: true,
	}),
}

// A planner has the decoded arguments of an act.
type planner interface {
	plan(t *task) (*iikanji.Change, error)
}

// The steps of a move.
const (
	stepPrepare = "prepare"
	stepSwitch  = "switch"
)

// moveArgs are the arguments of "move".
type moveArgs struct {
	Service string `arg:"service,required" help:"the service that moves: a database"`
	To      string `arg:"to,required" help:"the name of the host, as in [[host]]; local for the one that iikanji runs on"`
	Method  string `arg:"method" oneof:"auto,copy" default:"auto" help:"how the data gets there: copy is that of the stopped server's folder"`
	Back    string `arg:"back" oneof:"auto,drop" default:"auto" help:"what an undo does with rows that were written on the new host: drop leaves them there; auto allows that only where the benchmark makes the data anew"`
	Step    string `arg:"step" oneof:",prepare,switch" help:"prepare or switch; default: what comes next"`
}

// here is how the host that iikanji runs on is named in arguments.
const here = "local"

// to is the HostRef.Name of the new host.
func (a *moveArgs) to() string {
	if a.To == here {
		return ""
	}
	return a.To
}
