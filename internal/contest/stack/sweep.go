package stack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/hostproc"
	"github.com/iikanji/iikanji/internal/machine/process"
)

// Sweep ends the processes that a crashed instance left in a work folder and
// removes the temporary folders of its builds. It waits for a supervisor that is
// still stopping its services. A folder that does not exist has nothing to sweep.
// The error is a *BusyError if the stack is up.
func Sweep(ctx context.Context, a *arena.Arena, dir string, progress func(string)) error {
	real, err := filepath.EvalSymlinks(dir)
	if err == nil {
		_, err = os.Stat(filepath.Join(real, lockFile))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return fmt.Errorf("sweeping the work folder: %w", err)
	}
	f := folder{root: real, as: serviceAccount()}
	lock, err := f.lock(ctx, stopTime(a.Services), progress)
	if err != nil {
		return err
	}
	return errors.Join(f.cleanUp(ctx, progress), unix.Flock(int(lock.Fd()), unix.LOCK_UN), lock.Close())
}

// clearBuilds removes the temporary folders of builds that were killed, which the
// go command makes below GOTMPDIR. See buildEnv.
func (f folder) clearBuilds() error {
	left, _ := filepath.Glob(f.path(binDir, "go-build*")) // the pattern is well formed
	var err error
	for _, path := range left {
		err = errors.Join(err, os.RemoveAll(path))
	}
	return err
}

// wake continues the recorded supervisor if it is stopped. It can only end its
// services, and release its lock, while it runs.
func (f folder) wake() {
	rec, ok, err := readRecord(f.path(processesFile))
	if err != nil || !ok || rec.Boot != process.Boot() {
		return
	}
	now, err := hostproc.ReadStat(host.Local{}, rec.Supervisor.PID)
	if err == nil && now.Started == rec.Supervisor.Start && (now.State == 'T' || now.State == 't') {
		_ = rec.Supervisor.Signal(unix.SIGCONT)
	}
}
