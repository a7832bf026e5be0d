package discover

import (
	"cmp"
	"debug/buildinfo"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/hoststat"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/site/target"
)

// app makes a service of a process that computes answers.
func (s *search) app(p *process.Process, address string) *service {
	if svc := s.byPID[p.PID]; svc != nil {
		return svc
	}
	engine, name, how := kindOf(p)
	svc := s.add(p, iikanji.RoleApp, engine, name)
	if svc.main = how.main; how.main != "" {
		svc.App.Package = how.main // relative to its module once that is found
	}
	s.listens(svc, address)
	if address == "" {
		s.note(svc, fmt.Sprintf("%s, a background job", engineName(engine)), Likely, "%s; %s", how.why, strings.Join(p.Args, " "))
		return svc
	}
	s.note(svc, fmt.Sprintf("%s at %s", engineName(engine), address), Sure, "process %d, %s; %s", p.PID, p.Program, how.why)
	return svc
}

func engineName(e iikanji.Engine) string {
	if e == "" {
		return "an app"
	}
	return "app in " + string(e)
}

// A program is how the engine of an app was recognized.
type program struct{ why, main string }

// interpreters are programs that run a script, by engine.
var interpreters = map[string]iikanji.Engine{"node": iikanji.EngineNode, "nodejs": iikanji.EngineNode, "bun": iikanji.EngineNode,
	"ruby": iikanji.EngineRuby, "puma": iikanji.EngineRuby, "unicorn": iikanji.EngineRuby,
	"php-fpm": "php", "php": "php",
	"python": iikanji.EnginePython, "gunicorn": iikanji.EnginePython, "uwsgi": iikanji.EnginePython, "uvicorn": iikanji.EnginePython}

// kindOf recognizes the engine of an app, and a name for it.
func kindOf(p *process.Process) (iikanji.Engine, string, program) {
	base := filepath.Base(p.Program)
	// The link in /proc leads to the running program also after its file was replaced.
	if info, err := buildinfo.ReadFile(fmt.Sprintf("/proc/%d/exe", p.PID)); err == nil {
		return iikanji.EngineGo, base, program{"built by " + info.GoVersion + " from " + info.Path, info.Path}
	}
	for name, engine := range interpreters {
		if base == name || strings.HasPrefix(base, name) && strings.Trim(base[len(name):], "0123456789.") == "" {
			entry := entryOf(p)
			if entry == "" {
				return engine, titled(p, base), program{why: "run by " + base}
			}
			return engine, strings.TrimSuffix(filepath.Base(entry), filepath.Ext(entry)), program{why: "run by " + base + ", entry " + entry}
		}
	}
	title := p.Args[0]
	for name, engine := range map[string]iikanji.Engine{"puma": iikanji.EngineRuby, "unicorn": iikanji.EngineRuby, "gunicorn": iikanji.EnginePython, "node ": iikanji.EngineNode} {
		if strings.HasPrefix(title, name) {
			return engine, strings.TrimSpace(name), program{why: "its title is " + strings.TrimSpace(name)}
		}
	}
	return "", base, program{why: "its engine is not known"}
}

// titled is the first word of the title that a program has written over its command line,
// such as unicorn; base without a title.
func titled(p *process.Process, base string) string {
	words := strings.Fields(p.Command())
	if len(p.Args) == 0 || !strings.Contains(p.Args[0], " ") || len(words) == 0 {
		return base
	}
	return cmp.Or(strings.TrimRight(filepath.Base(words[0]), ":"), base)
}

// entryOf is the script or module that an interpreter runs: the first argument
// that is not an option.
func entryOf(p *process.Process) string {
	for i, a := range p.Args {
		if i == 0 || a == "" {
			continue
		}
		if a == "-m" && i+1 < len(p.Args) {
			return p.Args[i+1]
		}
		if !strings.HasPrefix(a, "-") {
			return a
		}
	}
	return ""
}

// dataEngines are servers that keep data, by the kernel's short name of the process.
var dataEngines = map[string]struct {
	engine iikanji.Engine
	role   iikanji.Role
}{
	"mariadbd": {iikanji.EngineMariaDB, iikanji.RoleDatabase}, "mysqld": {iikanji.EngineMySQL, iikanji.RoleDatabase},
	"postgres":     {target.EnginePostgreSQL, iikanji.RoleDatabase},
	"redis-server": {iikanji.EngineRedis, iikanji.RoleCache}, "valkey-server": {iikanji.EngineRedis, iikanji.RoleCache}, "keydb-server": {iikanji.EngineRedis, iikanji.RoleCache},
	"memcached":  {iikanji.EngineMemcached, iikanji.RoleCache},
	"beanstalkd": {"beanstalkd", iikanji.RoleQueue}, "nats-server": {"nats", iikanji.RoleQueue},
}

// needs follows what an app needs: its open connections, and the addresses in
// its environment, its arguments and its files.
func (s *search) needs(svc *service) {
	svc.dsns = s.dsnsOf(svc)
	for _, d := range svc.dsns {
		s.needed(svc, d.address, "its "+d.where)
	}
	for _, kv := range svc.env {
		name, value, _ := strings.Cut(kv, "=")
		for _, a := range addressesIn(value) {
			s.needed(svc, a, "its variable "+name)
		}
	}
	for _, pair := range hostsAndPorts(svc.env) {
		s.needed(svc, pair.address, "its variables "+pair.names)
	}
	for _, word := range svc.proc.Args[1:] {
		_, value, ok := strings.Cut(word, "=")
		if !ok {
			value = word
		}
		for _, a := range addressesIn(value) {
			s.needed(svc, a, "its arguments")
		}
	}
	for _, address := range s.connected(svc.proc.PID) {
		s.needed(svc, address, "an open connection")
	}
	s.farConnections(svc)
}

// systemSockets are where programs meet the machine's own services: the journal, the bus, the
// lookup of names. They are no part of a site.
var systemSockets = []string{"/run/systemd/", "/run/dbus/", "/run/nscd/", "/var/run/nscd/", "/var/run/dbus/", "/dev/log"}

// isOfSystem reports whether a process at an address is one of the machine's own: the first
// process, or one that listens on a socket of the system.
func isOfSystem(p *process.Process, address string) bool {
	return p.PID == 1 || slices.ContainsFunc(systemSockets, func(prefix string) bool { return strings.HasPrefix(address, prefix) })
}

// needed makes a service of the process at an address that an app uses.
func (s *search) needed(svc *service, address, how string) {
	p := s.m.Owner(address)
	if p == nil {
		s.elsewhere(svc, address, how)
	}
	if p == nil || p == svc.proc || s.byPID[p.PID] != nil || p.PID == s.Self || isOfSystem(p, address) {
		return
	}
	if data, ok := dataEngines[p.Name]; ok {
		in := s.add(p, data.role, data.engine, string(data.engine))
		s.listens(in, address)
		if strings.Contains(p.Program, "mariadb") {
			in.Engine = iikanji.EngineMariaDB
		}
		s.note(in, fmt.Sprintf("%s at %s", in.Engine, address), Sure, "service %s uses it: %s", svc.Name, how)
		return
	}
	if isNginx(p) {
		return // the site itself, or another one
	}
	in := s.app(p, address)
	s.note(in, "used by "+svc.Name, Likely, "%s", how)
}

// connected lists the addresses on this machine to which a process and its
// descendants have open connections.
func (s *search) connected(pid int) []string {
	owners, err := hoststat.Owners(s.host, map[string][]int{"": {pid}})
	if err != nil {
		return nil
	}
	return s.connectedBy(s.m.Processes[pid], owners)
}

// connectedBy lists the addresses on this machine to which sockets of a process are
// connected, but for connections to the process itself.
func (s *search) connectedBy(p *process.Process, sockets map[uint64]string) []string {
	if len(sockets) == 0 {
		return nil
	}
	var out []string
	add := func(a string) {
		if !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	if all, err := hoststat.Established(s.host); err == nil {
		for _, c := range all {
			if _, ok := sockets[c.Inode]; ok && s.m.Owner(c.Remote.String()) != nil && s.m.Owner(c.Local.String()) != p {
				add(c.Remote.String())
			}
		}
	}
	for _, l := range s.m.Listens {
		if l.Path == "" || len(l.PIDs) == 0 {
			continue
		}
		clients, _ := hoststat.UnixClients(s.host, l.Path) // not known on another host
		if slices.ContainsFunc(clients, func(inode uint64) bool { _, ok := sockets[inode]; return ok }) {
			add(l.Path)
		}
	}
	return out
}
