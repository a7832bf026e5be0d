package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/day/deploy"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/site/livesite"
	"github.com/iikanji/iikanji/internal/site/target"
)

// appOf is an app of a machine as it is deployed.
func appOf(s *livesite.Subject, h host.Host, svc *target.Service) deploy.App {
	a := deploy.App{Name: svc.Name, Engine: svc.Engine, Source: svc.App.Source, Program: svc.Program, Package: svc.App.Package, Build: svc.App.Build}
	exe := ""
	if s != nil {
		for _, pid := range s.GroupsOn(svc.Host)[svc.Name] {
			exe, _ = h.Readlink(fmt.Sprintf("/proc/%d/exe", pid)) // of another account: it stays unknown
		}
	}
	base := filepath.Base(exe)
	for _, engine := range []iikanji.Engine{iikanji.EngineRuby, iikanji.EngineNode, iikanji.EnginePython} {
		if svc.Engine == engine && strings.HasPrefix(base, string(engine)) {
			a.Interpreter = exe
		}
	}
	interpreted := svc.Engine != iikanji.EngineGo && svc.Engine != ""
	if a.Program == "" && !interpreted && exe != "" {
		a.Program = strings.TrimSuffix(exe, " (deleted)")
	}
	if interpreted && svc.App.Build == "" { // its program is an interpreter
		a.Program = ""
	}
	return a
}

// options are those of the deployment of an app on its machine. Without a site only what is
// kept can be read.
func (c *deployCmd) options(ctx context.Context, e *env, s *livesite.Subject, dir string, svc *target.Service, say func(string)) (deploy.Options, error) {
	o := deploy.Options{Host: host.Local{}, Dir: keepFolder(dir, svc), As: process.OwnerOf, Limit: c.Health, Say: say, Now: e.Now}
	if svc.Host != "" {
		o.Keep = host.Local{}
	}
	if c.From != "there" && c.From != "git" {
		var err error
		if o.From, err = filepath.Abs(c.From); err != nil {
			return o, fmt.Errorf("finding the folder %s: %w", c.From, err)
		}
	}
	if s == nil {
		o.App = deploy.App{Name: svc.Name, Source: svc.App.Source}
		return o, nil
	}
	var err error
	if svc.Host == "" {
		o.Path = searchPathOf(s, svc.Name)
	} else if o.Host, err = s.Site().On(svc.Host); err != nil {
		return o, err
	} else {
		o.As = func(dir string) (*syscall.Credential, []string, error) { return process.OwnerOn(o.Host, dir) }
		o.Path = farPath(ctx, s, o.Host, svc, o.As)
	}
	o.App = appOf(s, o.Host, svc)
	o.Log = func() []string { return lastLog(o.Host, svc) }
	o.Restart = func(ctx context.Context) error { return restartAll(ctx, s, svc, o.Host, o.App) }
	o.Healthy = healthOf(ctx, s, svc, o.Host)
	return o, nil
}

// commandEnv is the environment of commands of a machine.
func commandEnv(h host.Host) []string {
	if h.Name() == "" {
		return os.Environ()
	}
	return process.FarEnv()
}

// farPath is the search path for the commands of an app on another machine: that of its
// process, that of a login of the owner of its source, and the usual one.
func farPath(ctx context.Context, s *livesite.Subject, h host.Host, svc *target.Service, as func(string) (*syscall.Credential, []string, error)) string {
	var paths []string
	for _, pid := range s.GroupsOn(svc.Host)[svc.Name] {
		environ, _ := h.Read(fmt.Sprintf("/proc/%d/environ", pid)) // it may have ended
		for _, kv := range bytes.Split(environ, []byte{0}) {
			if path, ok := bytes.CutPrefix(kv, []byte("PATH=")); ok {
				paths = append(paths, string(path))
			}
		}
	}
	ctx, cancel := context.WithTimeout(ctx, oneAsk)
	defer cancel()
	if cred, env, err := as(svc.App.Source); err == nil {
		res, err := h.Exec(ctx, host.Command{Path: "/bin/sh", Args: []string{"-lc", `printf '\n%s' "$PATH"`}, Env: env, Dir: "/", As: cred})
		lines := strings.Split(string(res.Output), "\n")
		if last := lines[len(lines)-1]; err == nil && res.Status == 0 && strings.HasPrefix(last, "/") {
			paths = append(paths, last)
		}
	}
	return strings.Join(append(paths, process.FarSearch), ":")
}

// searchPathOf is the PATH of a running service, "" if it is not known.
func searchPathOf(s *livesite.Subject, service string) string {
	for _, kv := range s.Site().Services[service].Env {
		if path, ok := strings.CutPrefix(kv, "PATH="); ok {
			return path + ":" + os.Getenv("PATH")
		}
	}
	return ""
}

// oneAsk limits one question to an app.
const oneAsk = 5 * time.Second

// healthOf asks whether an app serves on its machine: by its health, by a page of its own,
// and by the site's. A page that had an error before does not count.
func healthOf(ctx context.Context, s *livesite.Subject, svc *target.Service, h host.Host) func(context.Context) error {
	probes := []func(context.Context) error{s.AskSite}
	page := func(network string) func(context.Context) error {
		return func(ctx context.Context) error {
			now, err := asAsked(s, svc, h)
			if err != nil {
				return err
			}
			address := now.Socket
			if network == "tcp" {
				address = target.Reachable(now.Listen)
			}
			status, err := process.PageOver(ctx, h.Dial, "http://"+svc.Name+"/", network, address)
			if err == nil && status >= http.StatusInternalServerError {
				err = fmt.Errorf("service %s answers %d %s", placed(svc), status, http.StatusText(status))
			}
			return err
		}
	}
	switch {
	case svc.Listen != "":
		probes = append(probes, page("tcp"))
	case svc.Socket != "":
		probes = append(probes, page("unix"))
	}
	ask := func(ctx context.Context, probe func(context.Context) error) error {
		ctx, cancel := context.WithTimeout(ctx, oneAsk)
		defer cancel()
		return probe(ctx)
	}
	good := []func(context.Context) error{func(ctx context.Context) error {
		now, err := asAsked(s, svc, h)
		if err == nil {
			err = s.Ask(ctx, now)
		}
		return err
	}}
	for _, p := range probes {
		if ask(ctx, p) == nil {
			good = append(good, p)
		}
	}
	return func(ctx context.Context) error {
		for _, p := range good {
			if err := ask(ctx, p); err != nil {
				return err
			}
		}
		return nil
	}
}

// logTail is how much of a log is read for its last lines, in bytes.
const logTail = 64 << 10

// lastLog is the end of what a service has logged.
func lastLog(h host.Host, svc *target.Service) []string {
	for _, path := range []string{svc.Logs.Output, svc.Logs.Error} {
		if path == "" {
			continue
		}
		f, err := h.Open(path)
		if err != nil {
			continue
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil && info.Size() > 0 {
			text := make([]byte, min(info.Size(), logTail))
			n, _ := f.ReadAt(text, info.Size()-int64(len(text)))
			return deploy.LastLines(string(text[:n]), 10)
		}
	}
	if svc.Unit == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), oneAsk)
	defer cancel()
	res, err := h.Exec(ctx, host.Command{Path: "/bin/sh", Args: []string{"-c", "journalctl -q -o cat --no-pager -n 10 -u " + host.Quote(svc.Unit)}, Env: commandEnv(h), Dir: "/"})
	if err != nil || res.Status != 0 {
		return nil
	}
	return deploy.LastLines(string(res.Output), 10)
}
