package appserver

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/host"
	"github.com/iikanji/iikanji/internal/hostproc"
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

// PM2Of is the app of a pm2 that a process belongs to: the daemon, which listens for the
// processes of a cluster, or a process that it has started. It is false for a daemon of
// several apps, whose addresses are not known, and without a pm2.
func PM2Of(h host.Host, pid int, config string) (*PM2Service, bool) {
	daemon := pid
	if title, err := hostproc.Title(h, pid); err != nil {
		return nil, false
	} else if !strings.HasPrefix(title, daemonTitle) {
		stat, err := hostproc.ReadStat(h, pid)
		if err != nil {
			return nil, false
		}
		daemon = stat.Parent
	}
	title, err := hostproc.Title(h, daemon)
	home, closed := strings.CutSuffix(title, ")")
	at := strings.Index(home, " (")
	if err != nil || !strings.HasPrefix(title, daemonTitle) || !closed || at < 0 {
		return nil, false
	}
	processes := []int{pid}
	if pid == daemon {
		if processes, err = hostproc.Forked(h, daemon); err != nil {
			return nil, false
		}
	}
	is, ok := oneApp(h, processes)
	if !ok {
		return nil, false
	}
	is.Home, is.UID, is.Program = home[at+2:], ownerOf(h, daemon), pm2Program(h, daemon)
	if text, err := h.Read(config); config != "" && err == nil && names(string(text), is.Name) {
		is.File = config
	}
	return is, true
}

// oneApp is the only app of the processes of a pm2.
func oneApp(h host.Host, processes []int) (*PM2Service, bool) {
	var is *PM2Service
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
		}
		switch {
		case of.Name == "" || !filepath.IsAbs(of.Folder):
		case is == nil:
			is = &of
		case of.Name != is.Name || of.Folder != is.Folder:
			return nil, false
		}
	}
	return is, is != nil
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
