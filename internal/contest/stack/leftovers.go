package stack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// markName is a variable that every process of a stack inherits from the
// supervisor. Its value identifies the supervisor.
const markName = "IIKANJI_STACK"

func mark(rec processes) string {
	return fmt.Sprintf("%s=%d:%d", markName, rec.Supervisor.PID, rec.Supervisor.Start)
}

// leftovers lists the processes of a crashed instance that still run. A process
// belongs to the instance only if this is proven, within the same boot:
//
//   - It has a recorded pid and the recorded start time.
//   - It is a member of the recorded supervisor's session and works in this
//     folder. This covers nginx's workers: their pids are not recorded, and they
//     overwrite their environment. The kernel does not reuse a session's number
//     while one member lives, and the folder excludes a later session.
//   - It has the supervisor's mark in its environment. This covers a daemon of
//     the app in a session of its own.
func (f folder) leftovers(rec processes) ([]proc, error) {
	if rec.Boot != bootID() || rec.Supervisor.PID == 0 {
		return nil, nil
	}
	recorded := map[int]uint64{rec.Supervisor.PID: rec.Supervisor.Start}
	for _, record := range []map[string]proc{rec.Services, rec.Jobs} {
		for _, p := range record {
			recorded[p.PID] = p.Start
		}
	}
	all, err := allProcs()
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	var left []proc
	for _, p := range all {
		if p.Start < rec.Supervisor.Start || p.state == 'Z' || p.state == 'X' {
			continue
		}
		start, known := recorded[p.PID]
		if known && start == p.Start || p.session == rec.Supervisor.PID && p.within(f.root) || p.marked(mark(rec)) {
			left = append(left, p)
		}
	}
	return left, nil
}

// leftWait is how long leftover processes may take to end after SIGTERM. A
// database flushes its pages in this time.
const leftWait = 15 * time.Second

// cleanUp ends the leftover processes of a crashed instance and removes its record.
func (f folder) cleanUp(ctx context.Context, progress func(string)) error {
	if err := f.clearBuilds(); err != nil {
		return err
	}
	b, err := host.Local{}.Read(f.path(processesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var rec processes
	if err == nil {
		// A record is written atomically, so a file that is not JSON is not ours.
		err = json.Unmarshal(b, &rec)
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", f.path(processesFile), err)
	}
	left, err := f.leftovers(rec)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		progress(fmt.Sprintf("ending %d processes that a crashed instance left", len(left)))
	}
	for begin, sig := time.Now(), unix.SIGTERM; len(left) > 0; {
		waited := time.Since(begin)
		if waited > leftWait {
			sig = unix.SIGKILL
		}
		if waited > leftWait+lastWait {
			return fmt.Errorf("ending what a crashed instance left: process %d (%s) does not end", left[0].PID, left[0].name())
		}
		for _, p := range left {
			if p.PID == rec.Supervisor.PID { // it hangs; otherwise it would have ended the others
				_ = unix.Kill(p.PID, unix.SIGKILL)
				continue
			}
			_ = unix.Kill(p.PID, sig)
			_ = unix.Kill(p.PID, unix.SIGCONT) // a stopped process handles SIGTERM only after SIGCONT
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("ending what a crashed instance left: %w", ctx.Err())
		}
		if left, err = f.leftovers(rec); err != nil {
			return err
		}
	}
	return removeFile(f.path(processesFile))
}
