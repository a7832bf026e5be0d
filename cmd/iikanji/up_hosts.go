package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/contest/practice"
	"github.com/iikanji/iikanji/internal/show/report"
)

// onHosts brings the arena up on machines until Ctrl-C.
func (c *upCmd) onHosts(ctx context.Context, e *env, a *arena.Arena) (err error) {
	for _, name := range c.Trap {
		if _, err := practice.TrapNamed(name); err != nil {
			return &exitError{Status: exitUsage, Err: fmt.Errorf("--trap: %w", err), Hints: trapLines()}
		}
	}
	given, private, err := c.given()
	if err != nil {
		return err
	}
	progress := report.NewProgress(e.Stderr, e.TTY, e.width, e.Now)
	defer progress.Done()
	p, err := bootPark(ctx, a, practice.Options{Hosts: c.Hosts, Keys: given, Sizes: c.Sizes, Traps: c.Trap, Progress: func(line string) { progress.Say("%s", line) }}, private)
	if err != nil {
		return err
	}
	defer func() {
		progress.Say("stopping")
		err = errors.Join(err, p.close())
	}()
	out := &output{w: e.Stdout}
	out.line("%s is up at %s on %s", c.Arena, p.url(), report.Number(len(p.Machines), "machine"))
	out.line("\n%s", p.text)
	out.line("ssh -F %s %s, or put it into ~/.ssh/config; Ctrl-C ends all of it", p.config, p.Machines[0].Name)
	if out.err != nil {
		return out.err
	}
	<-ctx.Done()
	return nil
}

// trapLines tells what each trap is.
func trapLines() (lines []string) {
	for _, t := range practice.Traps() {
		lines = append(lines, t.Name+": "+t.Says)
	}
	return lines
}

// given are the public keys of --key, "" without it, and the path of the private half where
// it lies beside them.
func (c *upCmd) given() (public, private string, err error) {
	if c.Key == "" {
		return "", "", nil
	}
	b, err := os.ReadFile(c.Key)
	if err != nil {
		return "", "", fmt.Errorf("reading the keys: %w", err)
	}
	if strings.Contains(string(b), "PRIVATE KEY") {
		return "", "", usageError("%s is a private key: give the public one", c.Key)
	}
	if path, ok := strings.CutSuffix(c.Key, ".pub"); ok {
		if _, err := os.Stat(path); err == nil {
			private = path
		}
	}
	return string(b), private, nil
}
