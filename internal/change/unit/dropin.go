package unit

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// dropInArgs are the arguments of "dropin", named as systemd's settings are.
type dropInArgs struct {
	Unit     string `arg:"unit,required" help:"the unit, as in app.service"`
	Restart  string `arg:"Restart" oneof:",on-failure,always" help:"when the unit is started again"`
	Wait     string `arg:"RestartSec" help:"seconds before it is started again, up to 300"`
	Interval string `arg:"StartLimitIntervalSec" help:"seconds in which StartLimitBurst starts are allowed; 0: starts are not limited"`
	Burst    string `arg:"StartLimitBurst" help:"starts in that time, from 1 to 1000"`
	After    string `arg:"After" help:"units that it is started after"`
	Wants    string `arg:"Wants" help:"units that are started with it"`
	Requires string `arg:"Requires" help:"units without which it does not run"`
	Runtime  string `arg:"RuntimeDirectory" help:"its folder below /run"`
	Nofile   string `arg:"LimitNOFILE" help:"descriptors, from 1024 to 1048576"`
	Nproc    string `arg:"LimitNPROC" help:"processes and threads of its account, from 1024 to 4194304, or infinity"`
	Memlock  string `arg:"LimitMEMLOCK" help:"bytes of memory that stay in memory, or infinity"`
	Core     string `arg:"LimitCORE" help:"bytes of a core file, or infinity"`
	Tasks    string `arg:"TasksMax" help:"processes and threads of the unit, from 64 to 4194304, or infinity"`
	Weight   string `arg:"CPUWeight" help:"share of the CPU beside other units, from 1 to 10000; systemd's default is 100"`
	Affinity string `arg:"CPUAffinity" help:"the CPUs that it may use, as in 0-1 or 0,2"`
	OOM      string `arg:"OOMScoreAdjust" help:"how soon the kernel ends it when memory is short, from -1000 to 1000"`

	Environment map[string]string `arg:"env.NAME,many" help:"the value of the variable NAME, without blanks; no secret"`
}

// A bound is the form of a setting's value.
type bound struct {
	section, key string
	min, max     int64 // of a number; both 0: check decides
	infinity     bool
	check        func(value string) error
	restart      bool // the unit has it only after its restart
}

// bounds are the settings that may be set, in the order of the file. Each bound is narrower
// than systemd's own, to values with which a server works.
var bounds = []bound{
	{section: "Unit", key: "After", check: unitList},
	{section: "Unit", key: "Wants", check: unitList},
	{section: "Unit", key: "Requires", check: unitList},
	{section: "Unit", key: "StartLimitIntervalSec", max: 3600},
	{section: "Unit", key: "StartLimitBurst", min: 1, max: 1000},
	{section: "Service", key: "Restart", check: anything}, // one of the argument's words
	{section: "Service", key: "RestartSec", max: 300},
	{section: "Service", key: "RuntimeDirectory", check: oneName},
	{section: "Service", key: "LimitNOFILE", min: 1024, max: 1 << 20, restart: true},
	{section: "Service", key: "LimitNPROC", min: 1024, max: 1 << 22, infinity: true, restart: true},
	{section: "Service", key: "LimitMEMLOCK", max: 1 << 40, infinity: true, restart: true},
	{section: "Service", key: "LimitCORE", max: 1 << 40, infinity: true, restart: true},
	{section: "Service", key: "TasksMax", min: 64, max: 1 << 22, infinity: true},
	{section: "Service", key: "CPUWeight", min: 1, max: 10000},
	{section: "Service", key: "CPUAffinity", check: cpuList, restart: true},
	{section: "Service", key: "OOMScoreAdjust", min: -1000, max: 1000, restart: true},
}

var (
	unitName    = regexp.MustCompile(`^[A-Za-z0-9:_.@-]+\.(service|socket|target)$`)
	runtimeName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)
	number      = regexp.MustCompile(`^(0|-?[1-9][0-9]{0,14})$`)
	cpus        = regexp.MustCompile(`^[0-9]{1,4}(-[0-9]{1,4})?(,[0-9]{1,4}(-[0-9]{1,4})?)*$`)
)

func anything(string) error { return nil }

func unitList(value string) error {
	for name := range strings.FieldsSeq(value) {
		if !unitName.MatchString(name) {
			return fmt.Errorf("%q is no name of a unit", name)
		}
	}
	if strings.Join(strings.Fields(value), " ") != value {
		return errors.New("want names with one blank between them")
	}
	return nil
}

func oneName(value string) error {
	if !runtimeName.MatchString(value) {
		return errors.New("want one name")
	}
	return nil
}

func cpuList(value string) error {
	if !cpus.MatchString(value) {
		return errors.New("want CPUs, as in 0-1 or 0,2")
	}
	return nil
}

// valid checks a value.
func (b bound) valid(value string) error {
	var err error
	switch {
	case b.check != nil:
		err = b.check(value)
	case b.infinity && value == "infinity":
	default:
		n, bad := strconv.ParseInt(value, 10, 64)
		if bad != nil || !number.MatchString(value) || n < b.min || n > b.max {
			err = fmt.Errorf("want a whole number from %d to %d", b.min, b.max)
		}
	}
	if err != nil {
		return fmt.Errorf("%s = %q: %w", b.key, value, err)
	}
	return nil
}

// values are the given values by the key of their setting.
func (a *dropInArgs) values() map[string]string {
	all := map[string]string{"Restart": a.Restart, "RestartSec": a.Wait, "StartLimitIntervalSec": a.Interval, "StartLimitBurst": a.Burst, "After": a.After, "Wants": a.Wants,
		"Requires": a.Requires, "RuntimeDirectory": a.Runtime, "LimitNOFILE": a.Nofile, "LimitNPROC": a.Nproc, "LimitMEMLOCK": a.Memlock, "LimitCORE": a.Core,
		"TasksMax": a.Tasks, "CPUWeight": a.Weight, "CPUAffinity": a.Affinity, "OOMScoreAdjust": a.OOM}
	maps.DeleteFunc(all, func(_, value string) bool { return value == "" })
	return all
}

// Validate checks the values against their forms and bounds.
func (a *dropInArgs) Validate() error {
	if err := checkUnit(a.Unit); err != nil {
		return err
	}
	given := a.values()
	for _, b := range bounds {
		if value, ok := given[b.key]; ok {
			if err := b.valid(value); err != nil {
				return err
			}
		}
	}
	if err := change.CheckEnvironment(a.Environment); err != nil {
		return err
	}
	if len(given)+len(a.Environment) == 0 {
		return fmt.Errorf("nothing to set for %s", a.Unit)
	}
	return nil
}

// settings are what the drop-in sets, in the order of the file.
func (a *dropInArgs) settings() (all []setting) {
	given := a.values()
	for _, b := range bounds {
		if value, ok := given[b.key]; ok {
			all = append(all, setting{b.section, b.key, value})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.Environment)) {
		all = append(all, setting{"Service", "Environment", name + "=" + a.Environment[name]})
	}
	return all
}

func (a *dropInArgs) unit() string { return a.Unit }

func (a *dropInArgs) edit() (path string, text func(old []byte) []byte) {
	return host.UnitFiles(a.Unit)[0], func(old []byte) []byte { return merge(old, a.settings()) }
}

func (a *dropInArgs) restarts() bool {
	given := a.values()
	return len(a.Environment) > 0 || slices.ContainsFunc(bounds, func(b bound) bool { return b.restart && given[b.key] != "" })
}

func (a *dropInArgs) says() string {
	var words []string
	for _, s := range a.settings() {
		words = append(words, s.key+"="+s.value)
	}
	return "set " + strings.Join(words, ", ") + " of " + a.Unit
}
