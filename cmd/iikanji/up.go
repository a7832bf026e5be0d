package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/iikanji/iikanji/internal/bench"
	"github.com/iikanji/iikanji/internal/report"
	"github.com/iikanji/iikanji/internal/stack"
)

type upCmd struct {
	Arena string `arg:"" help:"Arena to bring up, such as isucondition."`

	Dir   string   `help:"Work folder of the stack (default: below the user's state folder)." type:"path" placeholder:"FOLDER"`
	Port  int      `help:"Port of nginx on 127.0.0.1 (default: the port of the last time, or a free one)."`
	Pin   string   `help:"CPUs: off, auto (leaves some for a load generator), or GENERATOR/STACK as in 0/1." default:"off"`
	Env   []string `help:"Additional environment variable of the app." placeholder:"K=V" sep:"none"`
	Fresh bool     `help:"Start from the arena's own files and an empty database; your edits are moved to another folder."`
	JSON  bool     `help:"Print the addresses and folders as one JSON document when the arena is up."`
}

// Help returns the long help of the command.
func (upCmd) Help() string {
	return `Brings an arena up in the foreground (MariaDB, nginx and the app are child
processes of iikanji, in one work folder), prints its addresses and folders, and
stops all of it on Ctrl-C. Your edits in the work folder are kept.

While it runs, a line on standard input restarts a service: app (after a build of
its source), nginx (after a test of its config) or database. Signal USR1 restarts
the app.

Examples:
  iikanji up isucondition
  iikanji up isucondition --dir ./isu --port 8080
  iikanji up isucondition --json </dev/null

Exit status: 0 stopped, 1 failed to run, 2 usage.`
}

// Run runs the command.
func (c *upCmd) Run(ctx context.Context, e *env) (err error) {
	a, err := findArena(c.Arena)
	if err != nil {
		return err
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
	progress := report.NewProgress(e.Stderr, e.TTY, e.Cols, e.Now)
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
	Arena    string        `json:"arena"`
	URL      string        `json:"url"`
	Source   string        `json:"source"`
	Configs  string        `json:"configs"`
	Logs     string        `json:"logs"`
	Database databaseAt    `json:"database"`
	PID      int           `json:"pid"` // USR1 restarts the app, INT stops all
	Took     time.Duration `json:"took_ns"`
}

type databaseAt struct {
	Address  string `json:"address"`
	Socket   string `json:"socket"`
	Name     string `json:"name"`
	User     string `json:"user"`
	Password string `json:"password"` // the contest's published password, not a secret
}

// announce prints the addresses and folders of the stack, and how to work with it.
func (c *upCmd) announce(e *env, s *stack.Stack, took time.Duration) error {
	p := s.Places()
	if c.JSON {
		return writeJSON(e.Stdout, upPlaces{Arena: c.Arena, URL: p.URL(), Source: s.Source(), Configs: p.Conf, Logs: s.Logs(), PID: os.Getpid(), Took: took,
			Database: databaseAt{Address: fmt.Sprintf("127.0.0.1:%d", p.DBPort), Socket: p.DBSocket, Name: p.DBName, User: p.DBUser, Password: p.DBPassword}})
	}
	_, err := fmt.Fprintf(e.Stdout, `%[1]s is up, ready in %[2]s

  url       %[3]s
  source    %[4]s
  configs   %[5]s/nginx.conf, my.cnf, mariadb.d/*.cnf
  logs      %[6]s
  database  127.0.0.1:%[7]d, database %[8]s, user %[9]s, password %[10]s
            mariadb --no-defaults -S %[11]s %[8]s

After an edit, type app, nginx or database to restart that service (app: after
a build). kill -USR1 %[12]d from another terminal restarts the app.
To load the arena: iikanji bench %[1]s --url %[3]s
Ctrl-C stops it.
`, c.Arena, report.Duration(took), p.URL(), s.Source(), p.Conf, s.Logs(), p.DBPort, p.DBName, p.DBUser, p.DBPassword, p.DBSocket, os.Getpid())
	return err
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
			progress.Say("to start it again, type its name: app, nginx or database")
		case <-usr1:
			restartService(ctx, e, s, stack.App, progress)
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
	var err error
	switch name {
	case stack.App:
		err = s.RestartApp(ctx)
	case stack.Nginx, stack.Database:
		err = s.Restart(ctx, name)
	default:
		progress.Say("%s: want app, nginx or database", report.Clean(name))
		return
	}
	switch {
	case ctx.Err() != nil: // interrupted by Ctrl-C, which stops the whole stack
	case err != nil:
		explain(e.Stderr, err)
	default:
		progress.Say("%s is up again after %s", name, report.Duration(e.Now().Sub(began)))
	}
}
