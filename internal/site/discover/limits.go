package discover

import (
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
	idle := false
	for _, p := range s.idleServers() {
		idle = true
		engine, at := dataEngines[p.Name].engine, s.addressOf(p)
		s.todo("%s runs at %s without a connection of the site: if the site uses it, send it a request and run iikanji init again, or add a [[service]] with role = \"database\"", engine, at)
		if engine == target.EnginePostgreSQL {
			s.out.Limits = append(s.out.Limits, target.PostgreSQL(at))
		}
	}
	if !idle {
		s.todo("no database was found: if the site uses one, add a [[service]] with role = \"database\"; what the site waits for in it is not seen otherwise")
	}
}

// idleServers are the database servers of this machine that listen.
func (s *search) idleServers() (out []*process.Process) {
	for _, pid := range s.pids() {
		p := s.m.Processes[pid]
		if data, ok := dataEngines[p.Name]; ok && data.role == iikanji.RoleDatabase && len(s.m.Of(pid)) > 0 {
			out = append(out, p)
		}
	}
	return out
}

// addressOf names where a process listens.
func (s *search) addressOf(p *process.Process) string {
	var names []string
	for _, l := range s.m.Of(p.PID) {
		if !slices.Contains(names, l.Name()) {
			names = append(names, l.Name())
		}
	}
	slices.Sort(names)
	return strings.Join(names, " and ")
}
