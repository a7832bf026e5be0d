package finalize

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// returnWithin is how long a machine may take until all its services answer after a reboot.
const returnWithin = 300 * time.Second

// rebootTime is how long a reboot is assumed to take.
const rebootTime = 2 * time.Minute

// BootOf identifies the boot of a machine: the kernel's boot id, and the start of process 1,
// which is new with each boot of a machine that shares its kernel.
func BootOf(h host.Host) (string, error) {
	id, err := h.Read("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("reading which boot this is: %w", err)
	}
	stat, err := h.Read("/proc/1/stat")
	if err != nil {
		return "", fmt.Errorf("reading which boot this is: %w", err)
	}
	text := string(stat)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	const started = 22 - 3 // proc_pid_stat(5): starttime is field 22, and the text begins with field 3
	if len(fields) <= started {
		return "", fmt.Errorf("reading which boot this is: /proc/1/stat is %q", text)
	}
	return strings.TrimSpace(string(id)) + " " + fields[started], nil
}

// A Rebooting is what a command leaves for itself before it reboots its own machine.
type Rebooting struct {
	Version int       `json:"version"`
	Boot    string    `json:"boot"` // before
	At      time.Time `json:"at"`
	// Before is what has to be the same afterwards, as the site's owner wrote it.
	Before json.RawMessage `json:"before"`
}

// RebootingVersion is the version of a Rebooting; readers refuse a larger one.
const RebootingVersion = 1

// forgotten is the age of a note of a reboot that nobody came back to: the data may have
// changed since.
const forgotten = time.Hour

// ReadRebooting reads the note of a reboot, nil for none. A note of the present boot is none:
// the machine has not gone down.
func ReadRebooting(h host.Host, path string, now time.Time) (*Rebooting, error) {
	text, err := h.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var r Rebooting
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the note of the reboot in %s: %w", path, err)
	}
	if r.Version > RebootingVersion {
		return nil, fmt.Errorf("%s has version %d, this iikanji reads up to %d", path, r.Version, RebootingVersion)
	}
	boot, err := BootOf(h)
	if err != nil || boot == r.Boot || now.Sub(r.At) > forgotten {
		return nil, err
	}
	return &r, nil
}

// Reboot writes the note and has systemd reboot the machine. The caller ends then.
func (u *Units) Reboot(ctx context.Context, path string, before any) error {
	if u == nil {
		return &ErrPerson{"not every service is a unit of systemd: reboot by hand, and run iikanji finalize afterwards"}
	}
	boot, err := BootOf(u.Host)
	if err != nil {
		return err
	}
	what, err := json.Marshal(before)
	if err != nil {
		return fmt.Errorf("noting what a reboot must keep: %w", err)
	}
	text, err := json.MarshalIndent(Rebooting{RebootingVersion, boot, u.Now(), what}, "", "  ")
	if err != nil {
		return fmt.Errorf("noting that the machine reboots: %w", err)
	}
	if err := u.Host.Write(path, append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("noting that the machine reboots: %w", err)
	}
	return u.systemctl(ctx, "reboot")
}

// Returned waits until all services answer after a reboot.
func (u *Units) Returned(ctx context.Context) error { return u.answersWithin(ctx, returnWithin) }
