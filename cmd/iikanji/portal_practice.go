package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/lead"
	"github.com/iikanji/iikanji/internal/portal/worker"
	"github.com/iikanji/iikanji/internal/show/report"
)

// practiceText is the contest of a training on one machine.
const practiceText = `name = { ja = "%[1]s の練習", en = "Practice: %[1]s" }
local = true

[[rounds]]
id = "open"
kind = "open"
title = { ja = "練習", en = "Practice" }
problem = "%[1]s"
start = %[4]s

[problem.%[1]s]
arena = "%[1]s"
load = "%[2]s"
timeout = "%[3]s"
`

// practice runs an arena's stack, a worker and a team beside the portal.
func (c *portalUpCmd) practice(ctx context.Context, e *env, p *portalProcess, l net.Listener) (err error) {
	a, err := findArena(c.Practice)
	if err != nil {
		return err
	}
	progress := report.NewProgress(e.Stderr, e.TTY, e.width, e.Now)
	defer progress.Done()
	s, err := stack.Up(ctx, a, stack.Options{Dir: filepath.Clean(c.Dir) + "-" + c.Practice, Progress: func(line string) { progress.Say("%s", line) }})
	if err != nil {
		return err
	}
	defer func() {
		progress.Say("stopping")
		down, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		err = errors.Join(err, s.Down(down))
	}()
	link, err := p.practiceTeam(ctx, c.Practice, c.Load, s.Places().URL(), c.url(l))
	if err != nil {
		return err
	}
	w, err := c.worker(p, c.url(l))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var all sync.WaitGroup
	defer all.Wait()
	all.Go(func() {
		if err := w.Run(ctx, ctx); err != nil {
			p.log.Error("the worker ended", "error", err)
		}
	})
	if err := c.announcePractice(e, s, link); err != nil {
		return err
	}
	return p.serve(ctx, l)
}

// practiceTeam makes the contest and its team, once, and returns a login link.
func (p *portalProcess) practiceTeam(ctx context.Context, arena string, load time.Duration, target, url string) (string, error) {
	id := "practice-" + arena
	text := fmt.Sprintf(practiceText, arena, load, load+90*time.Second, p.core.Now().Format(time.RFC3339))
	_, err := p.core.AddContest(ctx, []byte(text), id+".toml")
	if refused := (*api.RefusedError)(nil); errors.As(err, &refused) && refused.Code == "exists" {
		err = nil
	}
	if err != nil {
		return "", err
	}
	account, team, err := p.core.FindAccount(ctx, id)
	if errors.Is(err, api.ErrNotFound) {
		if team, err = p.core.AddTeam(ctx, lead.NewTeam{Contest: id, Name: "practice"}); err != nil {
			return "", err
		}
		account, err = p.core.AddAccount(ctx, id, api.Leader, team)
	}
	if err != nil {
		return "", err
	}
	// The stack may have another port than at the last start.
	if err := p.core.OnlyHost(ctx, id, team, "this machine", target); err != nil {
		return "", err
	}
	token, err := p.core.AddToken(ctx, lead.ScopeLogin, account, 24*time.Hour)
	return url + "/login?token=" + token, err
}

// worker is the worker of this process.
func (c *portalUpCmd) worker(p *portalProcess, url string) (*worker.Worker, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	dir := filepath.Join(c.Dir, "worker")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the worker's folder: %w", err)
	}
	return worker.New(worker.Options{URL: url, Token: p.tokens.worker, Name: "this machine", Dir: dir, Program: program, Version: versionText(), Log: p.log})
}

// versionText is the version that a worker tells.
func versionText() string { return versionOf().Version }

func (c *portalUpCmd) announcePractice(e *env, s *stack.Stack, link string) error {
	if c.JSON {
		return writeJSON(e.Stdout, map[string]string{"login": link, "site": s.Places().URL(), "round": lead.RoundID("practice-"+c.Practice, "open")})
	}
	out := &output{w: e.Stdout}
	out.line("%s is ready for practice. Open this link; it works once:\n\n  %s\n", c.Practice, link)
	out.line("  site     %s", s.Places().URL())
	for _, at := range servicesAt(s) {
		if at.Source != "" {
			out.line("  source   %s", at.Source)
		}
	}
	out.line("  configs  %s\n\nCtrl-C stops it.", s.Places().Conf)
	return out.err
}
