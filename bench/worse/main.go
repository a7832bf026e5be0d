// Command worse puts changes before the judge that teams made in contests and
// had to take back, and says what became of them:
//
//   - a connection pool of 200 instead of 10, where orders wait for row locks;
//   - an index on the wrong column, beside the right one;
//   - gzip of answers, where client and server share one machine's CPU.
//
// The trial is the one of iikanji tune: a proposer of the real protocol (this
// program in another role), real servers, interleaved pairs of runs, the gates
// and the judge of internal/loop. There is no threshold here: what the judge
// says is what is printed, with the number that it says it by. The status is 3
// when it kept one of them.
//
// It tunes nothing and finds nothing by itself, and the numbers are of this
// machine: that a change made it worse elsewhere does not mean that it does so
// here. What is wanted is that nothing stays which does not help.
//
//  1. For each arena: bring it up in a folder of its own, put in force what
//     the teams had at that time, and know the noise from runs of one state.
//  2. Ask the proposer; try what it answers, one change at a time.
//  3. Take everything back, end all processes, remove the folder.
//
// The work folder of isucondition may be a lasting one, --dir: its data need
// not be made anew then. The app that is bound by locks is in the folder
// _tickets, and its load in sale.go.
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
	"github.com/iikanji/iikanji/internal/arena"
	_ "github.com/iikanji/iikanji/internal/change/all" // every kind
	"github.com/iikanji/iikanji/internal/stack"
)

// Exit statuses: a proposal that was kept is not the same as a trial that did
// not take place.
const (
	statusDone   = 0
	statusFailed = 1
	statusUsage  = 2
	statusKept   = 3
)

// isuName is the arena whose work folder --dir names.
const isuName = "isucondition"

// roleProposer is this program as a proposer.
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
	runtime.LockOSThread() // children are killed when the thread that made them ends
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

// failed tells of an error, and makes a status of it.
func (o *options) failed(err error) int {
	if err == nil {
		return statusDone
	}
	fmt.Fprintln(o.stderr, "worse:", err)
	return statusFailed
}

// say tells what happens, with the time since the beginning.
func (o *options) say(line string) {
	d := time.Since(o.began)
	fmt.Fprintf(o.stderr, "%02d:%02d  %s\n", int(d.Minutes()), int(d.Seconds())%60, line)
}

// arenas are those of the proposals, the quick one first.
func (o *options) arenas() []*arena.Arena {
	isu, _ := arena.Find(isuName) // it is linked
	var chosen []*arena.Arena
	for _, a := range []*arena.Arena{ticketsArena(), isu} {
		if o.only == "" || o.only == a.Name {
			chosen = append(chosen, a)
		}
	}
	return chosen
}

// all holds every trial. What has ended is handed back also with an error.
func (o *options) all(ctx context.Context) (r *result, err error) {
	r = &result{Began: o.began, Load: o.load, Noisy: o.noisy}
	tmp, err := os.MkdirTemp("", "iikanji-worse-")
	if err != nil {
		return r, fmt.Errorf("making a work folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	if err := os.Chmod(tmp, 0o755); err != nil { // run by root, the services are somebody else's
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
