package discover

import (
	"cmp"
	"os"
	"os/user"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/internal/appserver"
	"github.com/iikanji/iikanji/internal/target"
)

// pm2 fills in how an app of pm2 is restarted: pm2 restarts a process with the settings
// of its first start, so that an app with a configuration file is deleted and started
// anew from it.
func (s *search) pm2(svc *service, config string) {
	is, ok := appserver.PM2Of(s.host, svc.proc.PID, config)
	if !ok {
		if svc.Restart != target.ByParent {
			s.note(svc, "how its pm2 is told to restart it is not known", Guess, "the daemon runs several apps: fill in commands.restart")
		}
		return
	}
	svc.Restart, svc.Commands = target.ByCommand, pm2Commands(is)
	svc.App.Source = cmp.Or(svc.App.Source, is.Folder)
	if is.File == "" {
		svc.Config = ""
		s.note(svc, "app "+is.Name+" of pm2", Likely, "%s restarts it", is.Program)
		return
	}
	s.note(svc, "app "+is.Name+" of pm2", Likely, "%s starts it anew from %s", is.Program, is.File)
}

// pm2Commands are the commands of an app.
func pm2Commands(is *appserver.PM2Service) target.Commands {
	line := func(words ...string) string {
		for i, w := range words {
			words[i] = quoted(w)
		}
		return asUser(is.UID, "cd "+quoted(is.Folder)+" && PM2_HOME="+quoted(is.Home)+" "+quoted(is.Program)+" "+strings.Join(words, " "))
	}
	if is.File == "" {
		return target.Commands{Restart: line("restart", is.Name)}
	}
	return target.Commands{Stop: line("delete", is.Name), Start: line("start", is.File, "--only", is.Name)}
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
	return "runuser -u " + quoted(u.Username) + " -- sh -c " + quoted(command)
}

// quoted is a word of sh.
func quoted(word string) string {
	if word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
