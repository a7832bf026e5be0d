package discover

import (
	"maps"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/site/target"
)

// withoutDatabase asks for the site's database where no service is one. A database
// server that runs without a connection of the site may be it: an idle site has none.
func (s *search) withoutDatabase() {
	if slices.ContainsFunc(s.order, func(svc *service) bool { return svc.Role == iikanji.RoleDatabase }) ||
		!slices.ContainsFunc(s.order, func(svc *service) bool { return svc.Role == iikanji.RoleApp }) {
		return
	}
	idle := DatabaseServers(s.m)
	for _, d := range idle {
		s.todo("%s runs at %s without a connection of the site: if the site uses it, send it a request and run iikanji init again, or add a [[service]] with role = \"database\"", d.Engine, d.At)
		if d.Engine == target.EnginePostgreSQL {
			s.out.Limits = append(s.out.Limits, target.PostgreSQL(d.At, d.First, "", s.ownLog(d.pid, isStatementLog)))
		}
	}
	if len(idle) == 0 {
		s.todo("no database was found: if the site uses one, add a [[service]] with role = \"database\"; what the site waits for in it is not seen otherwise")
	}
}

// A DatabaseServer is a database server of a machine.
type DatabaseServer struct {
	Engine iikanji.Engine
	At     string // where it listens
	First  string // the first address of these
	pid    int
}

// DatabaseServers are the database servers of a machine that listen.
func DatabaseServers(m *process.Machine) (out []DatabaseServer) {
	for _, pid := range slices.Sorted(maps.Keys(m.Processes)) {
		data, ok := dataEngines[m.Processes[pid].Name]
		if ok && data.role == iikanji.RoleDatabase && len(m.Of(pid)) > 0 {
			out = append(out, DatabaseServer{data.engine, listeningAt(m, pid), listening(m, pid)[0], pid})
		}
	}
	return out
}

// listeningAt names where a process listens.
func listeningAt(m *process.Machine, pid int) string { return strings.Join(listening(m, pid), " and ") }

// listening are the addresses and sockets at which a process listens, sorted.
func listening(m *process.Machine, pid int) (names []string) {
	for _, l := range m.Of(pid) {
		if !slices.Contains(names, l.Name()) {
			names = append(names, l.Name())
		}
	}
	slices.Sort(names)
	return names
}
