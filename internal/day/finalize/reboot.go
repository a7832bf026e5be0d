package finalize

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// returnWithin is how long a machine may take until it answers after a reboot, and all its
// services after that.
const returnWithin = 300 * time.Second

// A Rebooting is the note about a reboot of the command's own machine, which it outlives.
type Rebooting struct {
	Version int       `json:"version"`
	At      time.Time `json:"at"` // when the machines of the part went down
	Round   int       `json:"round"`
	Part    int       `json:"part"`
	// Boots are the boots of the machines that went down, by the machine's label.
	Boots map[string]string `json:"boots"`
	Boot  string            `json:"boot"` // of the machine of the command
	// Before is what has to be the same afterwards, as the site's owner wrote it.
	Before json.RawMessage `json:"before,omitempty"`
	Steps  []Step          `json:"steps,omitempty"` // that were made before the round
	Says   []string        `json:"says,omitempty"`  // of the machines that came back in it
}

// RebootingVersion is the version of a Rebooting; readers refuse a larger one.
const RebootingVersion = 2

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
	if r.Version < RebootingVersion || now.Sub(r.At) > forgotten {
		return nil, nil
	}
	boot, err := BootOf(h)
	if err != nil || boot == r.Boot {
		return nil, err
	}
	return &r, nil
}

// A Rebooter reboots the machines of a site, in rounds.
type Rebooter struct {
	Machines Machines // all with services; those that stay up are among them
	Rounds   []Round
	Note     string // the path of the Rebooting, on this machine
	Now      func() time.Time
	// Before reads what has to be the same afterwards, and Proof proves that it is.
	Before func(ctx context.Context) (json.RawMessage, error)
	Proof  func(ctx context.Context, before json.RawMessage) (says string, err error)
	// GoOn prepares this machine for its boot: the same command goes on then. nil: a person
	// types it.
	GoOn func(ctx context.Context) error
	// Stay removes what GoOn has prepared. Without that, a reboot that failed would be gone on with
	// after each later boot. It is nil if GoOn is nil.
	Stay func() error
	// Expect is called before machines go down, and with false when they are back; nil for
	// nobody.
	Expect func(labels []string, down bool)
	// From is the note of a former process that this one goes on from; nil for none.
	From *Rebooting
}

// Round makes a round. down: this machine goes down, which ends the command. so are the steps
// that were made before. With an error services that did not come back are started.
func (r *Rebooter) Round(ctx context.Context, k int, so []Step) (says string, down bool, err error) {
	n := r.From
	r.From = nil
	if n == nil || n.Round != k {
		n = &Rebooting{Version: RebootingVersion, Round: k, Part: -1, Steps: so}
		if n.Before, err = r.Before(ctx); err != nil {
			return "", false, err
		}
	}
	if down, err = r.parts(ctx, n); down {
		return "", true, nil
	}
	if err != nil && ctx.Err() == nil {
		if e := r.Machines.startAll(ctx); e != nil {
			err = fmt.Errorf("%w; starting everything again: %w", err, e)
		}
	}
	if err = errors.Join(err, r.forget()); err != nil {
		return "", false, err
	}
	says = strings.Join(n.Says, ", ")
	for _, u := range r.Machines {
		asked, err := u.asked(ctx, nil)
		if err != nil {
			return says, false, u.at(err)
		}
		says += asked
	}
	proof, err := r.Proof(ctx, n.Before)
	return says + "; " + proof, false, err
}

// parts makes the parts of a round from that of the note on, and waits for all services.
func (r *Rebooter) parts(ctx context.Context, n *Rebooting) (down bool, err error) {
	parts := r.Rounds[n.Round].parts
	for i := max(n.Part, 0); i < len(parts); i++ {
		if i > n.Part { // else its machines went down before this process began
			n.Part = i
			if down, err = r.goDown(ctx, n, parts[i]); down || err != nil {
				return down, err
			}
		}
		if err = r.back(ctx, n); err == nil && parts[i].rest {
			err = r.Machines.answersWithin(ctx, returnWithin)
		}
		if err != nil {
			return false, err
		}
	}
	return false, r.Machines.answersWithin(ctx, returnWithin)
}

// forget removes the note, and what GoOn has prepared.
func (r *Rebooter) forget() error {
	if err := (host.Local{}).Remove(r.Note); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the note of the reboot: %w", err)
	}
	if r.Stay != nil {
		return r.Stay()
	}
	return nil
}

// goDown reboots the machines of a part, this one last.
func (r *Rebooter) goDown(ctx context.Context, n *Rebooting, p part) (own bool, err error) {
	if sleep(ctx, p.after); ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	n.Boots = map[string]string{}
	some := r.Machines.with(func(u *Units) bool { return slices.Contains(p.down, u.Label) })
	for _, u := range some {
		boot, err := BootOf(u.Host)
		if err != nil {
			return false, u.at(err)
		}
		if n.Boots[u.Label] = boot; u.here() {
			n.Boot, own = boot, true
		}
	}
	whole := context.WithoutCancel(ctx) // once servers are ended, their machine boots
	stopped := r.Machines.with(func(u *Units) bool { return slices.Contains(p.stop, u.Label) })
	err = stopped.each(func(u *Units) error { return u.guard(ctx, returnWithin) })
	if err == nil {
		err = stopped.each(func(u *Units) error { return u.act(whole, "stop", u.servers()) })
	}
	n.At = r.Now()
	if err == nil && own {
		err = r.write(n)
	}
	if err == nil && own && r.GoOn != nil {
		err = r.GoOn(ctx)
	}
	if err == nil {
		if r.Expect != nil {
			r.Expect(p.down, true)
		}
		err = some.with(func(u *Units) bool { return !u.here() }).each(func(u *Units) error { return u.reboot(whole) })
	}
	if err == nil {
		err = some.with((*Units).here).each(func(u *Units) error { return u.reboot(whole) })
	}
	if err != nil {
		return false, errors.Join(err, stopped.rescue(whole))
	}
	return own, nil
}

// write keeps the note.
func (r *Rebooter) write(n *Rebooting) error {
	text, err := json.MarshalIndent(n, "", "  ")
	if err == nil {
		err = host.Local{}.Write(r.Note, append(text, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("noting that machines reboot: %w", err)
	}
	return nil
}

// reboot has systemd reboot the host. The connection to the host may end before the answer. A
// reboot of this machine ends the processes that systemd has started. The systemctl command is one
// of them if systemd has started this process, to go on after an earlier boot.
func (u *Units) reboot(ctx context.Context) error {
	err := u.systemctl(ctx, "reboot")
	var lost *host.LostError
	var failed *CommandError
	switch {
	case errors.As(err, &lost) && lost.Sent:
		return nil
	case u.here() && errors.As(err, &failed) && failed.Status < 0: // it was ended by a signal
		return nil
	}
	return err
}

// back waits for the boots of the machines that went down.
func (r *Rebooter) back(ctx context.Context, n *Rebooting) error {
	some := r.Machines.with(func(u *Units) bool { return n.Boots[u.Label] != "" })
	says := make([]string, len(r.Machines))
	err := some.each(func(u *Units) error {
		at, err := u.booted(ctx, n.Boots[u.Label], n.At.Add(returnWithin), r.Now)
		says[slices.Index(r.Machines, u)] = fmt.Sprintf("%s %.0f s", called(u.Label), at.Sub(n.At).Seconds())
		return err
	})
	if err != nil {
		return err
	}
	n.Says = append(n.Says, slices.DeleteFunc(says, func(s string) bool { return s == "" })...)
	if r.Expect != nil {
		r.Expect(some.labels(), false)
	}
	return nil
}

// booted waits until the host answers in another boot, and returns when that was seen.
func (u *Units) booted(ctx context.Context, before string, end time.Time, now func() time.Time) (time.Time, error) {
	for {
		err := u.reach(ctx)
		if err == nil {
			var boot string
			if boot, err = BootOf(u.Host); err == nil && boot != before {
				return now(), nil
			}
		}
		switch {
		case ctx.Err() != nil:
			return time.Time{}, context.Cause(ctx)
		case now().After(end) && err == nil:
			return time.Time{}, &LateError{Says: called(u.Label) + " did not go down"}
		case now().After(end):
			return time.Time{}, &LateError{Says: fmt.Sprintf("%s did not come back within %.0f s: %v", called(u.Label), returnWithin.Seconds(), err)}
		}
		sleep(ctx, poll)
	}
}

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
