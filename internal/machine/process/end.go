package process

import (
	"context"
	"fmt"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// An End is a process to end, together with its descendants: by its steps, then by SIGKILL.
type End struct {
	ID
	Steps []Step
	// First are processes that are killed before, as a script that would start it again;
	// Others end with it or are killed after it.
	First, Others []ID
}

// A Step is a signal, and the wait for its effect.
type Step struct {
	Signal syscall.Signal
	Wait   time.Duration
}

const (
	// familyWait is how long descendants may take to end after the process.
	familyWait = 3 * time.Second
	// lastWait limits the wait for a killed process. The kernel may not end it (a dead
	// disk), and nothing must hang then.
	lastWait = 10 * time.Second
)

// Do ends the process and returns when it and its descendants are gone. When ctx ends,
// what is left is killed at once.
func (e End) Do(ctx context.Context) error {
	for _, id := range e.First {
		if err := id.Signal(unix.SIGKILL); err != nil {
			return err
		}
	}
	rest := append(slices.Concat(e.First, e.Others), Descendants(e.PID)...)
	if !e.Alive() {
		rest = slices.Concat(e.First, e.Others) // another process has its id
	}
	if err := EndAll(ctx, e.Steps, Listed([]ID{e.ID})); err != nil {
		return err
	}
	var wait []Step
	if len(e.Steps) > 0 {
		wait = []Step{{Wait: familyWait}}
	}
	return EndAll(ctx, wait, Listed(rest))
}

// Listed lists those of some processes that still run.
func Listed(ids []ID) func() ([]ID, error) {
	return func() ([]ID, error) {
		ids = slices.DeleteFunc(slices.Clone(ids), func(id ID) bool { return !id.Alive() })
		return ids, nil
	}
}

// EndAll ends processes until left lists none. Each gets the signal of each step; after the
// last wait, or when ctx ends, all are killed. A step without a signal only waits.
func EndAll(ctx context.Context, steps []Step, left func() ([]ID, error)) error {
	var due time.Time // end of the current step
	var now Step
	told := map[ID]bool{}
	hurry := ctx.Done()
	for killed, pause := false, time.Millisecond; ; pause = min(2*pause, 10*time.Millisecond) {
		ids, err := left()
		if err != nil || len(ids) == 0 {
			return err
		}
		switch at := time.Now(); {
		case at.Before(due):
		case killed:
			return fmt.Errorf("process %d does not end, not even killed", ids[0].PID)
		case len(steps) > 0 && ctx.Err() == nil:
			now, steps = steps[0], steps[1:]
			due, told = at.Add(now.Wait), map[ID]bool{}
		default:
			now, killed, hurry = Step{unix.SIGKILL, lastWait}, true, nil
			due, told = at.Add(now.Wait), map[ID]bool{}
		}
		for _, id := range ids {
			if now.Signal == 0 || told[id] {
				continue
			}
			told[id] = true
			if err := id.Signal(now.Signal); err != nil {
				return err
			}
			_ = id.Signal(unix.SIGCONT) // a stopped process handles signals only then
		}
		select {
		case <-time.After(pause):
		case <-hurry:
			due = time.Time{}
		}
	}
}

// Ended waits until the process of a descriptor has ended, at most for a time.
func Ended(fd int, wait time.Duration) bool {
	end := time.Now().Add(wait)
	for {
		left := max(0, time.Until(end))
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(left.Milliseconds())+1)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return false
		case n > 0:
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
}
