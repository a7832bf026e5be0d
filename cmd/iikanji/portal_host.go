package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/hosts"
	"github.com/iikanji/iikanji/internal/show/report"
)

type portalJoinCmd struct {
	Portal    string `help:"Address of the portal, as in https://portal.example." required:"" placeholder:"URL"`
	TokenFile string `help:"File with the token of this host." required:"" type:"path" placeholder:"FILE"`
	Listen    string `help:"Where workers ask this machine for its proof." default:":8790" placeholder:"HOST:PORT"`
}

// Help returns the long help of the command.
func (portalJoinCmd) Help() string {
	return `Runs on a team's machine until Ctrl-C: tells the portal every 10 seconds what the
machine is (boot id, SSH host keys, cores, memory, free space, clock), and answers the
workers' checks with a proof that it has the token. It reads, and changes nothing;
iikanji portal check shows what it tells. The final judging sees by it that the machine
has rebooted: start it as a service.

Examples:
  iikanji portal join --portal http://127.0.0.1:8780 --token-file host.token

Exit status: 0 stopped, 1 failed to run or refused, 2 usage.`
}

// Run runs the command.
func (c *portalJoinCmd) Run(ctx context.Context, e *env) error {
	if err := checkPortal(c.Portal); err != nil {
		return err
	}
	token, err := os.ReadFile(c.TokenFile)
	if err != nil {
		return fmt.Errorf("reading the token: %w", err)
	}
	// The agent answers with proofs of a secret, and with nothing else: it may be reached from
	// other machines.
	l, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return hinted(fmt.Errorf("answering checks: %w", err), "choose another port with --listen")
	}
	defer l.Close()
	a := &hosts.Agent{Portal: c.Portal, Token: strings.TrimSpace(string(token)), Log: slog.New(slog.NewTextHandler(e.Stderr, nil)), Now: e.Now}
	return a.Run(ctx, l)
}

type portalCheckCmd struct {
	JSON bool `help:"Print one JSON document."`
}

// Help returns the long help of the command.
func (portalCheckCmd) Help() string {
	return `Shows what iikanji portal join would tell of this machine, and for each thing that is
wrong its remedy. It sends nothing.

Examples:
  iikanji portal check
  iikanji portal check --json

Exit status: 0 done, 1 failed to run, 2 usage.`
}

// Run runs the command.
func (c *portalCheckCmd) Run(_ context.Context, e *env) error {
	a := &hosts.Agent{Now: e.Now}
	b, err := a.Beat(0)
	if err != nil {
		return err
	}
	findings := hosts.Look(b.Facts, b.Keys, time.Time{})
	if c.JSON {
		return writeJSON(e.Stdout, map[string]any{"tells": b, "findings": findings})
	}
	out := &output{w: e.Stdout}
	for _, f := range findings {
		out.line("%-8s %s", f.What, report.Clean(f.Says))
		if f.Remedy != "" {
			out.line("         %s", f.Remedy)
		}
	}
	return out.err
}

type portalHostCmd struct {
	Add    portalHostAddCmd    `cmd:"" help:"Register a machine of the team."`
	List   portalHostListCmd   `cmd:"" help:"List the machines of the team, or of all for staff."`
	Remove portalHostRemoveCmd `cmd:"" help:"Remove a machine."`
}

// Help returns the long help of the command.
func (portalHostCmd) Help() string { return portalHostAddCmd{}.Help() }

type portalHostAddCmd struct {
	Round   string `arg:"" help:"Round, as in cup_final."`
	Name    string `arg:"" help:"Name of the machine, as in s1."`
	Address string `arg:"" help:"Address of its site, as in http://10.20.0.3:80."`
	Team    string `help:"Team, for staff." placeholder:"ID"`
	JSON    bool   `help:"Print one JSON document."`
	portalCaller
}

// Help returns the long help of the command.
func (portalHostAddCmd) Help() string {
	return `Registers a machine of a team, and prints a token for it. The machine is proven when a
worker has reached it: either iikanji portal join runs on it with the token, or its site
answers the printed text at the printed path. Runs are refused until then. The name of a
registered machine makes another token for it.

Examples:
  iikanji portal host add cup_final s1 http://127.0.0.1:8080
  iikanji portal host list cup_final
  iikanji portal host remove cup_final HOST

Exit status: 0 done, 1 failed to run or refused, 2 usage.`
}

// Run runs the command.
func (c *portalHostAddCmd) Run(ctx context.Context, e *env) error {
	var made api.MadeHost
	err := c.call(ctx, http.MethodPost, "/rounds/"+url.PathEscape(c.Round)+"/hosts", api.NewHost{Team: c.Team, Name: c.Name, Address: c.Address}, &made)
	if err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(e.Stdout, made)
	}
	out := &output{w: e.Stdout}
	out.line("host   %s\ntoken  %s\n\nOn the machine: iikanji portal join --portal %s --token-file FILE\nor let its site answer %s with\n%s", made.Host, made.Token, c.Portal, made.Path, made.Text)
	return out.err
}

type portalHostListCmd struct {
	Round string `arg:"" help:"Round, as in cup_final."`
	JSON  bool   `help:"Print one JSON document."`
	portalCaller
}

// Help returns the long help of the command.
func (portalHostListCmd) Help() string {
	return `Lists machines: whether they are proven, when they were reached, and what is wrong.

Examples:
  iikanji portal host list cup_final --json

Exit status: 0 done, 1 failed to run, 2 usage.`
}

// Run runs the command.
func (c *portalHostListCmd) Run(ctx context.Context, e *env) error {
	all := []api.Host{}
	if err := c.call(ctx, http.MethodGet, "/rounds/"+url.PathEscape(c.Round)+"/hosts", nil, &all); err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(e.Stdout, all)
	}
	out := &output{w: e.Stdout}
	for _, h := range all {
		state := "not proven"
		if h.Proven {
			state = "proven"
		}
		if h.Problem != "" {
			state += ": " + h.Problem
		}
		out.line("%s", report.Clean(fmt.Sprintf("%s  %s of %s  %s  by %s  %s", h.ID, h.Name, h.Team, h.Address, h.Way, state)))
	}
	return out.err
}

type portalHostRemoveCmd struct {
	Round string `arg:"" help:"Round, as in cup_final."`
	Host  string `arg:"" help:"The machine's id."`
	JSON  bool   `help:"Print one JSON document."`
	portalCaller
}

// Help returns the long help of the command.
func (portalHostRemoveCmd) Help() string {
	return `Removes a machine of a team. A run that waits for it is not made, and not charged.

Examples:
  iikanji portal host remove cup_final HOST

Exit status: 0 done, 1 failed to run, 2 usage.`
}

// Run runs the command.
func (c *portalHostRemoveCmd) Run(ctx context.Context, e *env) error {
	var none struct{}
	if err := c.call(ctx, http.MethodDelete, "/rounds/"+url.PathEscape(c.Round)+"/hosts/"+url.PathEscape(c.Host), nil, &none); err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(e.Stdout, map[string]string{"removed": c.Host})
	}
	out := &output{w: e.Stdout}
	out.line("removed %s", report.Clean(c.Host))
	return out.err
}
