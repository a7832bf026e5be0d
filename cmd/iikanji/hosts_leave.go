package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	sitefleet "github.com/iikanji/iikanji/internal/machine/fleet"
	"github.com/iikanji/iikanji/internal/machine/host"
)

type hostsAcceptCmd struct {
	Name   string `arg:"" help:"Name of the machine in iikanji.toml."`
	Target string `help:"Target (default: the iikanji.toml in this folder)." placeholder:"TARGET"`
	placeFlags
}

// Help returns the long help of the command.
func (hostsAcceptCmd) Help() string {
	return `Accepts the machine that answers now under a name, in place of the one that was
there before: its host key or its machine-id is another one. Changes that were made
on the former machine are not on this one, and runs of the two do not compare. A
host key that has changed is refused first: remove its line from known_hosts.

Examples:
  iikanji hosts accept db

Exit status: 0 accepted, 1 failed to run, 2 usage.`
}

// Run runs the command.
func (c *hostsAcceptCmd) Run(ctx context.Context, e *env) error {
	t, err := findTargetOrHere(c.Target)
	if err != nil {
		return err
	}
	if t.file == nil {
		return usageError("%s is an arena, which runs on this machine", t.Name)
	}
	if h, ok := t.file.Host(c.Name); !ok || h.Here() {
		return usageError("there is no other machine %q in %s", c.Name, t.file.Path)
	}
	dir, _, err := c.folders(t)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, identitiesFile)
	ids, err := sitefleet.ReadIdentities(path)
	if err != nil {
		return err
	}
	before := ids[c.Name]
	delete(ids, c.Name)
	if err := sitefleet.WriteIdentities(path, ids); err != nil {
		return err
	}
	return withFleet(ctx, e, c.Target, false, c.placeFlags, func(p *park) error {
		m := p.fleet.Member(c.Name)
		if err := p.fleet.Down()[c.Name]; err != nil {
			return err
		}
		out := &output{w: e.Stdout}
		if is := m.Identity(); is.ID == before {
			out.line("%s is the machine that it was", c.Name)
		} else {
			out.line("%s is accepted as another machine: take a new baseline (iikanji bench), and plan changes of it anew", c.Name)
		}
		return out.err
	})
}

type hostsCleanCmd struct {
	Target string `arg:"" optional:"" help:"Folder with an iikanji.toml, or the file (default: this folder)."`
	placeFlags
}

// Help returns the long help of the command.
func (hostsCleanCmd) Help() string {
	return `Removes what iikanji has left on the other machines of a site: its program and the
note of whose site the machine is, in /run/iikanji and /var/lib/iikanji. Changes
stay as they are. Another iikanji that works there now is not disturbed: then it is
an error.

Examples:
  iikanji hosts clean

Exit status: 0 clean, 1 failed to run (also: a machine is down), 2 usage.`
}

// leftovers are the folders of iikanji on other machines.
var leftovers = []string{"/run/iikanji", "/var/lib/iikanji"}

// Run runs the command.
func (c *hostsCleanCmd) Run(ctx context.Context, e *env) error {
	return withFleet(ctx, e, c.Target, false, c.placeFlags, func(p *park) error {
		out := &output{w: e.Stdout}
		var errs []error
		others := 0
		for _, one := range p.machines {
			if one.member == nil {
				continue
			}
			others++
			if err := cleanMachine(ctx, one.host); err != nil {
				errs = append(errs, fmt.Errorf("cleaning machine %s: %w", one.name, err))
				continue
			}
			out.line("%s: clean", one.name)
		}
		if others == 0 {
			out.line("the site has no other machine: there is nothing to clean")
		}
		return errors.Join(append(errs, out.err)...)
	})
}

// errWorks is the error of a machine on which another iikanji may write.
var errWorks = errors.New("another iikanji works there")

func cleanMachine(ctx context.Context, h host.Host) error {
	switch _, err := h.Stat(oneWriter); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		lock, err := h.Hold(oneWriter)
		if err != nil {
			return err
		}
		if lock == nil {
			return errWorks
		}
		defer lock.Close()
	}
	r, err := h.Exec(ctx, host.Command{Path: "/bin/rm", Args: append([]string{"-rf", "--"}, leftovers...)})
	if err == nil && r.Status != 0 {
		err = fmt.Errorf("rm ended with status %d: %.200s", r.Status, r.Output)
	}
	return err
}
