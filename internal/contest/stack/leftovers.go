package stack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/hostproc"
	"github.com/iikanji/iikanji/internal/machine/process"
)

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
func (f folder) leftovers(rec process.Record) ([]process.ID, error) {
	if rec.Boot != process.Boot() || rec.Supervisor.PID == 0 {
		return nil, nil
	}
	recorded := map[process.ID]bool{rec.Supervisor: true}
	for _, record := range []map[string]process.ID{rec.Services, rec.Jobs} {
		for _, id := range record {
			recorded[id] = true
		}
	}
	all, err := hostproc.Stats(host.Local{})
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	var left []process.ID
	for _, p := range all {
		if p.Started < rec.Supervisor.Start || p.Ended() {
			continue
		}
		id := process.ID{PID: p.PID, Start: p.Started}
		if recorded[id] || p.Session == rec.Supervisor.PID && within(p.PID, f.root) || marked(p.PID, rec.Mark()) {
			left = append(left, id)
		}
	}
	return left, nil
}

// leftWait is how long leftover processes may take to end after SIGTERM. A
// database flushes its pages in this time.
const leftWait = 15 * time.Second

// readRecord reads the record of the supervisor. ok is false if there is none.
func readRecord(path string) (rec process.Record, ok bool, err error) {
	b, err := host.Local{}.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return rec, false, nil
	}
	if err == nil {
		// A record is written atomically, so a file that is not JSON is not ours.
		err = json.Unmarshal(b, &rec)
	}
	if err != nil {
		return rec, false, fmt.Errorf("reading %s: %w", path, err)
	}
	return rec, true, nil
}

// cleanUp ends the leftover processes of a crashed instance and removes its record.
func (f folder) cleanUp(ctx context.Context, progress func(string)) error {
	if err := f.clearBuilds(); err != nil {
		return err
	}
	rec, ok, err := readRecord(f.path(processesFile))
	if err != nil || !ok {
		return err
	}
	left, err := f.leftovers(rec)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		progress(fmt.Sprintf("ending %d processes that a crashed instance left", len(left)))
	}
	if slices.Contains(left, rec.Supervisor) { // it hangs; otherwise it would have ended the others
		err = rec.Supervisor.Signal(unix.SIGKILL)
	}
	if err == nil {
		steps := []process.Step{{Signal: unix.SIGTERM, Wait: leftWait}}
		err = process.EndAll(context.WithoutCancel(ctx), steps, func() ([]process.ID, error) {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return f.leftovers(rec)
		})
	}
	if err != nil {
		return fmt.Errorf("ending what a crashed instance left: %w", err)
	}
	return removeFile(f.path(processesFile))
}
