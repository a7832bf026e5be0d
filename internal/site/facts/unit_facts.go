package facts

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// unitFolders are systemd's folders of units that exist after a reboot
// (systemd.unit(5)), in order of precedence. A reboot deletes the content of
// /run/systemd/system; generators create their units again.
var unitFolders = []string{"/etc/systemd/system", "/run/systemd/generator", "/usr/local/lib/systemd/system", "/lib/systemd/system", "/usr/lib/systemd/system", "/run/systemd/generator.late"}

// UnitFacts are the units of a target's services on a host, as systemd would load
// them when the machine boots. A service without a unit has no fact. Nothing is
// read if no service has a unit.
func UnitFacts(h host.Host, t iikanji.Target) ([]iikanji.Fact, error) {
	names := map[string]string{} // names of units, by service
	for _, s := range t.Services {
		if s.Host != h.Name() {
			continue
		}
		name := s.Unit
		if name == "" {
			name = unitOf(h, s.PIDs)
		}
		if name != "" { // the suffix is optional, as with systemctl
			names[s.Name] = strings.TrimSuffix(name, ".service") + ".service"
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	folders := t.UnitFolders
	if len(folders) == 0 {
		folders = unitFolders
	}
	tree, err := openUnits(h, folders)
	if err != nil {
		return nil, fmt.Errorf("reading the units of %s: %w", t.Name, err)
	}
	var all []string
	for _, name := range names {
		all = append(all, tree.canonical(name))
	}
	b, manager := bootOf(tree), managerSettings(h, folders)
	var out []iikanji.Fact
	for _, s := range t.Services {
		name, ok := names[s.Name]
		if !ok {
			continue
		}
		u := tree.load(name)
		if !u.there { // created at run time, or on another machine
			continue
		}
		told := u.Unit
		told.Boot = b.chain(u.Name)
		if len(told.Boot) == 0 {
			b.orders(u) // the order that it would have if it were started
		}
		told.Follows = b.follows(u.Name, all)
		told.Settings = telling(append(told.Settings[:len(told.Settings):len(told.Settings)], manager...))
		out = append(out, fact.TopicUnit.Fact(s.Name, u.Name, told, false))
	}
	return out, nil
}

// telling keeps the settings that determine when a unit is started and restarted.
// Other settings are dropped, because an Environment= may contain secrets.
func telling(all []fact.Setting) []fact.Setting {
	var out []fact.Setting
	for _, s := range all {
		switch s.Key {
		case "ExecStartPre", "ExecStart", "BusName", "WantedBy", "RequiredBy", "UpheldBy":
		default:
			if !slices.Contains(dependencies, s.Key) && !slices.Contains(scalars, s.Key) {
				continue
			}
		}
		out = append(out, s)
	}
	return out
}

// managerSettings are the settings for all units in system.conf and its drop-ins,
// beside a folder named "system" (systemd-system.conf(5)).
func managerSettings(h host.Host, folders []string) []fact.Setting {
	var files []string
	var dirs []unitDir
	for rank, folder := range folders {
		if filepath.Base(folder) != "system" {
			continue
		}
		if file := filepath.Join(filepath.Dir(folder), "system.conf"); len(files) == 0 {
			if _, err := h.Stat(file); err == nil {
				files = append(files, file)
			}
		}
		dirs = append(dirs, unitDir{rank, filepath.Join(filepath.Dir(folder), "system.conf.d")})
	}
	var all []fact.Setting
	for _, file := range append(files, confFiles(h, dirs)...) {
		if text, err := readUnit(h, file); err == nil {
			all = append(all, ParseUnit(file, text)...)
		}
	}
	return effective(all)
}

// unitOf is the system unit in which processes run, "" for none. The unit of this
// process does not count, because child processes of this process are in it too.
func unitOf(h host.Host, pids []int) string {
	own := ""
	if text, err := h.Read("/proc/self/cgroup"); err == nil {
		own = cgroupUnit(string(text))
	}
	for _, pid := range pids {
		text, err := h.Read(fmt.Sprintf("/proc/%d/cgroup", pid))
		if name := cgroupUnit(string(text)); err == nil && name != "" && name != own {
			return name
		}
	}
	return ""
}

// cgroupUnit is the service in the path of a control group that systemd created:
// the first element below the slices. Services of a user are not system services,
// and containers and logins are scopes; for all of these the result is "".
func cgroupUnit(text string) string {
	for line := range strings.Lines(text) {
		id, path, ok := strings.Cut(strings.TrimSpace(line), ":/")
		if !ok || id != "0:" && !strings.HasSuffix(id, ":name=systemd") {
			continue
		}
		for part := range strings.SplitSeq(path, "/") {
			if part == "user.slice" {
				break
			}
			if !strings.HasSuffix(part, ".slice") {
				if strings.HasSuffix(part, ".service") {
					return part
				}
				break
			}
		}
	}
	return ""
}
