package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/contest/practice"
	"github.com/iikanji/iikanji/internal/show/report"
)

// onHosts brings the arena up on machines until Ctrl-C.
func (c *upCmd) onHosts(ctx context.Context, e *env, a *arena.Arena) (err error) {
	if c.Runs < 0 {
		return usageError("--runs %d: want 1 or more", c.Runs)
	}
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
	if words := p.pace.Words(); len(words) > 0 {
		out.line("the machines are small: load them with %s of iikanji bench, and runs compare with each other only", strings.Join(words, " "))
	}
	if out.err != nil {
		return out.err
	}
	if c.Runs > 0 {
		return c.portal(ctx, e, a, p)
	}
	<-ctx.Done()
	return nil
}

// portal makes a run at each line of standard input, until the runs are used up.
func (c *upCmd) portal(ctx context.Context, e *env, a *arena.Arena, p *arenaPark) error {
	lines := make(chan string)
	go func() { // ends with its input, or with the process
		defer close(lines)
		for in := bufio.NewScanner(e.Stdin); in.Scan(); {
			lines <- in.Text()
		}
	}()
	out := &output{w: e.Stdout}
	out.line("%s: press Enter for a run", runsLeft(c.Runs))
	for left := c.Runs; out.err == nil; {
		select {
		case <-ctx.Done():
			return nil
		case _, ok := <-lines:
			if !ok {
				<-ctx.Done()
				return nil
			}
		}
		if left == 0 {
			out.line("no run is left")
			continue
		}
		left--
		b := &benchCmd{Target: c.Arena, URL: p.url(), Seed: uint64(c.Runs - left), Pin: "off", Dir: filepath.Join(p.dir, "portal"), Load: c.Load, Clock: p.pace.Clock}
		for name, value := range p.pace.Set {
			b.Set = append(b.Set, name+"="+value)
		}
		for _, s := range a.Settings {
			if s.Kind == arena.Address { // where the benchmarker listens for the site
				b.Set = append(b.Set, s.Name+"="+p.Here().String()+":0")
			}
		}
		if err := b.Run(ctx, e); ctx.Err() == nil {
			_ = explain(e.Stderr, err) // the portal goes on after a run that failed
		}
		out.line("%s", runsLeft(left))
	}
	return out.err
}

func runsLeft(n int) string {
	if n == 1 {
		return "1 run is left"
	}
	return fmt.Sprintf("%d runs are left", n)
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
