package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/day/deploy"
	"github.com/iikanji/iikanji/internal/day/notice"
	"github.com/iikanji/iikanji/internal/machine/host"
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
main branch is refused. An app on several machines is deployed on one after the
other, from the source on each; the first one that fails ends it.

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
	dir, hist, err := c.folders(t)
	if err != nil {
		return err
	}
	var apps []*target.Service
	if !changes {
		file, err := livesite.Placed(t.file, dir)
		if err != nil {
			return err
		}
		if apps, err = c.apps(file); err != nil {
			return err
		}
		t.grants = placesGranted(apps)
	}
	if c.Failed != "" {
		return c.writeFailed(ctx, e, dir, apps)
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
			if err := allReached(s, apps); err != nil {
				return err
			}
			done, err = oneByOne(apps, func(app *target.Service) (*deploy.Result, error) { return c.one(ctx, e, t, s, h, dir, app, say) })
			return err
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

// one deploys one app on its machine, restarts its twins there, and tells of it.
func (c *deployCmd) one(ctx context.Context, e *env, t *namedTarget, s *livesite.Subject, h *history.History, dir string, svc *target.Service, say func(string)) (*deploy.Result, error) {
	o, err := c.options(ctx, e, s, dir, svc, say)
	if err != nil {
		return nil, err
	}
	o.Forbids = t.file.Contest.ForbidsRemote
	who := e.who(ctx, t)
	var res *deploy.Result
	err = c.allowed(ctx, &o, say)
	switch {
	case err != nil:
		return nil, err
	case c.Back:
		if err = deploy.Back(ctx, o); err == nil {
			res = &deploy.Result{Service: svc.Name, Host: svc.Host, Form: "back"}
		}
	default:
		res, err = deploy.Deploy(ctx, o)
	}
	text := fmt.Sprintf("deploy of %s by %s", placed(svc), who)
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

// writeFailed writes the source of the last version that did not serve.
func (c *deployCmd) writeFailed(ctx context.Context, e *env, dir string, apps []*target.Service) error {
	app, err := theFailed(dir, apps)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.Failed, 0o755); err != nil {
		return fmt.Errorf("making the folder: %w", err)
	}
	o, err := c.options(ctx, e, nil, dir, app, func(string) {})
	if err != nil {
		return err
	}
	n, err := deploy.Failed(o, c.Failed)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.Stdout, "%s written into %s\n", report.Number(n, "file"), c.Failed)
	return err
}

// theFailed is the only app that was named, or of several the one with a failed version.
func theFailed(dir string, apps []*target.Service) (*target.Service, error) {
	var failed []*target.Service
	for _, app := range apps {
		if deploy.HasFailed(host.Local{}, keepFolder(dir, app)) {
			failed = append(failed, app)
		}
	}
	switch {
	case len(apps) == 1:
		return apps[0], nil
	case len(failed) != 1:
		return nil, usageError("--failed: name the app; %d have a failed version", len(failed))
	}
	return failed[0], nil
}

func (c *deployCmd) print(e *env, done []*deploy.Result) error {
	if c.JSON {
		return writeJSON(e.Stdout, done)
	}
	out := &output{w: e.Stdout}
	for _, r := range done {
		name := iikanji.PlacedOn(r.Service, r.Host)
		if r.Form == "back" {
			out.line("%s: the former version serves", report.Clean(name))
			continue
		}
		out.line("%s: %s, %s changed; it serves, %s after its restart", report.Clean(name), r.Form, report.Number(len(r.Changed), "file"),
			report.Duration(r.Healthy.Round(time.Millisecond)))
	}
	return out.err
}
