package boot

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/internal/site/fact"
)

// properties are what is asked of each unit.
const properties = "Id,LoadState,ActiveState,Result,UnitFileState,FragmentPath,DropInPaths,NeedDaemonReload,Type,ExecStart,ExecStartPre,Restart,RestartUSec," +
	"StartLimitIntervalUSec,StartLimitBurst,After,WantedBy,RequiredBy,UpheldBy,TriggeredBy,RuntimeDirectory,PIDFile,EnvironmentFiles,Environment,Listen,MainPID,TasksCurrent,TasksMax"

// A shown is one unit in the output of systemctl show. Its environment may have secrets: it
// is searched for ports, and not kept.
type shown struct {
	fact.BootUnit
	environment string
	files       []string // of its environment
	pidFile     string
}

// ParseShow reads the output of systemctl show for several units: lines "Key=value", and an
// empty line between two units. A key may come several times, as ExecStart does. Lines that
// are of no such form are passed over.
func ParseShow(text string) []shown {
	var out []shown
	for block := range strings.SplitSeq(strings.ReplaceAll(text, "\r", ""), "\n\n") {
		u := shown{}
		for line := range strings.Lines(block) {
			if key, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "="); ok {
				u.set(key, value)
			}
		}
		if u.Name != "" {
			u.Local = u.File != "" && !slices.ContainsFunc(packaged, func(dir string) bool { return strings.HasPrefix(u.File, dir) })
			out = append(out, u)
		}
	}
	return out
}

// packaged are the folders of units of packages, and of units that are made at run time.
var packaged = []string{"/lib/systemd/", "/usr/lib/systemd/", "/run/"}

// set takes one property.
func (u *shown) set(key, value string) {
	switch key {
	case "Id":
		u.Name = value
	case "LoadState":
		u.Load = value
	case "ActiveState":
		u.Active = value
	case "Result":
		u.Result = value
	case "UnitFileState":
		u.State = value
	case "FragmentPath":
		u.File = value
	case "DropInPaths":
		u.DropIns = strings.Fields(value)
	case "NeedDaemonReload":
		u.Reload = value == "yes"
	case "Type":
		u.Type = value
	case "ExecStart":
		if u.Exec == "" {
			u.Exec = argv(value)
		}
	case "ExecStartPre":
		if command := argv(value); command != "" {
			u.Pre = append(u.Pre, command)
		}
	case "Restart":
		u.Restart = value
	case "RestartUSec":
		u.Wait = seconds(value)
	case "StartLimitIntervalUSec":
		u.Interval = seconds(value)
	case "StartLimitBurst":
		u.Burst, _ = strconv.Atoi(value)
	case "After":
		u.After = strings.Fields(value)
	case "WantedBy", "RequiredBy", "UpheldBy", "TriggeredBy":
		u.By = append(u.By, strings.Fields(value)...)
	case "RuntimeDirectory":
		for _, dir := range strings.Fields(value) {
			u.Makes = append(u.Makes, filepath.Join("/run", dir))
		}
	case "PIDFile":
		u.pidFile = value
	case "EnvironmentFiles":
		if path, _, _ := strings.Cut(value, " (ignore_errors="); path != "" {
			u.files = append(u.files, path)
		}
	case "Environment":
		u.environment = value
	case "Listen":
		u.listen(value)
	case "TasksCurrent":
		u.Tasks = count(value)
	case "TasksMax":
		u.TasksMax = count(value)
	case "MainPID":
		u.PID, _ = strconv.Atoi(value)
	}
}

// count reads a number; infinity, and a number that is not set, are 0.
func count(value string) int64 {
	n, err := strconv.ParseUint(value, 10, 64)
	if err != nil || n > 1<<62 {
		return 0
	}
	return int64(n)
}

// listen takes the addresses of a socket unit, as in "[::]:80 (Stream)".
func (u *shown) listen(value string) {
	address, _, _ := strings.Cut(value, " (")
	if i := strings.LastIndexByte(address, ':'); i >= 0 {
		if port, err := strconv.Atoi(address[i+1:]); err == nil {
			u.Ports = append(u.Ports, port)
		}
	}
}

// argv is the command line in a value of ExecStart, as in
// "{ path=/bin/a ; argv[]=/bin/a -b ; ignore_errors=no ; … }".
func argv(value string) string {
	_, rest, ok := strings.Cut(value, "argv[]=")
	if !ok {
		return ""
	}
	if line, _, ok := strings.Cut(rest, " ; ignore_errors="); ok {
		return line
	}
	return strings.TrimSuffix(rest, " }")
}

// seconds reads a time span as systemctl shows it; infinity is −1.
func seconds(text string) float64 {
	if text == "infinity" {
		return -1
	}
	units := map[string]float64{"us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600, "d": 86400, "w": 604800, "month": 2629800, "y": 31557600}
	sum := 0.0
	for _, word := range strings.Fields(text) {
		i := strings.IndexFunc(word, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
		if i <= 0 {
			continue
		}
		n, err := strconv.ParseFloat(word[:i], 64)
		if size, known := units[word[i:]]; known && err == nil {
			sum += n * size
		}
	}
	return sum
}

// roots are the units with which each boot begins.
var roots = []string{"default.target", "multi-user.target", "graphical.target", "basic.target", "sysinit.target", "sockets.target", "timers.target", "paths.target"}

// boots reports whether a chain of units leads from the boot to a unit. A unit that is
// masked starts nothing and is not started.
func boots(name string, units map[string]*shown, seen map[string]bool) bool {
	if slices.Contains(roots, name) {
		return true
	}
	u := units[name]
	if u == nil || seen[name] || u.Load == "masked" || u.State == "masked" || u.State == "masked-runtime" || u.State == "enabled-runtime" {
		return false
	}
	seen[name] = true
	return slices.ContainsFunc(u.By, func(by string) bool { return boots(by, units, seen) })
}
