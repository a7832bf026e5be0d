package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/load/bench"
	"github.com/iikanji/iikanji/internal/show/report"
)

type upCmd struct {
	Arena string `arg:"" help:"Arena to bring up, such as isucondition."`

	Dir   string        `help:"Work folder of the stack (default: below the user's state folder)." type:"path" placeholder:"FOLDER"`
	Port  int           `help:"Port of the web server on 127.0.0.1 (default: a free one, the same as last time)."`
	Pin   string        `help:"CPUs: off, auto (leaves some for a load generator), or GENERATOR/STACK as in 0/1." default:"off"`
	Env   []string      `help:"Additional environment variable of the app." placeholder:"K=V" sep:"none"`
	Fresh bool          `help:"Start from the arena's own files and empty databases; your edits are moved to another folder."`
	JSON  bool          `help:"Print the addresses and folders as one JSON document when the arena is up."`
	Hosts int           `help:"Put the arena onto this many machines of its own, as systemd units, to practise as on the day of a contest; needs root." placeholder:"N"`
	Key   string        `help:"With --hosts: file of public keys that may log in as isucon (default: a new key)." type:"path" placeholder:"FILE"`
	Trap  []string      `help:"With --hosts, for trainers: what a reboot would break, by name; see docs/trainers.md." placeholder:"NAME"`
	Runs  int           `help:"With --hosts: Enter loads the first machine and shows its score, as the button of a portal does, at most this often." placeholder:"N"`
	Load  time.Duration `help:"With --runs: length of the load (default: that of the contest)." placeholder:"TIME"`
	Sizes []int         `help:"With --hosts: how large each machine is, relative to the others, as in 1,1,2." placeholder:"N"`

	appFlag
}

// Help returns the long help of the command.
func (upCmd) Help() string {
	return `Brings an arena up in the foreground (its databases, apps and web servers are
child processes of iikanji, in one work folder), prints their addresses and
folders, and stops all of it on Ctrl-C. Your edits in the work folder are kept.

While it runs, the name of a service on standard input restarts the service. A
service with a source is built first, and a config that can be tested is tested.
Signal USR1 does this with every app.

With --hosts the arena runs on machines of its own (Linux namespaces with systemd and
sshd): the same units on each, the first one used, and nothing of iikanji on them. A
configuration of ssh is printed. Reboots work. Core 0 is left for a load generator; the
machines share 90 % of the others by quota. So far for arenas of nginx, MariaDB,
SQLite and Go. With --runs this terminal is the portal: Enter makes a run.

Examples:
  iikanji up isucondition
  iikanji up isucondition --dir ./isu --port 8080
  iikanji up isucondition --tls
  iikanji up isucondition --json </dev/null
  iikanji up isucondition --hosts 3 --key ~/.ssh/id_ed25519.pub
  iikanji up isucondition --hosts 3 --trap boot-order
  iikanji up isucondition --hosts 3 --runs 40

Exit status: 0 stopped, 1 failed to run, 2 usage.`
}

// Run runs the command.
func (c *upCmd) Run(ctx context.Context, e *env) (err error) {
	a, err := findArena(c.Arena)
	if err != nil {
		return err
	}
	if c.Hosts == 0 && (len(c.Trap) > 0 || c.Runs != 0) {
		return usageError("--trap and --runs are for machines: want --hosts")
	}
	if c.Hosts != 0 {
		return c.onHosts(ctx, e, a)
	}
	if c.Port < 0 || c.Port > 65535 {
		return usageError("--port %d: want 1 to 65535", c.Port)
	}
	if err := stack.CheckEnv(c.Env); err != nil {
		return usageError("--env: %w", err)
	}
	allowed, err := bench.AllowedCPUs()
	if err != nil {
		return err
	}
	pin, err := parsePin(c.Pin, allowed)
	if err != nil {
		return err
	}
	progress := report.NewProgress(e.Stderr, e.TTY, e.width, e.Now)
	defer progress.Done()
	began := e.Now()
	s, err := stack.Up(ctx, a, stack.Options{Dir: c.Dir, Port: c.Port, StackCPUs: pin.stack, Env: c.Env, Fresh: c.Fresh,
		Progress: func(line string) { progress.Say("%s", line) }})
	if err != nil {
		if ctx.Err() != nil {
			return hinted(errors.New("interrupted during the start; all started processes were stopped"))
		}
		return err
	}
	defer func() {
		progress.Say("stopping")
		down, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		err = errors.Join(err, s.Down(down))
	}()
	if err := c.announce(e, s, e.Now().Sub(began)); err != nil {
		return err
	}
	return serveUp(ctx, e, s, progress)
}

// upPlaces is the document of --json.
type upPlaces struct {
	Arena string `json:"arena"`
	URL   string `json:"url"`
	// Source and Database are those of the arena's only service that has one.
	Source   string        `json:"source"`
	Configs  string        `json:"configs"`
	Logs     string        `json:"logs"`
	Database databaseAt    `json:"database"`
	Services []serviceAt   `json:"services"`
	PID      int           `json:"pid"` // USR1 restarts the apps, INT stops all
	Took     time.Duration `json:"took_ns"`
}

type databaseAt struct {
	Address  string `json:"address"`
	Socket   string `json:"socket"`
	Name     string `json:"name"`
	User     string `json:"user"`
	Password string `json:"password"` // the contest's published password, not a secret
}

// A serviceAt is where one service is.
type serviceAt struct {
	Name     string         `json:"name"`
	Role     iikanji.Role   `json:"role"`
	Engine   iikanji.Engine `json:"engine"`
	Address  string         `json:"address,omitempty"`
	Socket   string         `json:"socket,omitempty"`
	Source   string         `json:"source,omitempty"`
	Config   string         `json:"config,omitempty"`
	Database *databaseAt    `json:"database,omitempty"`
	dropIns  string
}

// servicesAt returns where each service of a stack is.
func servicesAt(s *stack.Stack) (out []serviceAt) {
	for _, svc := range s.Services() {
		p := s.Places().Service(svc.Name)
		at := serviceAt{Name: svc.Name, Role: svc.Role, Engine: svc.Engine, Address: p.Address, Socket: p.Socket, Source: s.Source(svc.Name), Config: p.Config}
		if svc.Engine.MySQLFamily() {
			at.Database = &databaseAt{Address: p.Address, Socket: p.Socket, Name: p.Schema, User: p.User, Password: p.Password}
			at.dropIns = filepath.Base(p.DropIns) + "/*" + filepath.Ext(p.Config)
		}
		out = append(out, at)
	}
	return out
}

// announce prints where everything is and how to restart it.
func (c *upCmd) announce(e *env, s *stack.Stack, took time.Duration) error {
	p, services := s.Places(), servicesAt(s)
	var sources, configs []string
	var databases []databaseAt
	for _, at := range slices.Backward(services) {
		if at.Source != "" {
			sources = append(sources, at.Source)
		}
		if at.Config != "" {
			configs = append(configs, filepath.Base(at.Config))
		}
		if at.Database != nil {
			databases, configs = append(databases, *at.Database), append(configs, at.dropIns)
		}
	}
	if c.JSON {
		doc := upPlaces{Arena: c.Arena, URL: p.URL(), Configs: p.Conf, Logs: s.Logs(), Services: services, PID: os.Getpid(), Took: took}
		if len(sources) == 1 {
			doc.Source = sources[0]
		}
		if len(databases) == 1 {
			doc.Database = databases[0]
		}
		return writeJSON(e.Stdout, doc)
	}
	out := &output{w: e.Stdout}
	out.line("%s is up, ready in %s\n", c.Arena, report.Duration(took))
	out.line("  url       %s", p.URL())
	for _, source := range sources {
		out.line("  source    %s", source)
	}
	out.line("  configs   %s/%s", p.Conf, strings.Join(configs, ", "))
	out.line("  logs      %s", s.Logs())
	for _, d := range databases {
		out.line("  database  %s, database %s, user %s, password %s", d.Address, d.Name, d.User, d.Password)
		out.line("            mariadb --no-defaults -S %s %s", d.Socket, d.Name)
	}
	out.line(`
Edit there, then type the name of a service (%s) to restart it; one
with a source is built first. From another terminal, kill -USR1 %d restarts
every app. %s
Ctrl-C stops it.`, oneOf(processNames(s)), os.Getpid(), c.loadHint(s))
	return out.err
}

// loadHint tells how the arena is loaded while it is up.
func (c *upCmd) loadHint(s *stack.Stack) string {
	url := s.Places().URL()
	for _, svc := range s.Services() {
		if svc.PerRun { // its benchmarker needs a stack of its own
			return "Start a client against " + url + ", or end this and: iikanji bench " + c.Arena
		}
	}
	return "Load it with: iikanji bench " + c.Arena + " --url " + url
}

// processNames returns the names of the services that can be restarted.
func processNames(s *stack.Stack) (names []string) {
	for _, svc := range s.Services() {
		if svc.IsProcess() {
			names = append(names, svc.Name)
		}
	}
	return names
}

// oneOf joins words, as in "a, b or c".
func oneOf(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// serveUp restarts services on request, by lines and signals, until the end of ctx
// or until no service runs.
func serveUp(ctx context.Context, e *env, s *stack.Stack, progress *report.Progress) error {
	requests := make(chan string)
	go readRequests(ctx, e.Stdin, requests)
	usr1 := make(chan os.Signal, 1)
	signal.Notify(usr1, syscall.SIGUSR1)
	defer signal.Stop(usr1)
	for {
		select {
		case <-ctx.Done():
			return nil
		case died := <-s.Died():
			if len(s.Groups()) == 0 {
				return died
			}
			explain(e.Stderr, died)
			progress.Say("type the service's name to start it again")
		case <-usr1:
			for _, svc := range s.Services() {
				if svc.Role == iikanji.RoleApp {
					restartService(ctx, e, s, svc.Name, progress)
				}
			}
		case name := <-requests:
			restartService(ctx, e, s, name, progress)
		}
	}
}

// readRequests sends the words on standard input, which name services. The end of
// standard input ends only this function: the stack stays up.
func readRequests(ctx context.Context, in io.Reader, requests chan<- string) {
	for lines := bufio.NewScanner(in); lines.Scan(); {
		if word := strings.TrimSpace(lines.Text()); word != "" {
			select {
			case requests <- word:
			case <-ctx.Done():
				return
			}
		}
	}
}

// restartService restarts the named service. It prints an error and leaves the
// stack up.
func restartService(ctx context.Context, e *env, s *stack.Stack, name string, progress *report.Progress) {
	began := e.Now()
	if names := processNames(s); !slices.Contains(names, name) {
		progress.Say("%s: want %s", report.Clean(name), oneOf(names))
		return
	}
	err := s.Rebuild(ctx, name)
	switch {
	case ctx.Err() != nil: // interrupted by Ctrl-C, which stops the whole stack
	case err != nil:
		explain(e.Stderr, err)
	default:
		progress.Say("%s is up again after %s", name, report.Duration(e.Now().Sub(began)))
	}
}
