package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/day/deploy"
	"github.com/iikanji/iikanji/internal/day/notice"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/site/livesite"
	"github.com/iikanji/iikanji/internal/site/target"
)

type deployCmd struct {
	Service string `arg:"" optional:"" help:"App to deploy (default: every app with a source)."`

	From   string        `help:"Where the source comes from: there (as it lies in its folder), git (git pull --ff-only), or a folder whose files are put over it." default:"there" placeholder:"there|git|FOLDER"`
	Health time.Duration `help:"Time within which the new version must serve." default:"30s"`
	Anyway bool          `help:"Deploy a branch that lacks commits of the remote's main branch."`
	Back   bool          `help:"Put the version before the last deployment back."`
	Failed string        `help:"Write the source of the last version that did not serve into this folder, and deploy nothing." type:"path" placeholder:"FOLDER"`
	Etc    bool          `help:"Write the files of the ledger that differ, and reload only the services that read them; deploy no app."`
	Ledger string        `help:"With --etc: working tree of the ledger, such as a clone (default: that of the work folder)." type:"path" placeholder:"FOLDER"`
	Logs   string        `help:"Turn access logs and slow logs off, or on again; deploy no app." enum:",on,off" default:"" placeholder:"on|off"`
	JSON   bool          `help:"Print one JSON document."`
	clockFlag
	turnFlags
}

// Help returns the long help of the command.
func (deployCmd) Help() string {
	return `Builds an app, puts it into service and asks whether it serves. If it does not
within 30 s, the former version returns, and the last lines of its log are shown.

The build command of iikanji.toml is used, else what the source has: go.mod,
Cargo.toml, Gemfile, package.json, a lock file of Python, composer.json, cpanfile,
or a Makefile. Syntax is checked and dependencies are installed first, where
their lock file has changed. A program is replaced by a rename, a PHP-FPM is
reloaded, other apps are restarted. A branch that lacks commits of the remote's
main branch is refused.

Examples:
  iikanji deploy
  iikanji deploy --from git
  iikanji deploy --back
  iikanji deploy --logs off
  iikanji deploy --logs on
  iikanji deploy --etc

Exit status: 0 it serves, 1 failed to run (also: the former version serves), 2
usage.`
}

// Run runs the command.
func (c *deployCmd) Run(ctx context.Context, e *env) error {
	t, err := findTargetOrHere(c.Target)
	if err != nil {
		return err
	}
	if t.file == nil {
		return usageError("deploy is for sites with an iikanji.toml: an arena builds its app itself")
	}
	if c.Health < time.Second || c.Health > 10*time.Minute {
		return usageError("--health %v: want 1s to 10m", c.Health)
	}
	changes := c.Etc || c.Logs != ""
	if c.Etc && c.Logs != "" || changes && (c.Service != "" || c.Back || c.Failed != "" || c.From != "there") {
		return usageError("--etc and --logs go with nothing else")
	}
	var apps []*target.Service
	if !changes {
		if apps, err = c.apps(t.file); err != nil {
			return err
		}
	}
	dir, hist, err := c.folders(t)
	if err != nil {
		return err
	}
	if c.Failed != "" {
		return c.writeFailed(e, dir, apps)
	}
	h, err := openHistory(ctx, e, t, dir, hist, acting{what: "deploy", changes: true, clockFlag: c.clockFlag})
	if err != nil {
		return err
	}
	defer h.Close()
	if err := refuseHalfDone(h, t, c.placeFlags); err != nil {
		return err
	}
	progress := report.NewProgress(e.Stderr, e.TTY, e.width, e.Now)
	defer progress.Done()
	say := func(line string) { progress.Say("%s", report.Clean(line)) }
	var done []*deploy.Result
	var made []*iikanji.Change
	err = withMachines(ctx, t, true, say, func() error {
		o := livesite.Options{File: t.file, Dir: dir, Progress: say, Partly: true, Hosts: t.hosts, Ended: func(err error) { say(err.Error()) }}
		return livesite.Use(ctx, o, func(ctx context.Context, s *livesite.Subject) error {
			if changes {
				made, err = c.files(ctx, e, t, s, h, dir)
				return err
			}
			for _, app := range apps {
				res, err := c.one(ctx, e, t, s, h, dir, app, say)
				if err != nil {
					return err
				}
				done = append(done, res)
			}
			return nil
		})
	})
	progress.Done()
	if changes {
		if err == nil {
			err = c.printFiles(e, made)
		}
		return err
	}
	return errors.Join(c.print(e, done), err)
}

// apps are the apps to deploy. Of several services with one source and one program, the
// first builds it, and the others are restarted with it.
func (c *deployCmd) apps(f *target.File) ([]*target.Service, error) {
	var out []*target.Service
	for i := range f.Services {
		s := &f.Services[i]
		if s.Role != iikanji.RoleApp || c.Service != "" && s.Name != c.Service {
			continue
		}
		if s.Host != "" {
			return nil, hinted(fmt.Errorf("%s runs on %s, and deploy puts apps of its own machine into service", s.Name, s.Host), "build it there and restart its unit")
		}
		if s.App.Source == "" {
			if c.Service != "" {
				return nil, hinted(fmt.Errorf("the source of %s is not known", s.Name), "write source below its [service.app]")
			}
			continue
		}
		out = append(out, s)
	}
	if len(out) == 0 && c.Service != "" {
		return nil, usageError("there is no app %q", c.Service)
	}
	if len(out) == 0 {
		return nil, hinted(errors.New("no app of the site has a source"), "write source below [service.app]")
	}
	var first []*target.Service
	for _, s := range out {
		if !isTwinOf(s, first) {
			first = append(first, s)
		}
	}
	return first, nil
}

// isTwinOf reports whether a service runs the program and source of one of others.
func isTwinOf(s *target.Service, others []*target.Service) bool {
	for _, o := range others {
		if o.App.Source == s.App.Source && o.Program == s.Program && o.Name != s.Name {
			return true
		}
	}
	return false
}

// keepFolder is where former versions of an app are kept.
func keepFolder(dir, service string) string { return filepath.Join(dir, "deploy", service) }

// appOf is an app as it is deployed.
func appOf(s *livesite.Subject, svc *target.Service) deploy.App {
	a := deploy.App{Name: svc.Name, Engine: svc.Engine, Source: svc.App.Source, Program: svc.Program, Package: svc.App.Package, Build: svc.App.Build}
	exe := ""
	if s != nil {
		for _, pid := range s.Groups()[svc.Name] {
			exe, _ = os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)) // of another account: it stays unknown
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

// options are those of the deployment of an app.
func (c *deployCmd) options(e *env, s *livesite.Subject, dir string, svc *target.Service, say func(string)) deploy.Options {
	o := deploy.Options{Host: host.Local{}, App: appOf(s, svc), Dir: keepFolder(dir, svc.Name), As: process.OwnerOf, Limit: c.Health, Say: say, Now: e.Now,
		Log: func() []string { return lastLog(svc) }}
	if c.From != "there" && c.From != "git" {
		o.From = c.From
	}
	if s != nil {
		o.Path = searchPathOf(s, svc.Name)
	}
	return o
}

// one deploys one app, restarts its twins, and tells of it.
func (c *deployCmd) one(ctx context.Context, e *env, t *namedTarget, s *livesite.Subject, h *history.History, dir string, svc *target.Service, say func(string)) (*deploy.Result, error) {
	o := c.options(e, s, dir, svc, say)
	o.Restart = func(ctx context.Context) error { return restartAll(ctx, s, t.file, svc, o.App) }
	o.Healthy = healthOf(ctx, s, svc)
	who := e.who(ctx, t)
	var res *deploy.Result
	err := c.allowed(ctx, &o, say)
	switch {
	case err != nil:
		return nil, err
	case c.Back:
		if err = deploy.Back(ctx, o); err == nil {
			res = &deploy.Result{Service: svc.Name, Form: "back"}
		}
	default:
		res, err = deploy.Deploy(ctx, o)
	}
	text := fmt.Sprintf("deploy of %s by %s", svc.Name, who)
	n := notice.Notice{Kind: "deploy"}
	if err != nil {
		text += " failed: " + firstLineOf(err)
		var failed *deploy.FailedError
		if errors.As(err, &failed) && !failed.Returned {
			text += "; THE FORMER VERSION DOES NOT SERVE"
		}
	} else {
		text += fmt.Sprintf(": %s, %s changed, serves after %s", res.Form, report.Number(len(res.Changed), "file"), report.Duration(res.Healthy.Round(time.Millisecond)))
	}
	n.Title = text
	noted := h.Append(history.Event{What: history.Noted, Text: text})
	e.tell(ctx, t, n)
	return res, errors.Join(err, noted)
}

func firstLineOf(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// allowed brings the source from git, if asked for, and refuses a branch behind the others.
func (c *deployCmd) allowed(ctx context.Context, o *deploy.Options, say func(string)) error {
	if c.Back {
		return nil
	}
	if c.From == "git" {
		if err := deploy.Pull(ctx, o); err != nil {
			return err
		}
	}
	note, err := deploy.Branch(ctx, o)
	if note != "" {
		say(note)
	}
	var behind *deploy.BehindError
	if c.Anyway && errors.As(err, &behind) {
		say(behind.Error())
		return nil
	}
	return err
}

// restartAll makes a service and its twins run what is deployed, one after the other.
func restartAll(ctx context.Context, s *livesite.Subject, f *target.File, svc *target.Service, app deploy.App) error {
	form, err := deploy.Detect(host.Local{}, &app)
	if err != nil {
		return err
	}
	for i := range f.Services {
		o := &f.Services[i]
		if o.Name != svc.Name && !(o.Role == iikanji.RoleApp && isTwinOf(o, []*target.Service{svc})) {
			continue
		}
		if form.Live {
			err = reload(ctx, s, o)
		} else {
			err = s.Restart(ctx, o.Name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// reload makes a PHP-FPM start its workers again.
func reload(ctx context.Context, s *livesite.Subject, svc *target.Service) error {
	running := s.Site().Services[svc.Name]
	if running.Reloads && running.Running != nil {
		return running.Running.Reload(ctx)
	}
	if svc.Unit != "" {
		res, err := host.Local{}.Exec(ctx, host.Command{Path: "/bin/sh", Args: []string{"-c", "systemctl reload " + host.Quote(svc.Unit)}, Env: os.Environ()})
		if err == nil && res.Status != 0 {
			err = fmt.Errorf("systemctl reload %s: %s", svc.Unit, strings.Join(deploy.LastLines(string(res.Output), 3), "; "))
		}
		return err
	}
	pids := s.Groups()[svc.Name]
	if len(pids) == 0 {
		return &livesite.NotRunningError{Service: svc.Name, By: "its process, which has ended"}
	}
	return host.Local{}.Signal(pids[0], syscall.SIGUSR2)
}

// oneAsk limits one question to an app.
const oneAsk = 5 * time.Second

// healthOf asks whether an app serves: by its health, by a page of its own, and by the
// site's. A page that had an error before does not count.
func healthOf(ctx context.Context, s *livesite.Subject, svc *target.Service) func(context.Context) error {
	probes := []func(context.Context) error{s.AskSite}
	page := func(network, address string) func(context.Context) error {
		return func(ctx context.Context) error {
			status, err := process.Page(ctx, "http://"+svc.Name+"/", network, address)
			if err == nil && status >= http.StatusInternalServerError {
				err = fmt.Errorf("service %s answers %d %s", svc.Name, status, http.StatusText(status))
			}
			return err
		}
	}
	switch {
	case svc.Listen != "":
		probes = append(probes, page("tcp", target.Reachable(svc.Listen)))
	case svc.Socket != "":
		probes = append(probes, page("unix", svc.Socket))
	}
	ask := func(ctx context.Context, probe func(context.Context) error) error {
		ctx, cancel := context.WithTimeout(ctx, oneAsk)
		defer cancel()
		return probe(ctx)
	}
	good := []func(context.Context) error{func(ctx context.Context) error { return s.Ask(ctx, svc) }}
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

// searchPathOf is the PATH of a running service, "" if it is not known.
func searchPathOf(s *livesite.Subject, service string) string {
	for _, kv := range s.Site().Services[service].Env {
		if path, ok := strings.CutPrefix(kv, "PATH="); ok {
			return path + ":" + os.Getenv("PATH")
		}
	}
	return ""
}

// logTail is how much of a log is read for its last lines, in bytes.
const logTail = 64 << 10

// lastLog is the end of what a service has logged.
func lastLog(svc *target.Service) []string {
	for _, path := range []string{svc.Logs.Output, svc.Logs.Error} {
		f, err := os.Open(path)
		if path == "" || err != nil {
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
	res, err := host.Local{}.Exec(ctx, host.Command{Path: "/bin/sh", Args: []string{"-c", "journalctl -q -o cat --no-pager -n 10 -u " + host.Quote(svc.Unit)}, Env: os.Environ()})
	if err != nil || res.Status != 0 {
		return nil
	}
	return deploy.LastLines(string(res.Output), 10)
}

// writeFailed writes the source of the last version that did not serve.
func (c *deployCmd) writeFailed(e *env, dir string, apps []*target.Service) error {
	if len(apps) > 1 {
		return usageError("--failed: name the app")
	}
	if err := os.MkdirAll(c.Failed, 0o755); err != nil {
		return fmt.Errorf("making the folder: %w", err)
	}
	n, err := deploy.Failed(c.options(e, nil, dir, apps[0], func(string) {}), c.Failed)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.Stdout, "%s are in %s\n", report.Number(n, "file"), c.Failed)
	return err
}

func (c *deployCmd) print(e *env, done []*deploy.Result) error {
	if c.JSON {
		return writeJSON(e.Stdout, done)
	}
	out := &output{w: e.Stdout}
	for _, r := range done {
		if r.Form == "back" {
			out.line("%s: the former version serves", report.Clean(r.Service))
			continue
		}
		out.line("%s: %s, %s changed; it serves, %s after its restart", report.Clean(r.Service), r.Form, report.Number(len(r.Changed), "file"),
			report.Duration(r.Healthy.Round(time.Millisecond)))
	}
	return out.err
}
