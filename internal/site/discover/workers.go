package discover

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/appserver"
)

// workers finds how many processes and threads an app server runs, and the
// configuration file that decides it.
func (s *search) workers(svc *service) {
	switch svc.Engine {
	case iikanji.EnginePython, iikanji.EngineRuby, iikanji.EngineNode:
	default:
		return
	}
	is, err := appserver.Read(s.host, svc.proc.PID, "", svc.App.Source)
	var other *appserver.NotServerError
	switch {
	case errors.As(err, &other):
		return
	case err != nil:
		s.note(svc, "its processes and threads are not known", Guess, "%v", err)
		return
	}
	text := fmt.Sprintf("%s with %d serving processes", is.Server, is.Serves)
	if is.Threads.Place != appserver.Unavailable && is.Threads.Now > 0 {
		text += fmt.Sprintf(" of %d threads", is.Threads.Now)
	}
	s.note(svc, text, Likely, "the process and its children; %s", decidedBy(is))
	if is.Config != "" {
		svc.Config = is.Config
		s.mayWrite(filepath.Dir(is.Config))
	}
	if is.Server == appserver.PM2 {
		s.pm2(svc, is.Config)
	}
}

// decidedBy describes what decides the number of processes.
func decidedBy(is *appserver.Setup) string {
	switch is.Workers.Place {
	case appserver.Command:
		return "the option " + is.Workers.Name + " decides"
	case appserver.Variable:
		return "the variable " + is.Workers.Name + " decides"
	case appserver.File:
		return is.Config + " decides"
	case appserver.Unavailable:
		return "nothing decides it: the program runs in one process"
	}
	return "nothing decides it: this is the default"
}
