// Command iikanji makes a web stack fast, and proves it.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/portal/worker"
)

func main() {
	maybeVet(os.Args)
	maybePeer(os.Args)
	maybeGenerator(os.Args)
	stack.MaybeSupervise() // also what a stack starts of this program itself
	worker.MaybeGuard()
	keepDescriptors()
	os.Exit(runProcess(systemEnv()))
}

// runProcess runs the command line of this process until its end or a signal,
// and returns the exit status.
func runProcess(e *env) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// After the first signal the default handler is back: a second Ctrl-C ends the
	// process at once, and the supervisor takes the stack down.
	context.AfterFunc(ctx, stop)
	return run(ctx, e, os.Args[1:])
}
