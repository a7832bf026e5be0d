package process

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// An End is a process to end, together with its descendants.
type End struct {
	PID     int
	Started uint64 // of Process: another process with this id is left alone
	Signal  syscall.Signal
	Wait    time.Duration // after which it is killed
	// Others are further processes that end with it or are killed after it, as
	// the script that would start it again.
	Others []Other
}

// An Other is a process of an End.
type Other struct {
	PID     int
	Started uint64
	First   bool // it is killed before the process itself
}

// lastWait limits the wait for a killed process.
const lastWait = 10 * time.Second

// Do ends the process and returns when it and its descendants are gone.
func (e End) Do() error {
	h := host.Local{}
	for _, o := range e.Others {
		if o.First && same(h, o.PID, o.Started) {
			_ = unix.Kill(o.PID, unix.SIGKILL)
		}
	}
	family := e.family(h)
	if same(h, e.PID, e.Started) {
		fd, err := unix.PidfdOpen(e.PID, 0)
		if err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("ending process %d: %w", e.PID, err)
		}
		if err == nil {
			err = endOf(fd, e.Signal, e.Wait)
			if err = errors.Join(err, unix.Close(fd)); err != nil {
				return fmt.Errorf("ending process %d: %w", e.PID, err)
			}
		}
	}
	wait := familyWait
	if e.Signal == syscall.SIGKILL {
		wait = 0
	}
	return endRest(h, family, wait)
}

func same(h host.Host, pid int, started uint64) bool {
	p, err := ReadProcess(h, pid)
	return err == nil && p.Started == started && p.State != 'Z' && p.State != 'X'
}

// endOf sends the signal, waits, and kills what did not end.
func endOf(fd int, sig syscall.Signal, wait time.Duration) error {
	if err := unix.PidfdSendSignal(fd, sig, nil, 0); err != nil {
		if errors.Is(err, unix.ESRCH) {
			return nil
		}
		return err
	}
	if Ended(fd, wait) {
		return nil
	}
	if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		return err
	}
	if !Ended(fd, lastWait) {
		return errors.New("it does not end, not even killed")
	}
	return nil
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

// family lists the descendants and the others of the process.
func (e End) family(h host.Host) []Other {
	out := slices.Clone(e.Others)
	m, err := ReadMachine(h)
	if err != nil {
		return out
	}
	for _, p := range m.Family(e.PID) {
		if p.PID != e.PID && p.PID != os.Getpid() {
			out = append(out, Other{PID: p.PID, Started: p.Started})
		}
	}
	return out
}

// familyWait is how long descendants may take to end after the process.
const familyWait = 3 * time.Second

// endRest waits for descendants and kills those that stay.
func endRest(h host.Host, family []Other, wait time.Duration) error {
	left := func() []Other {
		return slices.DeleteFunc(family, func(o Other) bool { return !same(h, o.PID, o.Started) })
	}
	for end := time.Now().Add(wait); ; time.Sleep(5 * time.Millisecond) {
		family = left()
		switch {
		case len(family) == 0:
			return nil
		case time.Now().After(end.Add(lastWait)):
			return fmt.Errorf("process %d does not end, not even killed", family[0].PID)
		case time.Now().After(end):
			for _, o := range family {
				_ = unix.Kill(o.PID, unix.SIGKILL)
			}
		}
	}
}
