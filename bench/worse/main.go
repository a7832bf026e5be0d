// Command worse tests the judge with changes that teams made in contests and had
// to take back, and reports the verdicts:
//
//   - a connection pool of 200 instead of 10, where orders wait for row locks;
//   - an index on the wrong column, in addition to the right one;
//   - gzip of answers, where client and server share one machine's CPU.
//
// The trials are those of iikanji tune: a proposer that uses the real protocol
// (this program in another role), real servers, interleaved pairs of runs, the
// gates and the judge of internal/proof/judge. This program has no threshold of its own:
// it prints the judge's verdict with the number that the verdict is based on. The
// exit status is 3 if the judge kept one of the changes.
//
// The program tunes nothing and finds nothing by itself. The numbers hold for this
// machine: a change that made the score worse elsewhere need not do so here. The
// requirement is that no change is kept that does not help.
//
//  1. For each arena: start it in a folder of its own, apply the changes that
//     the teams already had at that time, and measure the noise from runs of one
//     state.
//  2. Call the proposer, and try the changes of its answer one at a time.
//  3. Undo every change, end all processes, remove the folder.
//
// With --dir, the work folder of isucondition can be a permanent one, so that its
// data need not be generated again. The app that is bound by locks is in the
// folder _tickets, and its load in sale.go.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	_ "github.com/iikanji/iikanji/arenas/isucondition"
	_ "github.com/iikanji/iikanji/internal/change/all" // registers every kind of change
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/contest/stack"
)

// Exit statuses. A kept proposal has another status than trials that did not take
// place.
const (
	statusDone   = 0
	statusFailed = 1
	statusUsage  = 2
	statusKept   = 3
)

// isuName is the arena whose work folder --dir sets.
const isuName = "isucondition"

// roleProposer is the role in which this program is a proposer.
const roleProposer = "proposer"

type options struct {
	dir    string
	only   string
	load   time.Duration
	time   time.Duration
	seed   uint64
	noisy  bool
	json   bool
	stderr io.Writer
	began  time.Time
}

func main() {
	stack.MaybeSupervise()
	runtime.LockOSThread() // children are killed when the thread that started them ends
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

func run(args []string, in io.Reader, out, errs io.Writer) int {
	o := options{stderr: errs, began: time.Now()}
	flags := flag.NewFlagSet("worse", flag.ContinueOnError)
	flags.SetOutput(errs)
	flags.StringVar(&o.dir, "dir", "", "work folder of isucondition, kept for the next time (default: a new one, removed at the end)")
	flags.StringVar(&o.only, "only", "", "tickets or isucondition: the proposals of this arena only")
	flags.DurationVar(&o.load, "load", 8*time.Second, "load of each run")
	flags.DurationVar(&o.time, "time", 12*time.Minute, "end after this time; a trial under way then has no verdict")
	flags.Uint64Var(&o.seed, "seed", 1, "seed of the offered work")
	flags.BoolVar(&o.noisy, "noisy", false, "let runs count that were disturbed from outside; the result is not to be trusted")
	flags.BoolVar(&o.json, "json", false, "print the result as one JSON document")
	role := flags.String("role", "", "for children: proposer")
	if err := flags.Parse(args); err != nil {
		return statusUsage
	}
	if *role == roleProposer {
		return o.failed(answerQuestion(in, out))
	}
	if flags.NArg() > 0 || *role != "" || o.load < 3*time.Second || o.time < time.Minute || o.only != "" && len(o.arenas()) == 0 {
		fmt.Fprintln(errs, "worse: want no arguments, --load of 3s and --time of a minute or more, and --only tickets or isucondition")
		return statusUsage
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeoutCause(ctx, o.time, fmt.Errorf("the time is up: %s", o.time))
	defer cancel()
	r, err := o.all(ctx)
	if e := o.print(out, r); e != nil {
		err = errors.Join(err, e)
	}
	if status := o.failed(err); status != statusDone {
		return status
	}
	return r.status()
}

// failed prints an error and returns the exit status for it.
func (o *options) failed(err error) int {
	if err == nil {
		return statusDone
	}
	fmt.Fprintln(o.stderr, "worse:", err)
	return statusFailed
}

// say prints progress, with the time since the start.
func (o *options) say(line string) {
	d := time.Since(o.began)
	fmt.Fprintf(o.stderr, "%02d:%02d  %s\n", int(d.Minutes()), int(d.Seconds())%60, line)
}

// arenas returns the arenas of the proposals, the fast one first.
func (o *options) arenas() []*arena.Arena {
	isu, _ := arena.Find(isuName) // always found: it is linked in
	var chosen []*arena.Arena
	for _, a := range []*arena.Arena{ticketsArena(), isu} {
		if o.only == "" || o.only == a.Name {
			chosen = append(chosen, a)
		}
	}
	return chosen
}

// all runs every trial. On an error it returns the results so far as well.
func (o *options) all(ctx context.Context) (r *result, err error) {
	r = &result{Began: o.began, Load: o.load, Noisy: o.noisy}
	tmp, err := os.MkdirTemp("", "iikanji-worse-")
	if err != nil {
		return r, fmt.Errorf("making a work folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	if err := os.Chmod(tmp, 0o755); err != nil { // if root runs this, the services run as another user
		return r, fmt.Errorf("opening the work folder to the services: %w", err)
	}
	for _, a := range o.arenas() {
		dir := filepath.Join(tmp, a.Name)
		if a.Name == isuName && o.dir != "" {
			if dir, err = filepath.Abs(o.dir); err != nil {
				return r, fmt.Errorf("finding the work folder: %w", err)
			}
			if err := untouched(dir); err != nil {
				return r, err
			}
		}
		var out held
		out, err = o.trials(ctx, a, dir, filepath.Join(tmp, "history-"+a.Name))
		r.add(a.Name, &out)
		if err != nil {
			return r, fmt.Errorf("%s: %w", a.Name, err)
		}
	}
	return r, nil
}
