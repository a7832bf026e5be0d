package boot

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// An Asker reads one host.
type Asker struct {
	Host   host.Host
	Target iikanji.Target
	// DB is the pool to a database server of the site; nil for none.
	DB func(service string) *sql.DB
	// Sources are the folders of the source of apps, by service.
	Sources map[string]string
}

// systemdRuns is a folder that exists where systemd has booted the machine (sd_booted(3)).
const systemdRuns = "/run/systemd/system"

// Systemd reports whether systemd has booted a host.
func Systemd(h host.Host) bool {
	_, err := h.Stat(systemdRuns)
	return err == nil
}

// Read reads what a boot would lose. Parts that cannot be read are named in the result.
// A host that systemd has not booted has no units and no processes outside of them.
func (a *Asker) Read(ctx context.Context) (fact.Boot, error) {
	var b fact.Boot
	m, err := process.ReadMachine(a.Host)
	if err != nil {
		return b, fmt.Errorf("reading the processes: %w", err)
	}
	unread := func(part string, err error) {
		if err != nil {
			b.Unread = append(b.Unread, part+": "+err.Error())
		}
	}
	var units []shown
	if Systemd(a.Host) {
		if units, err = a.units(ctx); err != nil {
			unread("units", err)
		}
	}
	b.Services = a.services(ctx, m)
	a.paths(ctx, m, units, &b)
	for _, u := range units {
		b.Units = append(b.Units, u.BootUnit)
	}
	unread("mounts", a.memory(m, &b))
	unread("variables", a.variables(ctx, &b))
	a.kernel(&b)
	unread("Redis", a.stores(ctx, &b))
	unread("disks", a.disks(ctx, &b))
	return b, nil
}

// Fact is what Read has read, as a fact of the host.
func Fact(h host.Host, b fact.Boot) iikanji.Fact {
	f := fact.TopicBoot.Fact(h.Name(), "", b, true)
	f.Host = h.Name()
	return f
}

// here are the services of the site on the host.
func (a *Asker) here() []iikanji.Service {
	var out []iikanji.Service
	for _, s := range a.Target.Services {
		if s.Host == a.Host.Name() {
			out = append(out, s)
		}
	}
	return out
}

// Units are the units of the host, without what systemd's checker says of their files.
func (a *Asker) Units(ctx context.Context) ([]fact.BootUnit, error) {
	all, err := a.loaded(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]fact.BootUnit, 0, len(all))
	for _, u := range all {
		out = append(out, u.BootUnit)
	}
	return out, nil
}

// units asks systemd for all units, and its checker for those whose files are local.
func (a *Asker) units(ctx context.Context) ([]shown, error) {
	units, err := a.loaded(ctx)
	if err != nil {
		return nil, err
	}
	var local []*shown
	for i := range units {
		if u := &units[i]; u.Local && u.Load != "masked" && strings.HasSuffix(u.Name, ".service") {
			local = append(local, u)
		}
	}
	a.verify(ctx, local)
	return units, nil
}

// loaded asks systemd for all units.
func (a *Asker) loaded(ctx context.Context) ([]shown, error) {
	out, err := a.run(ctx, "systemctl", "show", "--no-pager", "--all", "--property="+properties, "*.service", "*.socket", "*.target", "*.timer", "*.path", "*.mount")
	if err != nil {
		return nil, err
	}
	units := ParseShow(out)
	byName := map[string]*shown{}
	for i := range units {
		byName[units[i].Name] = &units[i]
	}
	for i := range units {
		u := &units[i]
		u.Boots = boots(u.Name, byName, map[string]bool{})
		a.ports(u)
		u.Reload = u.Reload || a.newDropIn(u)
		u.Never = a.leftOut(u)
	}
	return units, nil
}

// dropInFolders hold folders of drop-ins that people and packages write.
var dropInFolders = []string{"/etc/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"}

// newDropIn reports whether a unit has a drop-in that systemd has not loaded. systemd itself
// does not say so of a file in a folder that is newer than its latest reload: it looks for
// drop-ins only in the folders that it knows.
func (a *Asker) newDropIn(u *shown) bool {
	for _, dir := range dropInFolders {
		files, err := a.Host.Glob(filepath.Join(dir, u.Name+".d", "*.conf"))
		if err != nil {
			continue
		}
		for _, file := range files {
			name := filepath.Base(file)
			if !slices.ContainsFunc(u.DropIns, func(loaded string) bool { return filepath.Base(loaded) == name }) {
				return true
			}
		}
	}
	return false
}

// leftOut reports whether a loaded drop-in has a condition of package change/unit that never
// holds.
func (a *Asker) leftOut(u *shown) bool {
	return slices.ContainsFunc(u.DropIns, func(file string) bool {
		b, err := a.Host.Read(file)
		return err == nil && strings.Contains(string(b), "iikanji-never")
	})
}

// run runs a program and returns its output; a status other than 0 is an error.
func (a *Asker) run(ctx context.Context, name string, args ...string) (string, error) {
	res, err := a.Host.Exec(ctx, host.Command{Path: name, Args: args, Env: []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", "SYSTEMD_COLORS=0"}})
	if err != nil {
		return "", err
	}
	if res.Status != 0 {
		return "", fmt.Errorf("%s ended with status %d: %s", name, res.Status, strings.TrimSpace(string(res.Output)))
	}
	return string(res.Output), nil
}

// mostVerified limits the units whose files are checked: each takes some ten milliseconds.
const mostVerified = 40

// verify has systemd's own checker read the files of units as they are now. What it says of
// other units is passed over; its status says nothing.
func (a *Asker) verify(ctx context.Context, units []*shown) {
	for _, u := range units[:min(len(units), mostVerified)] {
		res, err := a.Host.Exec(ctx, host.Command{Path: "systemd-analyze", Args: []string{"verify", "--man=no", "--recursive-errors=no", u.File},
			Env: []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", "SYSTEMD_COLORS=0"}})
		if err != nil {
			return // there is no such program
		}
		u.Wrong = wrongOf(u, string(res.Output))
	}
}

// wrongOf are the lines of systemd-analyze verify about a unit or its files.
func wrongOf(u *shown, output string) (wrong []string) {
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		about := strings.HasPrefix(line, u.Name+": ")
		for _, file := range append([]string{u.File}, u.DropIns...) {
			about = about || file != "" && strings.HasPrefix(line, file+":")
		}
		if about && !slices.Contains(wrong, line) {
			wrong = append(wrong, line)
		}
	}
	return wrong
}

// usualPorts are the ports of servers whose units do not name them.
var usualPorts = map[string]int{"nginx": 80, "apache2": 80, "httpd": 80, "lighttpd": 80, "caddy": 80, "mysql": 3306, "mysqld": 3306, "mariadb": 3306,
	"postgresql": 5432, "redis": 6379, "redis-server": 6379, "memcached": 11211, "varnish": 6081}

// ports finds the ports that a service would listen on: in its command line, in its
// environment and the files of it, or by its name.
func (a *Asker) ports(u *shown) {
	if !strings.HasSuffix(u.Name, ".service") {
		return
	}
	texts := []string{u.environment}
	for _, path := range u.files {
		if b, err := a.Host.Read(path); err == nil {
			texts = append(texts, string(b))
		}
	}
	u.Ports = append(u.Ports, portsIn(u.Exec, texts...)...)
	if port := usualPorts[strings.TrimSuffix(u.Name, ".service")]; port > 0 && len(u.Ports) == 0 {
		u.Ports = append(u.Ports, port)
	}
}
