package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/iikanji/iikanji/internal/arena"
	"github.com/iikanji/iikanji/internal/hoststat"
	"github.com/iikanji/iikanji/internal/observe"
	"github.com/iikanji/iikanji/internal/stack"
)

type topCmd struct {
	Arena string `arg:"" optional:"" help:"Arena that is up (default: the one that is; without any, every process that listens on TCP)."`

	Dir     string        `help:"Work folder of the stack that is up." type:"path" placeholder:"FOLDER"`
	Service []string      `short:"s" help:"A service by its root process; with a stack, one more." placeholder:"NAME=PID"`
	Every   time.Duration `help:"Length of an interval." default:"1s"`
	Count   int           `short:"n" help:"Intervals to show; 0 means until Ctrl-C." default:"0"`
	Format  string        `help:"table, tsv or json (one document a line)." enum:"table,tsv,json" default:"table"`
	JSON    bool          `help:"The same as --format json."`
}

// Help is the long help of the command.
func (topCmd) Help() string {
	return `One line per interval. In another terminal an arena is up (iikanji up) or under
load (bench, diagnose, tune): its database, app, nginx and load generator have
columns of their own, also after a restart. "-" is a service that does not run.

  cpu        % of all cores: user, system, waiting for disk, stolen
  services   % of one core
  run        processes that run or wait for a core
  stall      % of the time in which some process waited for cpu, disk, memory
  free       memory that programs could have
  disk       bytes a second, read and written

A wider terminal shows more: reads, writes and fsyncs with their mean times in
ms, network, context switches, descriptors and sockets by service, swap, and
what TCP dropped or sent again. --format tsv and json have everything.

Examples:
  iikanji top
  iikanji top isucondition -n 60 --format tsv > host.tsv
  iikanji top -s app=1234 -s db=987

Exit status: 0 done, 1 failed to run, 2 usage.`
}

// A roster says who the services are, anew for each interval.
type serviceLister func() ([]hoststat.Service, error)

// Run prints until the count or Ctrl-C ends it.
func (c *topCmd) Run(ctx context.Context, e *env) error {
	if c.Every < 100*time.Millisecond || c.Every > time.Hour {
		return usageError("--every %v: want 100ms to 1h", c.Every)
	}
	if c.JSON {
		c.Format = "json"
	}
	who, err := c.serviceLister()
	if err != nil {
		return err
	}
	first, err := who()
	if err != nil {
		return err
	}
	s, err := hoststat.NewSampler(e.Now())
	if err != nil {
		return err
	}
	// From here on the services' own totals are known: the first interval that
	// is shown is whole.
	if _, err := s.Sample(e.Now(), first); err != nil {
		return err
	}
	show := c.printer(e)
	tick := time.NewTicker(c.Every)
	defer tick.Stop()
	for n := 0; c.Count == 0 || n < c.Count; n++ {
		select {
		case <-ctx.Done():
			if isTerminal(e.Stdout) {
				fmt.Fprintln(e.Stdout) // the terminal has written ^C
			}
			return nil
		case <-tick.C:
		}
		services, err := who()
		if err != nil {
			return err
		}
		sample, err := s.Sample(e.Now(), services)
		if err != nil {
			return err
		}
		if err := show(sample); err != nil {
			return err
		}
	}
	return nil
}

// roster finds out whom to show: a stack that is up, the processes that were
// named, or everybody who listens.
func (c *topCmd) serviceLister() (serviceLister, error) {
	named, err := parseServices(c.Service)
	if err != nil {
		return nil, err
	}
	dir, err := c.folder(len(named) > 0)
	if err != nil {
		return nil, err
	}
	if dir != "" {
		return func() ([]hoststat.Service, error) {
			services, err := stackServices(dir)
			return join(services, named), err
		}, nil
	}
	if len(named) > 0 {
		return func() ([]hoststat.Service, error) { return named, nil }, nil
	}
	return hoststat.Discover, nil
}

// folder is the work folder of the stack to show, "" for none.
func (c *topCmd) folder(named bool) (string, error) {
	if c.Arena == "" && c.Dir == "" {
		if named {
			return "", nil
		}
		return onlyStack()
	}
	dir, what := c.Dir, "a stack"
	if c.Arena != "" {
		a, err := findTarget(c.Arena)
		if err != nil {
			return "", err
		}
		what = a.Name
		if dir == "" {
			if dir, err = stack.DefaultDir(a.Name); err != nil {
				return "", err
			}
		}
	}
	pids, err := stack.Running(dir)
	if err == nil && len(pids) == 0 {
		err = hinted(fmt.Errorf("%s is not up in %s", what, dir), "iikanji up ARENA brings one up, and bench does for a run; --dir names its folder if it is another")
	}
	return dir, err
}

// onlyStack is the one default work folder in which a stack is up, "" for none.
func onlyStack() (string, error) {
	var dirs, names []string
	for _, name := range arena.Names() {
		dir, err := stack.DefaultDir(name)
		if err != nil {
			return "", nil // no home, no default
		}
		if pids, err := stack.Running(dir); err == nil && len(pids) > 0 {
			dirs, names = append(dirs, dir), append(names, name)
		}
	}
	if len(dirs) > 1 {
		return "", usageError("%s are up: name one", strings.Join(names, " and "))
	}
	return strings.Join(dirs, ""), nil
}

// stackServices are the services of a stack in the order of a request's way
// back. One that does not run has no process.
func stackServices(dir string) ([]hoststat.Service, error) {
	pids, err := stack.Running(dir)
	if err != nil {
		return nil, err
	}
	var out []hoststat.Service
	for _, name := range []string{stack.Database, stack.App, stack.Nginx} {
		sv := hoststat.Service{Name: name}
		if pid, runs := pids[name]; runs {
			sv.PIDs = []int{pid}
		}
		out = append(out, sv)
	}
	load := hoststat.Service{Name: observe.Generator}
	// Who only keeps a stack up loads nothing.
	if pid, runs := pids[stack.Owner]; runs && stack.OwnerCommand(pid) != "up" {
		load.PIDs = []int{pid}
	}
	return append(out, load), nil
}

// join adds processes to services of the same names, and services.
func join(to, more []hoststat.Service) []hoststat.Service {
	for _, m := range more {
		if i := slices.IndexFunc(to, func(s hoststat.Service) bool { return s.Name == m.Name }); i >= 0 {
			to[i].PIDs = append(to[i].PIDs, m.PIDs...)
		} else {
			to = append(to, m)
		}
	}
	return to
}

// parseServices reads NAME=PID pairs; one name may have several.
func parseServices(pairs []string) ([]hoststat.Service, error) {
	var out []hoststat.Service
	for _, p := range pairs {
		name, value, ok := strings.Cut(p, "=")
		pid, err := strconv.Atoi(value)
		if !ok || err != nil || pid < 1 || name == "" {
			return nil, usageError("--service %q: want NAME=PID, as in app=1234", p)
		}
		out = join(out, []hoststat.Service{{Name: name, PIDs: []int{pid}}})
	}
	return out, nil
}

// printer shows one sample after the other in the format that was asked for.
func (c *topCmd) printer(e *env) func(*hoststat.Sample) error {
	switch c.Format {
	case "json":
		enc := json.NewEncoder(e.Stdout)
		return func(s *hoststat.Sample) error { return enc.Encode(s) }
	case "tsv":
		head := hoststat.TSVHead()
		return func(s *hoststat.Sample) error {
			_, err := io.WriteString(e.Stdout, head+s.TSV())
			head = ""
			return err
		}
	}
	t := &topTable{color: e.Color}
	return func(s *hoststat.Sample) error {
		cols, rows := screen(e)
		_, err := io.WriteString(e.Stdout, t.lines(s, cols, rows))
		return err
	}
}

// plainRows is how many rows a head is good for where there is no screen.
const plainRows = 20

// screen is the size of the terminal of this moment: people resize theirs.
// COLUMNS in the environment wins, as everywhere.
func screen(e *env) (cols, rows int) {
	cols, rows = e.Cols, plainRows
	f, ok := e.Stdout.(*os.File)
	if !ok {
		return cols, rows
	}
	w, h, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return cols, rows
	}
	if os.Getenv("COLUMNS") == "" && w >= 40 {
		cols = w
	}
	return cols, max(h-1, 4)
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
