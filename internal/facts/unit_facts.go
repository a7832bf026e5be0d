package facts

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/host"
)

// unitFolders are where systemd looks for units that are still there after a
// reboot (systemd.unit(5)), first come first served. What is in
// /run/systemd/system is gone then; what generators make is made again.
var unitFolders = []string{"/etc/systemd/system", "/run/systemd/generator", "/usr/local/lib/systemd/system", "/lib/systemd/system", "/usr/lib/systemd/system", "/run/systemd/generator.late"}

// UnitFacts are the units of a target's services on a host, as systemd would
// read them when the machine starts. A service that no unit runs has no fact,
// and nothing is read where no service has a unit.
func UnitFacts(h host.Host, t iikanji.Target) ([]iikanji.Fact, error) {
	names := map[string]string{} // of units, by service
	for _, s := range t.Services {
		if s.Host != h.Name() {
			continue
		}
		name := s.Unit
		if name == "" {
			name = unitOf(h, s.PIDs)
		}
		if name != "" { // the ending may be left out, as with systemctl
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
		if !u.there { // made while it ran, or of another machine
			continue
		}
		told := u.Unit
		told.Boot = b.chain(u.Name)
		if len(told.Boot) == 0 {
			b.orders(u) // in what order it would be, started with the others
		}
		told.Follows = b.follows(u.Name, all)
		told.Settings = telling(append(told.Settings[:len(told.Settings):len(told.Settings)], manager...))
		out = append(out, pack(s.Name, iikanji.TopicUnit, u.Name, told, false))
	}
	return out, nil
}

// telling keeps the settings that say when a unit is started and started
// again. The others say nothing of that, and an Environment= may hold secrets.
func telling(all []iikanji.Setting) []iikanji.Setting {
	var out []iikanji.Setting
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

// managerSettings are what system.conf and its drop-ins, beside a folder named
// "system", say of all units (systemd-system.conf(5)).
func managerSettings(h host.Host, folders []string) []iikanji.Setting {
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
	var all []iikanji.Setting
	for _, file := range append(files, confFiles(h, dirs)...) {
		if text, err := readUnit(h, file); err == nil {
			all = append(all, ParseUnit(file, text)...)
		}
	}
	return effective(all)
}

// unitOf is the unit of the system in which processes run, "" for none. The
// one that this process itself runs in says nothing of its children.
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

// cgroupUnit reads the service out of the control group that systemd made for
// it: below slices, the first that is none. A user's services are not the
// system's, and containers and logins are scopes.
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
