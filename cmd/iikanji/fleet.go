package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/fleet"
	"github.com/iikanji/iikanji/internal/show/report"
)

// fleetCmd makes one profile of the logs of many hosts.
type fleetCmd struct {
	Site  fleetSiteCmd  `cmd:"" help:"Make the token of a site."`
	Agent fleetAgentCmd `cmd:"" help:"Follow logs on this host and send a profile each minute."`
	Show  fleetShowCmd  `cmd:"" help:"Show where the time of all hosts of a site went."`
}

// Help returns the long help of the command.
func (fleetCmd) Help() string {
	return `Makes one profile of the access logs or slow logs of many hosts: an agent on each sends
the profile of each minute to a portal, redacted and without a line of the log.

Examples:
  iikanji fleet site shop
  iikanji fleet show shop --since 1h

Exit status: 0 done, 1 failed to run, 2 usage.`
}

type fleetSiteCmd struct {
	Site string `arg:"" help:"Name of the site: up to 32 of a-z, 0-9 and -."`
	JSON bool   `help:"Print one JSON document."`
	portalDir
}

// Help returns the long help of the command.
func (fleetSiteCmd) Help() string {
	return `Makes a token with which agents on the hosts of a site send profiles, valid for a year.
The portal may run at the same time.

Examples:
  iikanji fleet site shop

Exit status: 0 done, 1 failed to run, 2 usage.`
}

// Run runs the command.
func (c *fleetSiteCmd) Run(ctx context.Context, e *env) (err error) {
	core, end, err := c.core(ctx, e)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	token, err := fleet.AddSite(ctx, core, c.Site, year)
	if err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(e.Stdout, map[string]string{"site": c.Site, "token": token})
	}
	out := &output{w: e.Stdout}
	out.line("token  %s\n\non each host: iikanji fleet agent --portal URL --token-file FILE --access /var/log/nginx/access.log", token)
	return out.err
}

type fleetAgentCmd struct {
	Portal    string   `help:"Address of the portal, as in https://portal.example." required:"" placeholder:"URL"`
	TokenFile string   `help:"File with the token of the site." required:"" type:"path" placeholder:"FILE"`
	Access    []string `help:"Access log to follow." type:"path" placeholder:"FILE" sep:"none"`
	Slow      []string `help:"Slow log to follow." type:"path" placeholder:"FILE" sep:"none"`
	Host      string   `help:"Name of this host (default: that of the machine)." placeholder:"NAME"`
	Dir       string   `help:"Folder for positions and for parts that were not sent (default: below the user's state folder)." type:"path" placeholder:"FOLDER"`
	accessFlags
}

// Help returns the long help of the command.
func (fleetAgentCmd) Help() string {
	return `Follows logs, also when they are rotated. At the end of each minute the profile of what
was added, as access --save and slow --save make it, is redacted and sent to the portal,
until it has it: parts wait on the disk, at most 256 MiB of them. A part counts once,
however often it is sent. Logs are read from their end at the first start, and from where
the agent ended after that. A slow log's last entry is read when the next one begins.

Examples:
  iikanji fleet agent --portal https://portal.example --token-file site.token --access /var/log/nginx/access.log
  iikanji fleet agent --portal https://portal.example --token-file site.token --slow /var/log/mysql/slow.log --host db1

Exit status: 0 stopped, 1 failed to run, 2 usage.`
}

// Run runs the command.
func (c *fleetAgentCmd) Run(ctx context.Context, e *env) error {
	if err := checkPortal(c.Portal); err != nil {
		return err
	}
	var logs []fleet.Log
	for _, path := range c.Access {
		logs = append(logs, fleet.Log{Kind: "access", Path: path})
	}
	for _, path := range c.Slow {
		logs = append(logs, fleet.Log{Kind: "slow", Path: path})
	}
	if len(logs) == 0 {
		return usageError("name a log with --access or --slow")
	}
	access, err := c.accessFlags.options(ctx)
	if err != nil {
		return err
	}
	token, err := os.ReadFile(c.TokenFile)
	if err != nil {
		return fmt.Errorf("reading the token: %w", err)
	}
	if c.Host == "" {
		if c.Host, err = os.Hostname(); err != nil {
			return fmt.Errorf("naming the host: %w", err)
		}
	}
	if c.Dir == "" {
		if c.Dir, err = stack.DefaultDir("fleet-agent"); err != nil {
			return err
		}
	}
	hold, err := lockFolder(c.Dir)
	if err != nil {
		return err
	}
	defer hold.Close()
	s := &partSender{url: strings.TrimSuffix(c.Portal, "/") + "/fleet/v1/parts", token: strings.TrimSpace(string(token))}
	a, err := fleet.NewAgent(fleet.Options{Host: c.Host, Logs: logs, Dir: c.Dir, Send: s.send, Access: access, Now: e.Now, Log: slog.New(slog.NewTextHandler(e.Stderr, nil))})
	if err != nil {
		return err
	}
	out := &output{w: e.Stdout}
	out.line("following %s as host %s; Ctrl-C ends it", report.Number(len(logs), "log"), report.Clean(c.Host))
	if out.err != nil {
		return out.err
	}
	return a.Run(ctx)
}

// A partSender sends parts to a portal.
type partSender struct{ url, token string }

// send sends one part. What the portal refuses for good is a *fleet.RejectedError.
func (s *partSender) send(ctx context.Context, p api.FleetPart) error {
	p.Token = s.token
	body, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("sending a part: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, quickly)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("sending a part: %w", err)
	}
	r.Header.Set("Content-Type", "application/json")
	// A redirect would carry the token elsewhere.
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	if err != nil {
		return fmt.Errorf("sending a part: %w", err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 4<<10))
	said := report.Clean(strings.TrimSpace(string(text)))
	switch {
	case err != nil:
		return fmt.Errorf("sending a part: %w", err)
	case answer.StatusCode == http.StatusOK:
		return nil
	case answer.StatusCode == http.StatusBadRequest || answer.StatusCode == http.StatusConflict:
		return &fleet.RejectedError{Text: said}
	}
	return fmt.Errorf("sending a part: the portal answered %d: %s", answer.StatusCode, said)
}

type fleetShowCmd struct {
	Site  string        `arg:"" help:"Name of the site."`
	Kind  string        `help:"access or slow." default:"access" enum:"access,slow"`
	Since time.Duration `help:"How far back, in whole minutes." default:"1h" placeholder:"TIME"`
	Until time.Duration `help:"Up to how long ago." default:"0s" placeholder:"TIME"`
	Save  string        `help:"Also save the profile to this file, for iikanji diff and merge." placeholder:"FILE"`
	tableFlags
	portalCaller
}

// Help returns the long help of the command.
func (fleetShowCmd) Help() string {
	return `Shows the merged profile of the hosts of a site: counts and sums are exact, percentiles
within 1 %. Hosts with missing minutes, with a clock that is more than 1 s off, or with a
log that cannot be read are named on standard error.

Examples:
  iikanji fleet show shop --since 1h
  iikanji fleet show shop --kind slow --since 10m --save now.json
  iikanji fleet show shop --since 2h --until 1h --save before.json

Exit status: 0 done, 1 failed to run, 2 usage.`
}

// Run runs the command.
func (c *fleetShowCmd) Run(ctx context.Context, e *env) error {
	if c.Since <= c.Until || c.Until < 0 || c.Since > 24*time.Hour {
		return usageError("--since %v --until %v: want at most the last 24 hours", c.Since, c.Until)
	}
	now := e.Now().UTC().Truncate(time.Minute).Add(time.Minute)
	q := url.Values{"since": {now.Add(-c.Since).Format(time.RFC3339)}, "until": {now.Add(-c.Until).Format(time.RFC3339)}}
	var got api.FleetProfile
	if err := c.call(ctx, http.MethodGet, "/fleet/"+url.PathEscape(c.Site)+"/"+c.Kind+"?"+q.Encode(), nil, &got); err != nil {
		return err
	}
	for _, h := range got.Hosts {
		if line := fleetTrouble(&h); line != "" {
			fmt.Fprintln(e.Stderr, report.Clean(line))
		}
	}
	if got.Profile == nil {
		return fmt.Errorf("no host of %s logged a line in this time", report.Clean(c.Site))
	}
	if c.Save != "" {
		if err := saveRedacted(c.Save, got.Profile, false); err != nil {
			return err
		}
	}
	table, err := c.tableFlags.table(e, viewOf(got.Profile))
	if err != nil {
		return err
	}
	return table.write(e.Stdout, got.Profile)
}

// fleetTrouble is what is wrong with a host; "" for nothing.
func fleetTrouble(h *api.FleetHost) string {
	var parts []string
	if h.Missing > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d minutes are missing", h.Missing, h.Missing+h.Minutes))
	}
	if h.Offset != 0 {
		parts = append(parts, fmt.Sprintf("its clock is %s off", h.Offset.Round(time.Millisecond)))
	}
	if h.Trouble != "" {
		parts = append(parts, h.Trouble)
	}
	if len(parts) == 0 {
		return ""
	}
	return "host " + h.Host + ": " + strings.Join(parts, "; ")
}

// lockFolder makes a folder and holds it for this process.
func lockFolder(dir string) (*os.File, error) {
	if err := privateFolder(dir); err != nil {
		return nil, fmt.Errorf("making the agent's folder: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("holding the agent's folder: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("another agent uses %s: %w", dir, err)
	}
	return f, nil
}
