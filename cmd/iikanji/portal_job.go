package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/show/report"
)

type portalJobCmd struct {
	Enqueue portalEnqueueCmd `cmd:"" help:"Enqueue a run."`
	List    portalListCmd    `cmd:"" help:"List runs, the newest first."`
	Cancel  portalCancelCmd  `cmd:"" help:"Cancel a run."`
}

// Help returns the long help of the command.
func (portalJobCmd) Help() string { return portalEnqueueCmd{}.Help() }

// portalCaller calls the API of a portal.
type portalCaller struct {
	Portal    string `help:"Address of the portal (default: that of the portal of this user's state folder)." placeholder:"URL"`
	TokenFile string `help:"File with a token (default: that of the portal's folder, of staff); IIKANJI_PORTAL_TOKEN has one, too." type:"path" placeholder:"FILE"`
}

// ready fills in the defaults.
func (c *portalCaller) ready() (token string, err error) {
	dir, err := stack.DefaultDir("portal")
	if err != nil {
		return "", err
	}
	if c.Portal == "" {
		var a access
		text, err := os.ReadFile(filepath.Join(dir, "access.json"))
		if err == nil {
			err = json.Unmarshal(text, &a)
		}
		if err != nil {
			return "", hinted(fmt.Errorf("finding the portal: %w", err), "name it with --portal")
		}
		c.Portal = a.URL
	}
	if err := checkPortal(c.Portal); err != nil {
		return "", err
	}
	if token = os.Getenv("IIKANJI_PORTAL_TOKEN"); token != "" && c.TokenFile == "" {
		return token, nil
	}
	text, err := os.ReadFile(cmp.Or(c.TokenFile, filepath.Join(dir, "admin.token")))
	if err != nil {
		return "", fmt.Errorf("reading the token: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

// call calls a path below /api/v1 and reads its answer into out.
func (c *portalCaller) call(ctx context.Context, method, path string, in, out any, header ...string) error {
	token, err := c.ready()
	if err != nil {
		return err
	}
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(text)
	}
	ctx, cancel := context.WithTimeout(ctx, quickly)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.Portal, "/")+"/api/v1"+path, body)
	if err != nil {
		return fmt.Errorf("calling the portal: %w", err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return fmt.Errorf("calling the portal: %w", err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 16<<20))
	if err != nil {
		return fmt.Errorf("calling the portal: %w", err)
	}
	if answer.StatusCode != http.StatusOK {
		var p struct{ Detail, Job string }
		if json.Unmarshal(text, &p) == nil && p.Detail != "" {
			return fmt.Errorf("the portal refused it: %s", report.Clean(strings.TrimSpace(p.Detail+" "+p.Job)))
		}
		return fmt.Errorf("the portal answered %s", answer.Status)
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("reading the portal's answer: %w", err)
	}
	return nil
}

type portalEnqueueCmd struct {
	Round string `arg:"" help:"Round, as in cup_final."`
	Team  string `help:"Team, for staff." placeholder:"ID"`
	Note  string `short:"m" help:"What was changed since the last run." placeholder:"TEXT"`
	Wait  bool   `help:"Wait for the result."`
	Key   string `help:"A repeated request with one key is one run." placeholder:"TEXT"`
	JSON  bool   `help:"Print the run as one JSON document."`
	portalCaller
}

// Help returns the long help of the command.
func (portalEnqueueCmd) Help() string {
	return `Enqueues a run of the benchmark, as the button of the team's page does.

Examples:
  iikanji portal job enqueue cup_final -m "an index" --wait
  iikanji portal job list cup_final
  iikanji portal job cancel JOB

Exit status: 0 done (with --wait: passed), 1 failed to run, 2 usage, 3 the run failed.`
}

// Run runs the command.
func (c *portalEnqueueCmd) Run(ctx context.Context, e *env) error {
	var j api.Job
	err := c.call(ctx, http.MethodPost, "/rounds/"+url.PathEscape(c.Round)+"/jobs", api.Enqueue{Team: c.Team, Note: c.Note}, &j, "Idempotency-Key", c.Key)
	if err != nil {
		return err
	}
	for c.Wait && j.State.Open() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
		if err := c.call(ctx, http.MethodGet, "/jobs/"+url.PathEscape(j.ID), nil, &j); err != nil {
			return err
		}
	}
	if err := c.print(e, &j); err != nil {
		return err
	}
	if c.Wait && (j.Result == nil || j.Result.Outcome.String() != "passed") {
		return &exitError{Status: exitChecks}
	}
	return nil
}

func (c *portalEnqueueCmd) print(e *env, j *api.Job) error {
	if c.JSON {
		return writeJSON(e.Stdout, j)
	}
	out := &output{w: e.Stdout}
	out.line("%s", jobLine(j))
	if j.Result != nil {
		for _, reason := range j.Result.Reasons {
			out.line("  %s", report.Clean(reason))
		}
	}
	return out.err
}

// jobLine is a run in one line.
func jobLine(j *api.Job) string {
	text := fmt.Sprintf("%s  run %d of %s  %s", j.ID, j.Number, j.Team, j.State)
	switch {
	case j.Result != nil:
		text += fmt.Sprintf("  %s %.0f", j.Result.Outcome, j.Result.Score)
	case j.Place > 0:
		text += fmt.Sprintf("  place %d, starts in about %s", j.Place, report.Duration(j.Starts))
	}
	if j.Text != "" {
		text += "  " + j.Text
	}
	return report.Clean(text)
}

type portalListCmd struct {
	Round string `arg:"" help:"Round, as in cup_final."`
	Team  string `help:"Team, for staff (default: all)." placeholder:"ID"`
	JSON  bool   `help:"Print one JSON document."`
	portalCaller
}

// Help returns the long help of the command.
func (portalListCmd) Help() string {
	return `Lists the runs of a round, the newest first: all of them with a token of staff, those
of the own team with a team's.

Examples:
  iikanji portal job list cup_final --json

Exit status: 0 done, 1 failed to run, 2 usage.`
}

// Run runs the command.
func (c *portalListCmd) Run(ctx context.Context, e *env) error {
	jobs := []api.Job{}
	if err := c.call(ctx, http.MethodGet, "/rounds/"+url.PathEscape(c.Round)+"/jobs?team="+url.QueryEscape(c.Team), nil, &jobs); err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(e.Stdout, jobs)
	}
	out := &output{w: e.Stdout}
	for i := range jobs {
		out.line("%s", jobLine(&jobs[i]))
	}
	return out.err
}

type portalCancelCmd struct {
	Job    string `arg:"" help:"The run's id."`
	Reason string `help:"Why; the team sees it." default:"cancelled" placeholder:"TEXT"`
	JSON   bool   `help:"Print the run as one JSON document."`
	portalCaller
}

// Help returns the long help of the command.
func (portalCancelCmd) Help() string {
	return `Cancels a run: one that waits at once, one that runs when its worker has stopped it.

Examples:
  iikanji portal job cancel JOB --reason "wrong host"

Exit status: 0 done, 1 failed to run, 2 usage.`
}

// Run runs the command.
func (c *portalCancelCmd) Run(ctx context.Context, e *env) error {
	var j api.Job
	if err := c.call(ctx, http.MethodPost, "/jobs/"+url.PathEscape(c.Job)+"/cancel", map[string]string{"reason": c.Reason}, &j); err != nil {
		return err
	}
	return (&portalEnqueueCmd{JSON: c.JSON}).print(e, &j)
}
