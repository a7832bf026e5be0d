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
	Arena string `arg:"" help:"Arena to bring up, as in isucondition."`

	Dir   string   `help:"Work folder of the stack (default: below the user's state folder)." type:"path" placeholder:"FOLDER"`
	Port  int      `help:"Port of nginx on 127.0.0.1 (default: a free one, the same as last time)."`
	Pin   string   `help:"CPUs: off, auto (leaves some for a load generator), or GENERATOR/STACK as in 0/1." default:"off"`
	Env   []string `help:"Further environment of the app." placeholder:"K=V" sep:"none"`
	Fresh bool     `help:"Start from the arena's own files and an empty database; what was edited is moved aside."`
	JSON  bool     `help:"Say where everything is as one JSON document, once it is up."`
}

// Help is the long help of the command.
func (upCmd) Help() string {
	return `Brings an arena up in the foreground (MariaDB, nginx and the app as children
of iikanji, in one work folder), says where everything is, and stops all of it
on Ctrl-C. Edit what you like in the work folder: it is kept.

While it runs, a line on standard input restarts a service: app (built from its
source again at first), nginx (its config is tested first) or database.
Signal USR1 does the same as app.

Examples:
  iikanji up isucondition
  iikanji up isucondition --dir ./isu --port 8080
  iikanji up isucondition --json </dev/null

Exit status: 0 stopped, 1 failed to run, 2 usage.`
}

// Run is the command.
func (c *upCmd) Run(ctx context.Context, e *env) (err error) {
	a, err := findTarget(c.Arena)
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
			return hinted(errors.New("interrupted while coming up; nothing is left running"))
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

// whereabouts are the document of --json.
type whereabouts struct {
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
	Password string `json:"password"` // the contest's, in its files too
}

// announce says where everything is and what one can do there.
func (c *upCmd) announce(e *env, s *stack.Stack, took time.Duration) error {
	p := s.Places()
	if c.JSON {
		return writeJSON(e.Stdout, whereabouts{Arena: c.Arena, URL: p.URL(), Source: s.Source(), Configs: p.Conf, Logs: s.Logs(), PID: os.Getpid(), Took: took,
			Database: databaseAt{Address: fmt.Sprintf("127.0.0.1:%d", p.DBPort), Socket: p.DBSocket, Name: p.DBName, User: p.DBUser, Password: p.DBPassword}})
	}
	_, err := fmt.Fprintf(e.Stdout, `%[1]s is up, ready in %[2]s

  url       %[3]s
  source    %[4]s
  configs   %[5]s/nginx.conf, my.cnf, mariadb.d/*.cnf
  logs      %[6]s
  database  127.0.0.1:%[7]d, database %[8]s, user %[9]s, password %[10]s
            mariadb --no-defaults -S %[11]s %[8]s

Edit there, then type app, nginx or database to restart it (app: builds it
first). From another terminal, kill -USR1 %[12]d is the same as app.
Load it with: iikanji bench %[1]s --url %[3]s
Ctrl-C stops it.
`, c.Arena, report.Duration(took), p.URL(), s.Source(), p.Conf, s.Logs(), p.DBPort, p.DBName, p.DBUser, p.DBPassword, p.DBSocket, os.Getpid())
	return err
}

// serveUp obeys lines and signals until the end of ctx, or until no service is left.
func serveUp(ctx context.Context, e *env, s *stack.Stack, progress *report.Progress) error {
	orders := make(chan string)
	go readOrders(ctx, e.Stdin, orders)
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
			progress.Say("edit and type app, or the service's name, to start it again")
		case <-usr1:
			obey(ctx, e, s, stack.App, progress)
		case order := <-orders:
			obey(ctx, e, s, order, progress)
		}
	}
}

// readOrders hands on the words on standard input; at its end there are just
// no more.
func readOrders(ctx context.Context, in io.Reader, orders chan<- string) {
	for lines := bufio.NewScanner(in); lines.Scan(); {
		if word := strings.TrimSpace(lines.Text()); word != "" {
			select {
			case orders <- word:
			case <-ctx.Done():
				return
			}
		}
	}
}

// obey restarts a service. What goes wrong is said, and the stack stays up.
func obey(ctx context.Context, e *env, s *stack.Stack, order string, progress *report.Progress) {
	began := e.Now()
	var err error
	switch order {
	case stack.App:
		err = s.RestartApp(ctx)
	case stack.Nginx, stack.Database:
		err = s.Restart(ctx, order)
	default:
		progress.Say("%s: want app, nginx or database", report.Clean(order))
		return
	}
	switch {
	case ctx.Err() != nil: // Ctrl-C in the middle: the stack goes down anyway
	case err != nil:
		explain(e.Stderr, err)
	default:
		progress.Say("%s is up again after %s", order, report.Duration(e.Now().Sub(began)))
	}
}
