package unit

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/internal/change"
)

// acts are the acts that this kind can plan. No run shows their effect: they are for the next
// boot.
var acts = []change.DeclaredAct{
	change.Declare[dropInArgs](change.Act{
		Name: "dropin", Help: "set how a unit is started again, what it is started after, and its folder below /run",
		Belief: usual, Worth: change.WorthLine,
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
	// edit returns the file of the change below the folder of units, and its new text from
	// the old one.
	edit() (path string, text func(old []byte) []byte)
	says() string
}

// dropInArgs are the arguments of "dropin".
type dropInArgs struct {
	Unit     string `arg:"unit,required" help:"the unit, as in app.service"`
	Restart  string `arg:"Restart" oneof:",on-failure,always" help:"when the unit is started again"`
	Wait     string `arg:"RestartSec" help:"seconds before it is started again, up to 300"`
	Interval string `arg:"StartLimitIntervalSec" oneof:",0" help:"0: starts are not limited"`
	After    string `arg:"After" help:"units that it is started after"`
	Wants    string `arg:"Wants" help:"units that are started with it"`
	Runtime  string `arg:"RuntimeDirectory" help:"its folder below /run"`
}

// mostWait is the longest time in seconds before a unit is started again.
const mostWait = 300

var (
	unitName    = regexp.MustCompile(`^[A-Za-z0-9:_.@-]+\.(service|socket|target)$`)
	runtimeName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)
)

// Validate checks the values against their forms and bounds.
func (a *dropInArgs) Validate() error {
	if !unitName.MatchString(a.Unit) {
		return fmt.Errorf("unit = %q: want a name as in app.service", a.Unit)
	}
	if n, err := strconv.Atoi(a.Wait); a.Wait != "" && (err != nil || n < 0 || n > mostWait) {
		return fmt.Errorf("RestartSec = %q: want a whole number from 0 to %d", a.Wait, mostWait)
	}
	for _, list := range []string{a.After, a.Wants} {
		for _, name := range strings.Fields(list) {
			if !unitName.MatchString(name) {
				return fmt.Errorf("%q is no name of a unit", name)
			}
		}
	}
	if a.Runtime != "" && !runtimeName.MatchString(a.Runtime) {
		return fmt.Errorf("RuntimeDirectory = %q: want one name", a.Runtime)
	}
	if len(a.settings()) == 0 {
		return fmt.Errorf("nothing to set for %s", a.Unit)
	}
	return nil
}

// settings are what the drop-in sets, in the order of the file.
func (a *dropInArgs) settings() (all []setting) {
	for _, s := range []setting{{"Unit", "After", a.After}, {"Unit", "Wants", a.Wants}, {"Unit", "StartLimitIntervalSec", a.Interval},
		{"Service", "Restart", a.Restart}, {"Service", "RestartSec", a.Wait}, {"Service", "RuntimeDirectory", a.Runtime}} {
		if s.value != "" {
			all = append(all, s)
		}
	}
	return all
}

func (a *dropInArgs) edit() (path string, text func(old []byte) []byte) {
	return a.Unit + ".d/90-iikanji.conf", func(old []byte) []byte { return merge(old, a.settings()) }
}

func (a *dropInArgs) says() string {
	var words []string
	for _, s := range a.settings() {
		words = append(words, s.key+"="+s.value)
	}
	return "set " + strings.Join(words, ", ") + " of " + a.Unit
}

// offArgs are the arguments of "off".
type offArgs struct {
	Unit string `arg:"unit,required" help:"the unit, as in app-ruby.service"`
}

// Validate checks the name.
func (a *offArgs) Validate() error {
	if !unitName.MatchString(a.Unit) {
		return fmt.Errorf("unit = %q: want a name as in app.service", a.Unit)
	}
	return nil
}

// never is a path that does not exist: a unit with it as its condition is passed over.
const never = "/etc/systemd/system/iikanji-never"

func (a *offArgs) edit() (path string, text func(old []byte) []byte) {
	return a.Unit + ".d/90-iikanji.conf", func(old []byte) []byte { return merge(old, []setting{{"Unit", "ConditionPathExists", never}}) }
}

func (a *offArgs) says() string { return "leave " + a.Unit + " out at boot" }

// bootArgs are the arguments of "boot".
type bootArgs struct {
	Unit string `arg:"unit,required" help:"the unit, as in app.service"`
}

// Validate checks the name.
func (a *bootArgs) Validate() error {
	if !unitName.MatchString(a.Unit) {
		return fmt.Errorf("unit = %q: want a name as in app.service", a.Unit)
	}
	return nil
}

func (a *bootArgs) edit() (path string, text func(old []byte) []byte) {
	return "multi-user.target.d/90-iikanji-" + strings.NewReplacer("@", "-", ":", "-").Replace(a.Unit) + ".conf",
		func(old []byte) []byte { return merge(old, []setting{{"Unit", "Wants", a.Unit}}) }
}

func (a *bootArgs) says() string { return "start " + a.Unit + " at boot" }
