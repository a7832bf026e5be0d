package main

import (
	"context"
	"time"
)

type rehearseCmd struct {
	Target string `arg:"" optional:"" help:"Site to rehearse, a folder with an iikanji.toml (default: the one in this folder)."`

	Reboot  bool            `help:"Reboot the machines that reboot below [[host]] allows; this machine last, and the same command goes on after its boot."`
	Gaps    []time.Duration `help:"How much later servers start than their clients, in further orders." default:"0s,20s,60s" placeholder:"TIMES"`
	LastRun bool            `help:"Make a run at the end; --no-last-run leaves it out." default:"true" negatable:""`
	JSON    bool            `help:"Print one JSON document."`
	clockFlag
	placeFlags
}

// Help returns the long help of the command.
func (rehearseCmd) Help() string {
	return `Shows whether a site comes back after a reboot, and changes no file: it reads what a
boot would lose, ends and starts all services in the orders of a boot (with --reboot
it reboots the machines: all at once, one after the other, and those with clients
before those with servers), proves after each that services, contents of tables and
settings are as before and that the checks pass, and makes a run. It says READY, or
NOT READY with the machine and the reason. iikanji finalize does the same, mends what
it can, and leaves the site so.

Examples:
  iikanji rehearse
  iikanji rehearse --reboot
  iikanji rehearse --gaps 0s,30s

Exit status: 0 ready, 1 failed to run, 2 usage, 3 not ready.`
}

// Run runs the command.
func (c *rehearseCmd) Run(ctx context.Context, e *env) error {
	f := finalizeCmd{Target: c.Target, Reboot: c.Reboot, Gaps: c.Gaps, LastRun: c.LastRun, JSON: c.JSON, clockFlag: c.clockFlag, placeFlags: c.placeFlags, rehearse: true}
	return f.Run(ctx, e)
}
