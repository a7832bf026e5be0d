package process

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// A Way is how a process can be started again as it was found. There are three: with the
// command line that the kernel shows; with the one that is in its title, if the program's
// engine puts it there; by a signal at which it executes its program again. A process with
// another title cannot be started again; Err says why.
type Way struct {
	Says string // for people
	Err  error  // nil if there is a way
	// Signal makes the process execute its program again with what it was started with; 0
	// for a process that is ended and started.
	Signal syscall.Signal
	// Test are arguments with which the program tests its configuration; nil for none. A
	// configuration that it refuses would leave it down.
	Test []string
}

// A TitleError is a process that shows a title in place of its command line, so that it
// cannot be started again as it was found.
type TitleError struct {
	PID     int
	Program string
	Title   string
}

func (e *TitleError) Error() string {
	return fmt.Sprintf("process %d (%s) shows the title %q in place of its command line: "+
		"how it was started is unknown", e.PID, e.Program, e.Title)
}

// Hints tells what to do.
func (e *TitleError) Hints() []string {
	return []string{"fill in commands.restart, or commands.start and commands.stop, of this service"}
}

// findWay decides how the process is started again.
func (o *Origin) findWay(h host.Host, p *Process) {
	o.Way = Way{Says: "with its command line, environment and folder"}
	if !p.ShowsTitle(h) {
		return
	}
	o.Title = p.Command()
	o.Way = Way{Err: &TitleError{p.PID, p.Program, p.Command()}}
	e, ok := engineOf(p)
	if !ok {
		return
	}
	args := p.Args
	switch {
	case e.arguments != nil:
		if args, ok = e.arguments(h, p, o.Spec.Env); !ok {
			return
		}
		o.Learn(p.Program, args, "with the command line in its title")
		if e.overwrites {
			o.Spec.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
		}
	case e.again != 0:
		says := fmt.Sprintf("by %s, at which it executes its program again", unix.SignalName(e.again))
		o.Way = Way{Says: says, Signal: e.again}
	}
	if e.test != nil {
		o.Way.Test = e.test(args)
	}
}

// Learn sets the command line of a process that shows a title.
func (o *Origin) Learn(program string, args []string, says string) {
	o.Spec.Path, o.Spec.Args, o.Way = program, args, Way{Says: says}
}
