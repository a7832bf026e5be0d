// Command iikanji makes a web stack fast, and proves it.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/iikanji/iikanji/internal/stack"
)

func main() {
	stack.MaybeSupervise()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// After the first signal the default is back: a second Ctrl-C ends at once,
	// and the supervisor takes the stack down.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, systemEnv(), os.Args[1:]))
}
