package appserver

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/hostproc"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// godScript is a daemon in the form of pm2's, as version 7.0.4 was seen: its title, the
// titles of the processes of a cluster, and their variable. It listens for them.
const godScript = `
const cluster = require('cluster')
const apps = JSON.parse(process.argv[2])
process.title = 'PM2 v7.0.4: God Daemon (' + process.env.PM2_HOME + ')'
cluster.setupPrimary({ exec: __dirname + '/app.js' })
for (const [i, a] of apps.entries()) cluster.fork({ pm2_env: JSON.stringify({ name: a.name, pm_cwd: a.folder, pm_id: i, exec_mode: 'cluster_mode' }) })
`

const clusterApp = `
process.title = 'node ' + __filename
require('http').createServer((q, s) => s.end('ok')).listen(0, '127.0.0.1')
`

// PM2Of is the only app of a pm2 that a process belongs to.
func PM2Of(h host.Host, pid int, config string) (*PM2Service, bool) {
	apps := PM2Apps(h, pid, config)
	if len(apps) != 1 {
		return nil, false
	}
	return &apps[0], true
}

type startedApp struct {
	Name   string `json:"name"`
	Folder string `json:"folder"`
}

// god starts the daemon with apps, and waits until each has its title.
func god(t *testing.T, dir string, apps ...startedApp) int {
	t.Helper()
	list, err := json.Marshal(apps)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", filepath.Join(dir, "god.js"), string(list))
	cmd.Env = append(os.Environ(), "PM2_HOME="+filepath.Join(dir, "pm2 home"), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"), "_=/usr/bin/env")
	cmd.Dir, cmd.SysProcAttr = dir, &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		children, err := hostproc.Forked(host.Local{}, cmd.Process.Pid)
		ready := err == nil && len(children) == len(apps)
		for _, pid := range append(children, cmd.Process.Pid) {
			title, _ := hostproc.Title(host.Local{}, pid)
			ready = ready && (strings.HasPrefix(title, "node "+dir+"/app.js") || strings.HasPrefix(title, daemonTitle))
		}
		if ready {
			return cmd.Process.Pid
		}
	}
	t.Fatal(errors.New("the daemon has not started its apps"))
	return 0
}

// TestPM2 finds the app of a daemon, how many processes serve it, and the file that
// decides their number.
func TestPM2(t *testing.T) {
	tier.Slow(t)
	dir := t.TempDir()
	for name, text := range map[string]string{"god.js": godScript, "app.js": clusterApp, "bin/pm2": "",
		"ecosystem.config.js": "module.exports = { apps: [{ name: 'shop', script: './app.js', instances: 2 }] } // instances: 9\n"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	config := filepath.Join(dir, "ecosystem.config.js")
	shop := startedApp{"shop", dir}
	pid := god(t, dir, shop, shop)
	s, err := Read(host.Local{}, pid, "", dir)
	if err != nil || s.Server != PM2 || s.Serves != 2 || s.Config != config || s.Workers != (Setting{2, File, ""}) {
		t.Errorf("%+v, %v", s, err)
	}
	want := PM2Service{Name: "shop", Folder: dir, Home: filepath.Join(dir, "pm2 home"), UID: os.Geteuid(), Program: filepath.Join(dir, "bin/pm2"), File: config}
	if is, ok := PM2Of(host.Local{}, pid, config); !ok || *is != want {
		t.Errorf("%+v, %v; want %+v", is, ok, want)
	}
	if len(s.Children) == 2 {
		if is, ok := PM2Of(host.Local{}, s.Children[0], config); !ok || *is != want {
			t.Errorf("of a process of the cluster: %+v, %v", is, ok)
		}
	}
	if is, ok := PM2Of(host.Local{}, pid, filepath.Join(dir, "god.js")); !ok || is.File != "" {
		t.Errorf("a file that does not define the app: %+v, %v", is, ok)
	}
	several := god(t, dir, shop, startedApp{"other", dir})
	if is, ok := PM2Of(host.Local{}, several, config); ok {
		t.Errorf("one of several apps: %+v", is)
	}
	all := PM2Apps(host.Local{}, several, config)
	if len(all) != 2 || all[0].Name != "other" || all[0].File != "" || all[1] != want {
		t.Errorf("several apps: %+v, want other and %+v", all, want)
	}
	if children, err := hostproc.Forked(host.Local{}, several); err != nil || len(children) != 2 {
		t.Errorf("the processes of several apps: %v, %v", children, err)
	} else {
		got := map[string]bool{}
		for _, child := range children {
			if is, ok := PM2Of(host.Local{}, child, config); ok {
				got[is.Name] = true
			}
		}
		if !got["shop"] || !got["other"] {
			t.Errorf("each process has its app: %v", got)
		}
	}
	if is, ok := PM2Of(host.Local{}, os.Getpid(), config); ok {
		t.Errorf("without a pm2: %+v", is)
	}
}
