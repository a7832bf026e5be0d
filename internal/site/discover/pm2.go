package discover

import (
	"cmp"
	"os"
	"os/user"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/internal/machine/appserver"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/target"
)

// pm2 fills in how the apps of pm2 that a service consists of are restarted: pm2 restarts
// a process with the settings of its first start, so that an app with a configuration file
// is deleted and started anew from it. A daemon that listens for the clusters of several
// apps is one service: its socket has one owner.
func (s *search) pm2(svc *service, config string) {
	apps := appserver.PM2Apps(s.host, svc.proc.PID, config)
	if len(apps) == 0 {
		if svc.Restart != target.ByParent {
			s.note(svc, "how its pm2 is told to restart it is not known", Guess, "no app of its daemon is found: fill in commands.restart")
		}
		return
	}
	svc.Restart, svc.Commands = target.ByCommand, pm2Commands(apps)
	svc.App.Source = cmp.Or(svc.App.Source, apps[0].Folder)
	what, sure := "app "+apps[0].Name+" of pm2", Likely
	if len(apps) > 1 {
		var list []string
		for _, a := range apps {
			list = append(list, a.Name)
		}
		what, sure = "apps "+strings.Join(list, ", ")+" of pm2", Guess
		s.todo("service %s: its pm2 listens for the apps %s: remove those that are no part of the site from commands", svc.Name, strings.Join(list, ", "))
	}
	if svc.Commands.Restart != "" {
		svc.Config = ""
		s.note(svc, what, sure, "%s restarts it", apps[0].Program)
		return
	}
	s.note(svc, what, sure, "%s starts it anew from %s", apps[0].Program, config)
}

// pm2Commands are the commands of the apps of one daemon. Each app is named. Where a file
// defines only some of the apps, all are restarted without it.
func pm2Commands(apps []appserver.PM2Service) target.Commands {
	var restart, stop, start []string
	byFile := true
	for _, is := range apps {
		byFile = byFile && is.File != ""
		restart = append(restart, pm2Line(is, "restart", is.Name))
		stop = append(stop, pm2Line(is, "delete", is.Name))
		start = append(start, pm2Line(is, "start", is.File, "--only", is.Name))
	}
	user := apps[0].UID
	if !byFile {
		return target.Commands{Restart: asUser(user, strings.Join(restart, " && "))}
	}
	return target.Commands{Stop: asUser(user, strings.Join(stop, " && ")), Start: asUser(user, strings.Join(start, " && "))}
}

// pm2Line is a command of pm2 for one app.
func pm2Line(is appserver.PM2Service, words ...string) string {
	return "cd " + host.QuoteAll(is.Folder) + " && PM2_HOME=" + host.QuoteAll(is.Home) + " " + host.QuoteAll(append([]string{is.Program}, words...)...)
}

// asUser is a command that another user runs.
func asUser(uid int, command string) string {
	if uid < 0 || uid == os.Geteuid() {
		return command
	}
	u, err := user.LookupId(strconv.Itoa(uid))
	if err != nil {
		return command
	}
	return "runuser -u " + host.QuoteAll(u.Username) + " -- sh -c " + host.QuoteAll(command)
}
