package process

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/hostproc"
)

// An ID identifies a process of this machine within one boot. The kernel gives ids of
// ended processes to new ones: Start, in clock ticks since boot, tells them apart.
type ID struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"`
}

// IDOf is the identity of a process that runs now, or that waits to be reaped.
func IDOf(pid int) (ID, error) {
	s, err := hostproc.ReadStat(host.Local{}, pid)
	return ID{s.PID, s.Started}, err
}

// ID identifies the process.
func (p *Process) ID() ID { return ID{p.PID, p.Started} }

// Alive reports whether exactly this process of this machine still runs.
func (id ID) Alive() bool { return id.AliveOn(host.Local{}) }

// AliveOn reports whether exactly this process of a host still runs.
func (id ID) AliveOn(h host.Host) bool {
	return id.PID > 0 && hostproc.Stat{PID: id.PID, Started: id.Start}.Alive(h)
}

// Signal sends a signal to exactly this process. A process that has ended is no error.
func (id ID) Signal(sig syscall.Signal) error {
	fd, err := unix.PidfdOpen(id.PID, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("signalling process %d: %w", id.PID, err)
	}
	defer unix.Close(fd)
	if !id.Alive() { // read while fd holds the id
		return nil
	}
	if err := unix.PidfdSendSignal(fd, sig, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("signalling process %d: %w", id.PID, err)
	}
	return nil
}

// Descendants are the running processes below a process.
func Descendants(pid int) []ID {
	all, err := hostproc.Stats(host.Local{})
	if err != nil {
		return nil
	}
	below := map[int]bool{pid: true}
	var found []ID
	for grew := true; grew; { // parents may have larger ids than children
		grew = false
		for _, p := range all {
			if below[p.Parent] && !below[p.PID] {
				below[p.PID], grew = true, true
				if !p.Ended() {
					found = append(found, ID{p.PID, p.Started})
				}
			}
		}
	}
	return found
}

// Boot identifies one boot of the machine.
func Boot() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(b))
}
