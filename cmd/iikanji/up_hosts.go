package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/contest/lab"
	"github.com/iikanji/iikanji/internal/contest/practice"
	"github.com/iikanji/iikanji/internal/show/report"
)

// mostHosts bounds the machines of a practice.
const mostHosts = 8

// onHosts brings the arena up on machines until Ctrl-C.
func (c *upCmd) onHosts(ctx context.Context, e *env, a *arena.Arena) (err error) {
	if c.Hosts < 1 || c.Hosts > mostHosts {
		return usageError("--hosts %d: want 1 to %d", c.Hosts, mostHosts)
	}
	if len(c.Sizes) > 0 && len(c.Sizes) != c.Hosts {
		return usageError("--sizes has %d numbers for %d machines", len(c.Sizes), c.Hosts)
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
	if missing := lab.Missing(); missing != "" {
		return hinted(errors.New("no machine can be started here: "+missing), "run it as root on a Linux machine with systemd")
	}
	// Not below /home, /root or /tmp: a machine has its own.
	dir, err := os.MkdirTemp("/var/tmp", "iikanji-up-")
	if err != nil {
		return fmt.Errorf("making the machines' folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.Chmod(dir, 0o755); err != nil {
		return fmt.Errorf("making the machines' folder: %w", err)
	}
	if given == "" {
		key, err := lab.NewKey(ctx, filepath.Join(dir, "key"))
		if err != nil {
			return err
		}
		given, private = key.Public, key.Path
	}
	progress := report.NewProgress(e.Stderr, e.TTY, e.width, e.Now)
	defer progress.Done()
	p, err := practice.Up(ctx, a, practice.Options{Dir: dir, Hosts: c.Hosts, Keys: given, Sizes: c.Sizes, Traps: c.Trap, Progress: func(line string) { progress.Say("%s", line) }})
	if err != nil {
		return err
	}
	defer func() {
		progress.Say("stopping")
		err = errors.Join(err, p.Close())
	}()
	if err := c.tell(e, p, dir, private); err != nil {
		return err
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

// tell writes the configuration of ssh and prints it with what to do.
func (c *upCmd) tell(e *env, p *practice.Park, dir, private string) error {
	known, err := p.KnownHosts()
	if err != nil {
		return err
	}
	knownHosts, config := filepath.Join(dir, "known_hosts"), filepath.Join(dir, "ssh_config")
	text := p.Config(private, knownHosts)
	if err := errors.Join(os.WriteFile(knownHosts, []byte(known), 0o644), os.WriteFile(config, []byte(text), 0o644)); err != nil {
		return fmt.Errorf("writing the configuration of ssh: %w", err)
	}
	out := &output{w: e.Stdout}
	out.line("%s is up at http://%s on %s", c.Arena, p.Machines[0].Address(), report.Number(len(p.Machines), "machine"))
	out.line("\n%s", text)
	out.line("ssh -F %s %s, or put it into ~/.ssh/config; Ctrl-C ends all of it", config, p.Machines[0].Name)
	return out.err
}
