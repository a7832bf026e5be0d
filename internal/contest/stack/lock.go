package stack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/machine/process"
)

// lock locks the folder for one stack. The supervisor shares the open file, so
// the lock lasts until the supervisor has stopped everything, even if the process
// that took the lock is dead.
func (f folder) lock(ctx context.Context, stopTime time.Duration, progress func(string)) (*os.File, error) {
	l, err := os.OpenFile(f.path(lockFile), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening the lock: %w", err)
	}
	if err := f.acquire(ctx, l, stopTime+crashMargin, progress); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	self, err := process.IDOf(os.Getpid())
	if err == nil {
		err = l.Truncate(0)
	}
	if err == nil {
		_, err = l.WriteAt(fmt.Appendf(nil, "%d %d %s\n", self.PID, self.Start, process.Boot()), 0)
	}
	if err != nil {
		return nil, f.full(errors.Join(fmt.Errorf("writing the lock: %w", err), l.Close()), "")
	}
	return l, nil
}

// crashMargin is what the supervisor of a dead process may take in addition to the
// stop steps of its services.
const crashMargin = 14 * time.Second

// stopTime is how long the stop steps of services take if none has an effect.
// Services of one rank are stopped together.
func stopTime(services []arena.Service) (sum time.Duration) {
	longest := map[int]time.Duration{}
	ranks := ranksOf(services)
	for _, svc := range services {
		var steps time.Duration
		for _, step := range svc.Stop {
			steps += step.Wait
		}
		longest[ranks[svc.Name]] = max(longest[ranks[svc.Name]], steps)
	}
	for _, steps := range longest {
		sum += steps
	}
	return sum
}

func (f folder) acquire(ctx context.Context, l *os.File, wait time.Duration, progress func(string)) error {
	told := false
	for end := time.Now().Add(wait); ; {
		err := unix.Flock(int(l.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return fmt.Errorf("locking the work folder: %w", err)
		}
		if owner := lockOwner(l); owner.Alive() {
			return &BusyError{Dir: f.root, PID: owner.PID, URL: f.lastURL()}
		}
		f.wake()
		if time.Now().After(end) {
			// A supervisor that hangs is identified by its record, not by its name.
			if err := f.cleanUp(ctx, progress); err != nil {
				return err
			}
			end = time.Now().Add(wait)
		}
		if !told {
			told = true
			progress("the stack of a process that died is stopping, waiting for it")
		}
		select {
		case <-time.After(20 * time.Millisecond): // poll: the kernel sends no event when another process's lock ends
		case <-ctx.Done():
			return fmt.Errorf("waiting for the work folder: %w", ctx.Err())
		}
	}
}

// lockOwner returns the process that took the lock last.
func lockOwner(l *os.File) process.ID {
	b := make([]byte, 128)
	n, _ := l.ReadAt(b, 0)
	var p process.ID
	var boot string
	if _, err := fmt.Sscan(string(b[:n]), &p.PID, &p.Start, &boot); err != nil || boot != process.Boot() {
		return process.ID{}
	}
	return p
}
