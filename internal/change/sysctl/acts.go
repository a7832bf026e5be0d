package sysctl

import (
	"errors"
	"maps"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

// acts are the acts that this kind can plan.
var acts = []change.DeclaredAct{
	change.Declare[variableArgs](change.Act{
		Name: "sysctl", Help: "set kernel variables; the target is host:NAME, or a service that keeps a file of them",
		Belief: usual, Worth: change.WorthLine, Simplifies: true,
	}),
	change.Declare[limitArgs](change.Act{
		Name: "limits", Help: "set limits of the target's process; needs its restart",
		Belief: usual, Worth: change.WorthLine, Simplifies: true,
	}),
}

var usual = change.Belief{Chance: 0.1, Gain: 0.01}

// A planner holds the decoded arguments of an act.
type planner interface {
	values() map[string]string
	plan(s *change.Site, svc change.Service, c *iikanji.Change) error
}

func match(r iikanji.Remedy) (change.Act, planner, error) { return change.MatchAct[planner](acts, r) }

// Help implements change.Kind.
func (Kind) Help() string {
	return "Kernel variables, and the limits of one service's process. A machine that is not the target's to change is left alone."
}

// Acts implements change.Kind.
func (Kind) Acts() []change.Act { return change.ActsOf(acts) }

// Match implements change.Kind.
func (Kind) Match(r iikanji.Remedy) (change.Act, error) {
	act, _, err := match(r)
	return act, err
}

var errNothingAsked = errors.New("no argument is given")

// variableArgs are the arguments of "sysctl".
type variableArgs struct {
	Values map[string]string `arg:"NAME,many" help:"the value of the variable NAME, as net.core.somaxconn = 4096; net.core.netdev_max_backlog, net.ipv4.ip_local_port_range, some of net.ipv4.tcp_ and of vm.dirty_, vm.swappiness"`
}

func (a *variableArgs) values() map[string]string { return a.Values }

// Validate checks the values against the bounds of the variables.
func (a *variableArgs) Validate() error { return checkEach(a.Values, checkVariable) }

// limitArgs are the arguments of "limits".
type limitArgs struct {
	Nofile  string `arg:"nofile" help:"descriptors"`
	Nproc   string `arg:"nproc" help:"processes and threads"`
	Core    string `arg:"core" help:"bytes of a core file"`
	Memlock string `arg:"memlock" help:"bytes of memory that stay in memory"`
}

func (a *limitArgs) values() map[string]string {
	all := map[string]string{"nofile": a.Nofile, "nproc": a.Nproc, "core": a.Core, "memlock": a.Memlock}
	maps.DeleteFunc(all, func(_, value string) bool { return value == "" })
	return all
}

// Validate checks the values against the bounds of the limits.
func (a *limitArgs) Validate() error { return checkEach(a.values(), checkLimit) }

func checkEach(values map[string]string, check func(name, value string) error) error {
	if len(values) == 0 {
		return errNothingAsked
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if err := check(name, values[name]); err != nil {
			return err
		}
	}
	return nil
}
