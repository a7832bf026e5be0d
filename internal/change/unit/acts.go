package unit

import (
	"fmt"

	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// acts are the acts that this kind can plan. No run shows the effect of most: they are for the
// next boot.
var acts = []change.DeclaredAct{
	change.Declare[dropInArgs](change.Act{
		Name: "dropin", Help: "set limits of a unit, its environment, how it is started again and what it is started after; a limit needs its restart",
		Belief: usual, Worth: change.WorthLine,
	}),
	change.Declare[stateArgs](change.Act{
		Name: "state", Help: "start or end a unit now, and have the boot start it or leave it out",
		Belief: change.Belief{Chance: 0.1, Gain: 0.01}, Worth: change.WorthLine, Simplifies: true,
	}),
	change.Declare[offArgs](change.Act{
		Name: "off", Help: "have the boot leave a unit out that does not run",
		Belief: usual, Worth: change.WorthLine,
	}),
	change.Declare[bootArgs](change.Act{
		Name: "boot", Help: "have the boot start a unit",
		Belief: usual, Worth: change.WorthLine,
	}),
}

var usual = change.Belief{Chance: 0.01, Gain: 0.001}

// A planner has the decoded arguments of an act.
type planner interface {
	unit() string
	says() string
}

// An editor is a planner whose change is one file.
type editor interface {
	planner
	// edit returns the file of the change and its new text from the old one.
	edit() (path string, text func(old []byte) []byte)
	// restarts reports whether the unit has the settings only after its restart.
	restarts() bool
}

// checkUnit refuses what is no name of a unit.
func checkUnit(name string) error {
	if !unitName.MatchString(name) {
		return fmt.Errorf("unit = %q: want a name as in app.service", name)
	}
	return nil
}

// stateArgs are the arguments of "state".
type stateArgs struct {
	Unit    string `arg:"unit,required" help:"the unit, as in nginx.service"`
	Active  string `arg:"active" oneof:",yes,no" help:"whether it runs; default: as it is"`
	Enabled string `arg:"enabled" oneof:",yes,no" help:"whether the boot starts it; default: as active"`
}

// Validate checks the name, and that something is asked for.
func (a *stateArgs) Validate() error {
	if a.Active == "" && a.Enabled == "" {
		return fmt.Errorf("neither active nor enabled is given for %s", a.Unit)
	}
	return checkUnit(a.Unit)
}

func (a *stateArgs) unit() string { return a.Unit }

func (a *stateArgs) says() string {
	words := map[string]string{"yes yes": "start %s, now and at boot", "no no": "end %s, now and at boot", "yes no": "start %s now, not at boot", "no yes": "end %s now, start it at boot",
		"yes ": "start %s, now and at boot", "no ": "end %s, now and at boot", " yes": "start %s at boot", " no": "leave %s out at boot"}
	return fmt.Sprintf(words[a.Active+" "+a.Enabled], a.Unit)
}

// offArgs are the arguments of "off".
type offArgs struct {
	Unit string `arg:"unit,required" help:"the unit, as in app-ruby.service"`
}

// Validate checks the name.
func (a *offArgs) Validate() error { return checkUnit(a.Unit) }

// never is a path that does not exist: a unit with it as its condition is passed over.
const never = "/etc/systemd/system/iikanji-never"

func (a *offArgs) edit() (path string, text func(old []byte) []byte) {
	return host.UnitFiles(a.Unit)[0], func(old []byte) []byte { return merge(old, []setting{{"Unit", "ConditionPathExists", never}}) }
}

func (a *offArgs) says() string { return "leave " + a.Unit + " out at boot" }
func (a *offArgs) unit() string { return a.Unit }
func (*offArgs) restarts() bool { return false }

// bootArgs are the arguments of "boot".
type bootArgs struct {
	Unit string `arg:"unit,required" help:"the unit, as in app.service"`
}

// Validate checks the name.
func (a *bootArgs) Validate() error { return checkUnit(a.Unit) }

func (a *bootArgs) edit() (path string, text func(old []byte) []byte) {
	return host.UnitFiles(a.Unit)[1], func(old []byte) []byte { return merge(old, []setting{{"Unit", "Wants", a.Unit}}) }
}

func (a *bootArgs) says() string { return "start " + a.Unit + " at boot" }
func (a *bootArgs) unit() string { return a.Unit }
func (*bootArgs) restarts() bool { return false }
