package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/contest/lab"
	"github.com/iikanji/iikanji/internal/contest/practice"
)

// mostHosts bounds the machines of a practice.
const mostHosts = 8

// An arenaPark is an arena on machines of its own, with a configuration of ssh.
type arenaPark struct {
	*practice.Park
	dir    string // its files, removed by close
	config string // path of the configuration
	text   string // of the configuration
	pace   arena.Pace
}

// bootPark starts the machines of an arena. private is the path of the private half of the
// keys in o, "" where ssh finds it by itself; without keys, new ones are made.
func bootPark(ctx context.Context, a *arena.Arena, o practice.Options, private string) (_ *arenaPark, err error) {
	if o.Hosts < 1 || o.Hosts > mostHosts {
		return nil, usageError("--hosts %d: want 1 to %d", o.Hosts, mostHosts)
	}
	if len(o.Sizes) > 0 && len(o.Sizes) != o.Hosts {
		return nil, usageError("--sizes has %d numbers for %d machines", len(o.Sizes), o.Hosts)
	}
	if missing := lab.Missing(); missing != "" {
		return nil, hinted(errors.New("no machine can be started here: "+missing), "run it as root on a Linux machine with systemd")
	}
	// Not below /home, /root or /tmp: a machine has its own.
	p := &arenaPark{}
	if p.dir, err = os.MkdirTemp("/var/tmp", "iikanji-up-"); err != nil {
		return nil, fmt.Errorf("making the machines' folder: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
		}
	}()
	if err := os.Chmod(p.dir, 0o755); err != nil {
		return nil, fmt.Errorf("making the machines' folder: %w", err)
	}
	if o.Dir = p.dir; o.Keys == "" {
		key, err := lab.NewKey(ctx, filepath.Join(p.dir, "key"))
		if err != nil {
			return nil, err
		}
		o.Keys, private = key.Public, key.Path
	}
	if p.Park, err = practice.Up(ctx, a, o); err != nil {
		return nil, err
	}
	p.pace = a.PaceOf(p.Machines[0].Limits.CPU)
	return p, p.configure(private)
}

// configure writes the configuration of ssh for the machines.
func (p *arenaPark) configure(private string) error {
	known, err := p.KnownHosts()
	if err != nil {
		return err
	}
	hosts := filepath.Join(p.dir, "known_hosts")
	p.config, p.text = filepath.Join(p.dir, "ssh_config"), p.Config(private, hosts)
	if err := errors.Join(os.WriteFile(hosts, []byte(known), 0o644), os.WriteFile(p.config, []byte(p.text), 0o644)); err != nil {
		return fmt.Errorf("writing the configuration of ssh: %w", err)
	}
	return nil
}

// url is where the arena answers.
func (p *arenaPark) url() string { return "http://" + p.Machines[0].Address().String() }

// close ends the machines and removes their files.
func (p *arenaPark) close() error {
	var err error
	if p.Park != nil {
		err = p.Park.Close()
	}
	return errors.Join(err, os.RemoveAll(p.dir))
}
