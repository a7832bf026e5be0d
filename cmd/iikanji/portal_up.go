package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/carry"
	"github.com/iikanji/iikanji/internal/portal/fleet"
	"github.com/iikanji/iikanji/internal/portal/lead"
	"github.com/iikanji/iikanji/internal/portal/node"
	"github.com/iikanji/iikanji/internal/portal/people"
	"github.com/iikanji/iikanji/internal/portal/store"
	"github.com/iikanji/iikanji/internal/portal/web"
)

type portalUpCmd struct {
	Practice string        `help:"Run a training round of this arena: its stack, a worker and a team on this machine." placeholder:"ARENA"`
	Load     time.Duration `help:"With --practice: length of the load of a run." default:"60s"`
	Contest  string        `help:"Contest file to keep, if the portal has none of its name." type:"path" placeholder:"FILE"`
	Listen   string        `help:"Address of the pages. Without TLS it has to be a loopback one." default:"127.0.0.1:8780" placeholder:"HOST:PORT"`
	Names    []string      `name:"host" help:"Name that browsers may use for this machine, beside loopback names." placeholder:"NAME" sep:"none"`
	Cert     string        `name:"tls-cert" help:"Certificate for https, with --tls-key." type:"path" placeholder:"FILE"`
	Key      string        `name:"tls-key" help:"Its key." type:"path" placeholder:"FILE"`
	Public   string        `help:"Address by which people reach the portal, for links in mails and sign-ins (default: that of --listen)." placeholder:"URL"`
	OIDC     string        `name:"oidc" help:"TOML file of sign-in services (OpenID Connect)." type:"path" placeholder:"FILE"`
	Mail     string        `help:"Server for mail, as in smtp://USER@HOST:587?from=portal@example.com; IIKANJI_PORTAL_MAIL has its password." placeholder:"URL"`
	JSON     bool          `help:"Print the addresses as one JSON document when the portal is up."`
	portalPeers
	portalDir
}

// Help returns the long help of the command.
func (portalUpCmd) Help() string {
	return `Runs a portal until Ctrl-C: pages, API, the queue, and the board. Its database and
its secrets are in one folder. Workers use the token in worker.token of that folder,
the commands of staff the one in admin.token.

With --practice an arena's stack, a worker and a team are on this machine, too: open
the printed link and start a run.

Examples:
  iikanji portal up --practice isucondition
  iikanji portal up --contest cup.toml --listen 127.0.0.1:9000

Exit status: 0 stopped, 1 failed to run, 2 usage.`
}

// Run runs the command.
func (c *portalUpCmd) Run(ctx context.Context, e *env) (err error) {
	if err := c.check(); err != nil {
		return err
	}
	if err := c.open(); err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(e.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	l, err := c.listen()
	if err != nil {
		return err
	}
	defer l.Close()
	p, err := c.start(ctx, e, log, cmp.Or(strings.TrimSuffix(c.Public, "/"), c.url(l)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	if c.Contest != "" {
		if err := p.keepContest(ctx, c.Contest); err != nil {
			return err
		}
	}
	if err := c.writeAccess(c.url(l), strings.TrimSuffix(c.Public, "/")); err != nil {
		return err
	}
	if c.Practice != "" {
		return c.practice(ctx, e, p, l)
	}
	if c.JSON {
		if err := writeJSON(e.Stdout, access{URL: c.url(l)}); err != nil {
			return err
		}
	} else {
		out := &output{w: e.Stdout}
		out.line("the portal is up: %s\n\n  folder  %s\n  worker  iikanji portal worker --portal %s --token-file %s\n\nCtrl-C stops it.",
			c.url(l), c.Dir, c.url(l), filepath.Join(c.Dir, "worker.token"))
		if out.err != nil {
			return out.err
		}
	}
	return p.serve(ctx, l)
}

func (c *portalUpCmd) check() error {
	if (c.Cert == "") != (c.Key == "") {
		return usageError("--tls-cert and --tls-key belong together")
	}
	if err := c.portalPeers.check(cmp.Or(c.DB, os.Getenv("IIKANJI_PORTAL_DB"))); err != nil {
		return err
	}
	if c.Practice == "" {
		return nil
	}
	if c.Load < time.Second || c.Load > time.Hour {
		return usageError("--load %v: want 1s to 1h", c.Load)
	}
	_, err := findArena(c.Practice)
	return err
}

// listen opens the address of the pages.
func (c *portalUpCmd) listen() (net.Listener, error) {
	address, err := listenAddress("--listen", c.Listen)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, hinted(fmt.Errorf("serving the pages: %w", err), "choose another address with --listen")
	}
	if c.Cert == "" {
		if !isLoopback(l.Addr()) {
			l.Close()
			return nil, usageError("--listen %s: without --tls-cert and --tls-key the address has to be a loopback one", c.Listen)
		}
		return l, nil
	}
	pair, err := tls.LoadX509KeyPair(c.Cert, c.Key)
	if err != nil {
		l.Close()
		return nil, fmt.Errorf("reading the certificate: %w", err)
	}
	return tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}), nil
}

func (c *portalUpCmd) url(l net.Listener) string {
	scheme := "http"
	if c.Cert != "" {
		scheme = "https"
	}
	return scheme + "://" + l.Addr().String()
}

// A portalProcess is the portal of this process.
type portalProcess struct {
	store  *store.Store
	carry  carry.Carrier
	core   *lead.Core
	tokens tokens
	server *api.Server
	log    *slog.Logger
	led    sync.WaitGroup // the leader, and what tells people
	stop   context.CancelFunc
}

// start opens what the portal consists of, and begins to lead. base is its address for people.
func (c *portalUpCmd) start(ctx context.Context, e *env, log *slog.Logger, base string) (p *portalProcess, err error) {
	p = &portalProcess{log: log}
	if p.store, err = store.Open(ctx, c.database(), store.Options{}); err != nil {
		return nil, err
	}
	if p.carry, err = c.carrier(ctx, c.Dir); err != nil {
		return nil, errors.Join(err, p.store.Close())
	}
	ctx, p.stop = context.WithCancel(ctx)
	fail := func(err error) (*portalProcess, error) { return nil, errors.Join(err, p.close()) }
	secret, err := c.kept("secret", randomSecret)
	if err != nil {
		return fail(err)
	}
	p.core = lead.New(lead.Options{Store: p.store, Carry: p.carry, Secret: []byte(secret), Now: e.Now, Check: checkShards})
	if err := p.core.SameSecret(ctx); err != nil {
		return fail(hinted(err, "copy the files secret and push.key of the folder of the database's first portal into "+c.Dir))
	}
	if p.tokens, err = c.tokens(ctx, p.core); err != nil {
		return fail(err)
	}
	n, err := node.New(ctx, p.core, p.carry, log)
	if err != nil {
		return fail(err)
	}
	pages, errorPage, err := web.Pages()
	if err != nil {
		return fail(err)
	}
	judge, err := web.JudgePages(n, n)
	if err != nil {
		return fail(err)
	}
	pages = slices.Concat(pages, judge, api.HostRoutes(n), api.JudgeRoutes(n), api.FleetRoutes(fleet.New(p.core)))
	logins, notices, err := c.peopleOf(p.core, secret, base)
	if err != nil {
		return fail(err)
	}
	p.server, err = api.NewServer(api.Options{Portal: n, Auth: p.core, Workers: n, People: people.New(p.core), Logins: logins, Notices: notices, Monitor: folderMonitor{p.core, c.Dir},
		Pages: pages, Error: errorPage, Hosts: c.Names, TLS: c.Cert != "", Log: log, Now: e.Now})
	if err != nil {
		return fail(err)
	}
	p.led.Go(func() { p.core.Lead(ctx, log) })
	p.led.Go(func() { notices.Run(ctx, log) })
	return p, nil
}

// close ends the portal in the order of its parts.
func (p *portalProcess) close() error {
	p.stop()
	p.led.Wait()
	p.carry.Close()
	return p.store.Close()
}

// serve serves until ctx ends.
func (p *portalProcess) serve(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server := &http.Server{Handler: p.server.Handler(), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 1 << 16,
		BaseContext: func(net.Listener) context.Context { return ctx }, ErrorLog: slog.NewLogLogger(p.log.Handler(), slog.LevelWarn)}
	stop := context.AfterFunc(ctx, func() {
		end, done := context.WithTimeout(context.Background(), 3*time.Second)
		defer done()
		if server.Shutdown(end) != nil {
			server.Close()
		}
	})
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving the pages: %w", err)
	}
	return nil
}

// keepContest keeps a contest file, once.
func (p *portalProcess) keepContest(ctx context.Context, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading the contest: %w", err)
	}
	_, err = p.core.AddContest(ctx, text, path)
	if refused := (*api.RefusedError)(nil); errors.As(err, &refused) && refused.Code == "exists" {
		return nil
	}
	return err
}
