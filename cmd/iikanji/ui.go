package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"time"

	"github.com/iikanji/iikanji/internal/show/otlp"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/show/summary"
	"github.com/iikanji/iikanji/internal/show/ui"
)

type uiCmd struct {
	Target string `arg:"" help:"Target to show, such as isucondition (an arena is a target; default: the iikanji.toml in this folder)."`

	Listen  string   `help:"Address of the pages." default:"127.0.0.1:8765" placeholder:"HOST:PORT"`
	OTLP    string   `name:"otlp" help:"Receive traces of the app here (OTLP/HTTP); without a host, on 127.0.0.1." placeholder:"[HOST]:PORT"`
	Names   []string `name:"host" help:"Name that browsers may use for this machine, beside loopback names." placeholder:"NAME" sep:"none"`
	Actions bool     `help:"Offer actions, with a token; --no-actions shows only." default:"true" negatable:""`
	Check   bool     `help:"Read the history, print the address and end."`
	placeFlags
}

// Help returns the long help of the command.
func (uiCmd) Help() string {
	return `Serves pages about a target's history: the score over time, runs side by side,
endpoints, findings with evidence, changes with diffs and verdicts, and the
progress of a tune or bench that another iikanji runs now. Every table can be
sorted, filtered and saved as TSV; every page has an address of its own and works
without script.

Actions (start, stop, apply, revert) need the token that is printed at the start.
On an address that is not a loopback one, reading needs the token too.

Examples:
  iikanji ui isucondition
  iikanji ui isucondition --listen 127.0.0.1:9000 --otlp :4318
  iikanji ui isucondition --check

Exit status: 0 ended by Ctrl-C, 1 failed to run, 2 usage.`
}

// Run runs the command.
func (c *uiCmd) Run(ctx context.Context, e *env) error {
	a, err := findTarget(c.Target)
	if err != nil {
		return err
	}
	_, dir, err := c.folders(a)
	if err != nil {
		return err
	}
	address, err := listenAddress("--listen", c.Listen)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return hinted(fmt.Errorf("serving the pages: %w", err), "choose another address with --listen")
	}
	defer l.Close()
	o := ui.Options{Target: a.Name, History: dir, Token: rand.Text(), Hosts: c.Names, Private: !isLoopback(l.Addr()), Now: e.Now,
		Log: slog.New(slog.NewTextHandler(e.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))}
	if c.Actions {
		if o.Program, err = os.Executable(); err != nil {
			return fmt.Errorf("finding this program, for actions: %w", err)
		}
		o.Place = c.arguments()
	}
	o.Day = c.day(ctx, e, a, dir)
	traces, err := c.receiver(&o)
	if err != nil {
		return err
	}
	if traces != nil {
		defer traces.Close()
	}
	c.announce(e, l.Addr(), &o)
	if c.Check {
		return c.check(e)
	}
	return c.serve(ctx, l, traces, &o)
}

// arguments are the flags of the folders, for a child.
func (f placeFlags) arguments() (args []string) {
	if f.Dir != "" {
		args = append(args, "--dir", f.Dir)
	}
	if f.History != "" {
		args = append(args, "--history", f.History)
	}
	return args
}

// listenAddress completes an address without a host: it is a loopback one.
func listenAddress(flag, text string) (string, error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil || port == "" {
		return "", usageError("%s %q: want HOST:PORT", flag, text)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), nil
}

// isLoopback reports whether only this machine reaches an address.
func isLoopback(a net.Addr) bool {
	ap, err := netip.ParseAddrPort(a.String())
	return err == nil && ap.Addr().IsLoopback()
}

// receiver listens for traces; nil without --otlp.
func (c *uiCmd) receiver(o *ui.Options) (net.Listener, error) {
	if c.OTLP == "" {
		return nil, nil
	}
	address, err := listenAddress("--otlp", c.OTLP)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, hinted(fmt.Errorf("receiving traces: %w", err), "choose another address with --otlp")
	}
	o.Traces, o.OTLP = otlp.NewStore(otlp.DefaultLimits), l.Addr().String()
	return l, nil
}

// announce prints the addresses and the token.
func (c *uiCmd) announce(e *env, at net.Addr, o *ui.Options) {
	fmt.Fprintf(e.Stdout, "pages: http://%s/\n", at)
	if o.OTLP != "" {
		fmt.Fprintf(e.Stdout, "traces (OTLP/HTTP): http://%s/v1/traces\n", o.OTLP)
	}
	if o.Program != "" || o.Private {
		fmt.Fprintf(e.Stdout, "token for actions: %s\n", o.Token)
	}
}

// check reads the history once.
func (c *uiCmd) check(e *env) error {
	h, err := c.open(e, c.Target)
	if err != nil {
		return err
	}
	defer h.Close()
	s, err := summary.Load(h, c.Target)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.Stdout, "history: %s, %s\n", report.Number(len(s.Runs), "run"), report.Number(len(s.Changes), "change"))
	return err
}

// serve serves until Ctrl-C.
func (c *uiCmd) serve(ctx context.Context, l, traces net.Listener, o *ui.Options) error {
	if traces != nil {
		server := &http.Server{Handler: o.Traces.Handler(), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, MaxHeaderBytes: 1 << 16}
		defer server.Close()
		go func() {
			if err := server.Serve(traces); !errors.Is(err, http.ErrServerClosed) {
				o.Log.Error("receiving traces", "error", err)
			}
		}()
	}
	return ui.New(*o).Serve(ctx, l)
}
