package process

import (
	"context"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// nothing are the arguments of a task without any. The encoding wants a field.
type nothing struct{ Nothing bool }

// machineParts is a Machine without its host.
type machineParts struct {
	Processes map[int]*Process
	Listens   []Listen
}

// Tasks are what the far end of a host carries out for this package.
func Tasks() []host.Served {
	return []host.Served{machineTask(), processTask(), childrenTask(), reloadTask(), endTask(), awaitEndTask()}
}

func machineTask() host.Task[nothing, machineParts] {
	return host.Task[nothing, machineParts]{Name: "processes", Do: func(_ context.Context, h host.Host, _ nothing) (machineParts, error) {
		m, err := readMachine(h)
		if err != nil {
			return machineParts{}, err
		}
		return machineParts{m.Processes, m.Listens}, nil
	}}
}

func processTask() host.Task[int, Process] {
	return host.Task[int, Process]{Name: "process", Do: func(_ context.Context, h host.Host, pid int) (Process, error) { return readProcess(h, pid) }}
}

func childrenTask() host.Task[int, []ID] {
	return host.Task[int, []ID]{Name: "children", Do: func(_ context.Context, h host.Host, pid int) ([]ID, error) { return childrenOf(h, pid), nil }}
}

func reloadTask() host.Task[reloading, string] {
	return host.Task[reloading, string]{Name: "reloaded", Do: func(_ context.Context, h host.Host, of reloading) (string, error) { return lacking(h, of) }}
}

// EndOn ends a process of a host.
func EndOn(ctx context.Context, h host.Host, e End) error {
	_, err := endTask().On(ctx, h, e)
	return err
}

func endTask() host.Task[End, bool] {
	return host.Task[End, bool]{Name: "end", Do: func(ctx context.Context, _ host.Host, e End) (bool, error) { return true, e.Do(ctx) }}
}

// AwaitEndOn waits until a process of a host has ended, which is then not an error, or
// until ctx ends.
func AwaitEndOn(ctx context.Context, h host.Host, pid int) error {
	_, err := awaitEndTask().On(ctx, h, pid)
	return err
}

// lookAgain is how often a wait for the end of a process looks at its context.
const lookAgain = 200 * time.Millisecond

func awaitEndTask() host.Task[int, bool] {
	return host.Task[int, bool]{Name: "await-end", Do: func(ctx context.Context, _ host.Host, pid int) (bool, error) {
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			return true, nil // it has ended; the next question to the service shows that
		}
		defer unix.Close(fd)
		for !Ended(fd, lookAgain) {
			if ctx.Err() != nil {
				return false, ctx.Err()
			}
		}
		return true, nil
	}}
}
