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

	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/hoststat"
	"github.com/iikanji/iikanji/internal/site/observe"
)

type topCmd struct {
	Target string `arg:"" optional:"" help:"Target that is up (default: the only target that is up, or all processes that listen on TCP)."`

	Dir     string        `help:"Work folder of the stack that is up." type:"path" placeholder:"FOLDER"`
	Service []string      `short:"s" help:"Service by its root process; with a stack, an additional service." placeholder:"NAME=PID"`
	Every   time.Duration `help:"Length of an interval." default:"1s"`
	Count   int           `short:"n" help:"Intervals to show; 0 means until Ctrl-C." default:"0"`
	Format  string        `help:"table, tsv or json (one document a line)." enum:"table,tsv,json" default:"table"`
	JSON    bool          `help:"The same as --format json."`
}

// Help returns the long help of the command.
func (topCmd) Help() string {
	return `Prints one line per interval. If a target is up in another terminal (iikanji up)
or under load (bench, diagnose, tune), each of its services and the load
generator has a column, also after a restart. "-" is a service that is down.

  cpu        % of all cores: user, system, waiting for disk, stolen
  services   % of one core
  run        processes that run or wait for a core
  stall      % of the time in which some process waited for cpu, disk, memory
  free       memory available to programs
  disk       bytes per second, read and written

A wider terminal shows more: reads, writes and fsyncs with their mean times in
ms, network, context switches, descriptors and sockets by service, swap, TCP
drops and retransmits. --format tsv and json have all columns.

Examples:
  iikanji top
  iikanji top isucondition -n 60 --format tsv > host.tsv
  iikanji top -s app=1234 -s db=987

Exit status: 0 done, 1 failed to run, 2 usage.`
}

// A serviceLister returns the services with their present processes. It is called
// for each interval.
type serviceLister func() ([]hoststat.Service, error)

// Run prints lines until the count is reached or until Ctrl-C.
func (c *topCmd) Run(ctx context.Context, e *env) error {
	if c.Every < 100*time.Millisecond || c.Every > time.Hour {
		return usageError("--every %v: want 100ms to 1h", c.Every)
	}
	if c.JSON {
		c.Format = "json"
	}
	list, err := c.lister()
	if err != nil {
		return err
	}
	first, err := list()
	if err != nil {
		return err
	}
	s, err := hoststat.NewSampler(host.Local{}, e.Now())
	if err != nil {
		return err
	}
	// This sample sets the counters of the services, so that the first interval
	// that is shown is complete.
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
				fmt.Fprintln(e.Stdout) // ends the line on which the terminal wrote ^C
			}
			return nil
		case <-tick.C:
		}
		services, err := list()
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

// lister returns the lister of the services to show: those of a stack that is up,
// the named processes, or all processes that listen on TCP.
func (c *topCmd) lister() (serviceLister, error) {
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
	return func() ([]hoststat.Service, error) { return hoststat.Discover(host.Local{}) }, nil
}

// folder returns the work folder of the stack to show, "" for none.
func (c *topCmd) folder(named bool) (string, error) {
	if c.Target == "" && c.Dir == "" {
		if named {
			return "", nil
		}
		return onlyStack()
	}
	dir, what := c.Dir, "a stack"
	if c.Target != "" {
		a, err := findArena(c.Target)
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
	running, err := stack.Running(dir)
	if err == nil && !running.Up() {
		err = hinted(fmt.Errorf("%s is not up in %s", what, dir), "iikanji up TARGET brings it up, and bench does for one run; if it has another folder, name that with --dir")
	}
	return dir, err
}

// onlyStack returns the only default work folder with a running stack, "" for none.
func onlyStack() (string, error) {
	var dirs, names []string
	for _, name := range arena.Names() {
		dir, err := stack.DefaultDir(name)
		if err != nil {
			return "", nil // no home, no default
		}
		if running, err := stack.Running(dir); err == nil && running.Up() {
			dirs, names = append(dirs, dir), append(names, name)
		}
	}
	if len(dirs) > 1 {
		return "", usageError("%s are up: name one of them", strings.Join(names, " and "))
	}
	return strings.Join(dirs, ""), nil
}

// stackServices returns the services of a stack in the order of their start, and
// the load generator. A service that is down has no process.
func stackServices(dir string) ([]hoststat.Service, error) {
	running, err := stack.Running(dir)
	if err != nil {
		return nil, err
	}
	var out []hoststat.Service
	for _, p := range running.Services {
		sv := hoststat.Service{Name: p.Name}
		if p.PID != 0 {
			sv.PIDs = []int{p.PID}
		}
		out = append(out, sv)
	}
	load := hoststat.Service{Name: observe.Generator}
	// iikanji up owns the stack but generates no load.
	if owner := running.Owner; owner != 0 && stack.OwnerCommand(owner) != "up" {
		load.PIDs = []int{owner}
	}
	return append(out, load), nil
}

// join merges services: services of the same name become one with all processes.
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

// parseServices reads NAME=PID pairs; one name may occur several times.
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

// printer returns a function that writes one sample in the chosen format.
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

// plainRows is the number of lines per head if standard output is not a terminal.
const plainRows = 20

// screen returns the present size of the terminal, which may have been resized.
// COLUMNS in the environment takes precedence, as in all commands.
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
