package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"

	"github.com/iikanji/iikanji/internal/arena"
)

type jiaCmd struct {
	Arena  string `arg:"" optional:"" help:"Arena whose outside world is wanted." default:"isucondition"`
	Listen string `help:"Address to answer on; the web page looks for it on port 5000." default:"127.0.0.1:5000"`
}

// Help is the long help of the command.
func (jiaCmd) Help() string {
	return `Serves a stand-in of the contest's external services, for a person who tries
the web page by hand: a login for users isucon, isucon1, isucon2 and isucon3
(the password is the name), and ISUs that post every three seconds once they
are registered; their numbers stand below the login form. End it with Ctrl-C
before a benchmark.

Example:
  iikanji up isucondition --port 8080      (in another terminal)
  iikanji jia

Exit status: 0 stopped, 1 failed to run, 2 usage.`
}

// Run is the command.
func (c *jiaCmd) Run(ctx context.Context, e *env) error {
	a, err := findTarget(c.Arena)
	if err != nil {
		return err
	}
	if a.Mock == nil {
		return usageError("arena %s has no external services to stand in for", a.Name)
	}
	err = c.serve(ctx, e, a)
	if errors.Is(err, syscall.EADDRINUSE) {
		return hinted(err, "end what answers there, or choose another address with --listen")
	}
	return err
}

func (c *jiaCmd) serve(ctx context.Context, e *env, a *arena.Arena) error {
	var mu sync.Mutex // lines come from several ISUs at once
	return a.Mock(ctx, c.Listen, func(line string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintln(e.Stdout, line)
	})
}
