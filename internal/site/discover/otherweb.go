package discover

import (
	"path/filepath"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/process"
)

// otherWebServers are web servers and proxies whose configuration iikanji does not read, by
// the name of their program. They are no apps: some are written in Go.
var otherWebServers = map[string]iikanji.Engine{"apache2": "apache", "httpd": "apache", "caddy": "caddy", "envoy": "envoy", "h2o": "h2o", "haproxy": "haproxy",
	"lighttpd": "lighttpd", "litespeed": "litespeed", "openlitespeed": "litespeed", "traefik": "traefik"}

func isOtherWeb(p *process.Process) bool {
	_, ok := otherWebServers[filepath.Base(p.Program)]
	return ok
}

// otherWeb makes a service of a web server that is no nginx, and of what it has open
// connections to: where it passes requests to is in its configuration only. It returns nil
// for another process.
func (s *search) otherWeb(p *process.Process, address string) *service {
	engine, ok := otherWebServers[filepath.Base(p.Program)]
	if !ok {
		return nil
	}
	if svc := s.byPID[p.PID]; svc != nil {
		return svc
	}
	svc := s.add(p, iikanji.RoleWeb, engine, string(engine))
	s.listens(svc, address)
	s.note(svc, string(engine)+" at "+address, Sure, "process %d, %s, listens there", p.PID, p.Program)
	if svc.Logs.Access = s.ownLog(p.PID, isAccessLog); svc.Logs.Access != "" {
		s.note(svc, "access log "+svc.Logs.Access, Likely, "it has this file open for writing")
	}
	for _, to := range s.connected(p.PID) {
		s.needed(svc, to, "an open connection")
	}
	if len(s.order) == 1 {
		s.todo("service %s: no app behind it was found, since it has no connection to one now: send the site a request and run iikanji init --force again, or add the apps and the database as [[service]]", svc.Name)
	}
	return svc
}
