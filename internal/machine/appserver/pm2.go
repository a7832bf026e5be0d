package appserver

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/hostproc"
)

// A PM2Service is an app as its pm2 knows it.
type PM2Service struct {
	Name   string // of the app in pm2
	Folder string // in which it was started: relative paths of its file are relative to it
	Home   string // PM2_HOME of the daemon
	UID    int    // of the daemon
	// Program is the path of pm2, or its name where the path is not known.
	Program string
	// File is the configuration file that defines the app, "" without one.
	File string
}

// daemonTitle begins the title of pm2's daemon, which ends with its home in parentheses.
const daemonTitle = "PM2 "

// PM2Apps are the apps of a pm2 that a process belongs to, by name: all apps whose
// processes the daemon listens for, or the app of a process that it has started. It is
// empty without a pm2.
func PM2Apps(h host.Host, pid int, config string) []PM2Service {
	daemon := pid
	if title, err := hostproc.Title(h, pid); err != nil {
		return nil
	} else if !strings.HasPrefix(title, daemonTitle) {
		stat, err := hostproc.ReadStat(h, pid)
		if err != nil {
			return nil
		}
		daemon = stat.Parent
	}
	title, err := hostproc.Title(h, daemon)
	home, closed := strings.CutSuffix(title, ")")
	at := strings.Index(home, " (")
	if err != nil || !strings.HasPrefix(title, daemonTitle) || !closed || at < 0 {
		return nil
	}
	apps := []PM2Service{}
	if pid != daemon {
		apps = appsOf(h, []int{pid}, false)
	} else if processes, err := hostproc.Forked(h, daemon); err == nil {
		if apps = appsOf(h, processes, true); len(apps) == 0 {
			apps = appsOf(h, processes, false)
		}
	}
	text, err := h.Read(config)
	for i := range apps {
		is := &apps[i]
		is.Home, is.UID, is.Program = home[at+2:], ownerOf(h, daemon), pm2Program(h, daemon)
		if config != "" && err == nil && names(string(text), is.Name) {
			is.File = config
		}
	}
	return apps
}

// appsOf are the apps of processes of a pm2, without repetitions. clusters: only those of
// a cluster, for which the daemon listens.
func appsOf(h host.Host, processes []int, clusters bool) []PM2Service {
	var out []PM2Service
	for _, pid := range processes {
		p, err := readProcess(h, pid)
		if err != nil {
			continue
		}
		of := PM2Service{Name: p.env["name"], Folder: p.env["pm_cwd"]}
		var cluster struct { // the variables of a cluster's process are in one
			Name   string `json:"name"`
			Folder string `json:"pm_cwd"`
		}
		if json.Unmarshal([]byte(p.env["pm2_env"]), &cluster) == nil {
			of = PM2Service{Name: cluster.Name, Folder: cluster.Folder}
		} else if clusters {
			continue
		}
		if of.Name != "" && filepath.IsAbs(of.Folder) && !slices.Contains(out, of) {
			out = append(out, of)
		}
	}
	slices.SortFunc(out, func(a, b PM2Service) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Folder, b.Folder))
	})
	return out
}

// names reports whether a configuration file of pm2 defines an app of a name.
func names(text, app string) bool {
	return regexp.MustCompile("\\bname[\"']?\\s*:\\s*[\"'`]" + regexp.QuoteMeta(app) + "[\"'`]").MatchString(text)
}

// ownerOf is the user of a process, -1 if unknown.
func ownerOf(h host.Host, pid int) int {
	uid := -1
	if text, err := h.Read(fmt.Sprintf("/proc/%d/status", pid)); err == nil {
		for line := range strings.Lines(string(text)) {
			if n, err := fmt.Sscanf(line, "Uid:\t%d", &uid); n == 1 && err == nil {
				break
			}
		}
	}
	return uid
}

// pm2Program is the program with which the daemon was started, or that is found as the
// daemon's user finds it.
func pm2Program(h host.Host, daemon int) string {
	p, err := readProcess(h, daemon)
	if err != nil {
		return string(PM2)
	}
	if last := p.env["_"]; filepath.IsAbs(last) && slices.Contains([]string{"pm2", "pm2-runtime"}, filepath.Base(last)) {
		return filepath.Join(filepath.Dir(last), "pm2")
	}
	for _, dir := range filepath.SplitList(p.env["PATH"]) {
		if _, err := h.Stat(filepath.Join(dir, "pm2")); filepath.IsAbs(dir) && err == nil {
			return filepath.Join(dir, "pm2")
		}
	}
	return string(PM2)
}
