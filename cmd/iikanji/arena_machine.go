package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/iikanji/iikanji/internal/contest/practice"
)

type arenaMachineCmd struct {
	Arena string `arg:"" help:"Arena of nginx, MariaDB and apps in Go, such as isucondition."`
	File  string `arg:"" help:"Archive to write; it must not exist." type:"path"`

	appFlag
}

// Help returns the long help of the command.
func (arenaMachineCmd) Help() string {
	return `Writes an archive of what the machine of a team has on the day of a contest: the app with
its source and modules, its data, the configurations of nginx and MariaDB, and systemd
units. Nothing of iikanji is in it. On a Debian machine with nginx, mariadb-server, curl
and Go 1.26 or later (from go.dev/dl: Debian's is older), of the same architecture as this
one:

  tar -C / -xzf isucondition.tar.gz
  sh ` + practice.SetupPath + ` 10.20.0.3

The address is that at which the benchmarker reaches the machine. The archive replaces
/etc/nginx/nginx.conf. So far for arenas of nginx, MariaDB and Go.

Example:
  iikanji arena machine isucondition isucondition.tar.gz

Exit status: 0 written, 1 failed to run (nothing is left), 2 usage.`
}

// Run writes the archive. After an error no file is left.
func (c *arenaMachineCmd) Run(ctx context.Context, e *env) (err error) {
	a, err := findArena(c.Arena)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "iikanji-machine-")
	if err != nil {
		return fmt.Errorf("making a scratch folder: %w", err)
	}
	defer os.RemoveAll(dir)
	f, err := os.OpenFile(c.File, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("writing the archive: %w", err)
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			err = errors.Join(err, os.Remove(c.File))
		}
	}()
	if err := practice.Archive(ctx, a, dir, f); err != nil {
		return err
	}
	out := &output{w: e.Stdout}
	out.line("%s: on the machine, as root: tar -C / -xzf %s && sh %s ADDRESS", a.Name, filepath.Base(c.File), practice.SetupPath)
	return out.err
}
