package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/portal/worker"
)

type portalWorkerCmd struct {
	Portal     string   `help:"Address of the portal, as in https://portal.example." required:"" placeholder:"URL"`
	TokenFile  string   `help:"File with the token of workers." required:"" type:"path" placeholder:"FILE"`
	Name       string   `help:"Name of this worker (default: that of the machine)." placeholder:"NAME"`
	Slots      int      `help:"How many runs at the same time; more than one disturb each other." default:"1" placeholder:"N"`
	Unconfined bool     `help:"Run benchmarkers of contests that are not local without a sandbox: for those that you trust."`
	Confined   bool     `help:"Run the benchmarkers of local contests in the sandbox, too."`
	Read       []string `help:"File or folder that such a benchmarker may read, beside the system's and itself." type:"path" placeholder:"PATH" sep:"none"`
	Memory     int      `help:"Memory that it may use, in MiB." default:"2048" placeholder:"MIB"`
	Generator  []string `help:"Command that starts iikanji on a further machine, as in 'ssh gen2 iikanji': it sends the load of a problem with shards together with this one, outside of a sandbox." placeholder:"COMMAND" sep:"none"`
	Dir        string   `help:"Folder for the worker's id and for results that were not delivered (default: below the user's state folder)." type:"path" placeholder:"FOLDER"`
}

// Help returns the long help of the command.
func (portalWorkerCmd) Help() string {
	return `Takes jobs of a portal and runs their benchmarkers as child processes, each under a
guard that ends it when the portal gives no sign of life for 12 seconds. A result is
on the disk before it is sent, and sent for 24 hours, also after a restart. At the
first Ctrl-C the worker takes no more jobs and gives back the one that runs.

A benchmarker of a contest that is not local runs in a sandbox, also that of an arena: a
user of its own, no new privileges, a private /tmp, limits, and packets to the job's hosts
alone. It needs root, Landlock and control groups of version 2; a worker without them says
so, takes arenas and local contests only, and runs arenas without it.

Examples:
  iikanji portal worker --portal http://127.0.0.1:8780 --token-file worker.token

Exit status: 0 stopped, 1 failed to run, 2 usage.`
}

// Run runs the command.
func (c *portalWorkerCmd) Run(ctx context.Context, e *env) error {
	if err := checkPortal(c.Portal); err != nil {
		return err
	}
	if c.Slots < 1 || c.Slots > 64 {
		return usageError("--slots %d: want 1 to 64", c.Slots)
	}
	if c.Memory < 16 || c.Memory > 1<<20 {
		return usageError("--memory %d: want 16 to 1048576 MiB", c.Memory)
	}
	if c.Confined && c.Unconfined {
		return usageError("--confined and --unconfined exclude each other")
	}
	token, err := os.ReadFile(c.TokenFile)
	if err != nil {
		return fmt.Errorf("reading the token: %w", err)
	}
	if c.Dir == "" {
		if c.Dir, err = stack.DefaultDir("portal-worker"); err != nil {
			return err
		}
	}
	if err := privateFolder(c.Dir); err != nil {
		return fmt.Errorf("making the worker's folder: %w", err)
	}
	if c.Dir, err = filepath.Abs(c.Dir); err != nil {
		return err
	}
	if c.Name == "" {
		if c.Name, err = os.Hostname(); err != nil {
			return fmt.Errorf("naming the worker: %w", err)
		}
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	w, err := worker.New(worker.Options{URL: c.Portal, Token: strings.TrimSpace(string(token)), Name: c.Name, Slots: c.Slots, Dir: c.Dir, Program: program, Unconfined: c.Unconfined, Confined: c.Confined, Read: c.Read, Memory: int64(c.Memory) << 20, Generators: c.Generator,
		Version: versionOf().Version, Log: slog.New(slog.NewTextHandler(e.Stderr, nil))})
	if err != nil {
		return err
	}
	return w.Run(ctx, ctx)
}

// checkPortal accepts https everywhere, and http on this machine alone: a token goes with each
// request.
func checkPortal(address string) error {
	u, err := url.Parse(address)
	if err == nil && u.Host != "" && u.Scheme == "https" {
		return nil
	}
	if err == nil && u.Scheme == "http" {
		if ip := net.ParseIP(u.Hostname()); ip != nil && ip.IsLoopback() || u.Hostname() == "localhost" {
			return nil
		}
	}
	return usageError("--portal %q: want https://HOST, or http:// on a loopback address", address)
}

// quickly bounds the calls of commands.
const quickly = 30 * time.Second
