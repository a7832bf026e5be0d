package topology

import (
	"context"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

// acts are the acts that this kind can plan.
var acts = []change.DeclaredAct{
	change.Declare[moveArgs](change.Act{
		Name: "move", Help: "run a service on another host, and lead its clients there; two changes: prepare, then switch",
		Belief: change.Belief{Chance: 0.3, Gain: 0.4}, Worth: change.WorthState, Prepares: true,
	}),
	change.Declare[spreadArgs](change.Act{
		Name: "spread", Help: "run an app on several hosts, and divide its requests; two changes: prepare, then switch",
		Belief: change.Belief{Chance: 0.3, Gain: 0.3}, Worth: change.WorthState, Prepares: true,
	}),
	change.Declare[weightsArgs](change.Act{
		Name: "weights", Help: "which share of an app's requests each of its hosts gets",
		Belief: change.Belief{Chance: 0.3, Gain: 0.05}, Worth: change.WorthLine, Simplifies: true,
	}),
	change.Declare[gatherArgs](change.Act{
		Name: "gather", Help: "run an app of several hosts on one of them alone",
		Belief: change.Belief{Chance: 0.1, Gain: 0.01}, Worth: change.WorthLine, Simplifies: true,
	}),
}

// A planner has the decoded arguments of an act.
type planner interface {
	plan(t *task) (*iikanji.Change, error)
}

// An inForcer is the arguments of an act whose change is read back in a way of its own.
type inForcer interface {
	inForce(ctx context.Context, s *change.Site, c *iikanji.Change, all bool) error
}

// The steps of a move.
const (
	stepPrepare = "prepare"
	stepSwitch  = "switch"
)

// The ways of data to another host, besides "auto".
const (
	methodCopy  = "copy"
	methodDump  = "dump"
	methodEmpty = "empty"
)

// moveArgs are the arguments of "move".
type moveArgs struct {
	Service string `arg:"service,required" help:"the service that moves: a database or a cache"`
	To      string `arg:"to,required" help:"the name of the host, as in [[host]]; local for the one that iikanji runs on"`
	Method  string `arg:"method" oneof:"auto,copy,dump,empty" default:"auto" help:"how the data gets there: copy is that of the stopped server's folder, dump that of a MariaDB's statements, for another version or other settings of the data; empty leaves the keys of a cache where they are"`
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
