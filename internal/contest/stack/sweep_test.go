package stack

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/machine/process"
	"golang.org/x/sys/unix"
)

// TestSweepFolder kills the parent, the supervisor and nginx's master at once, as in
// the middle of a build. Sweep ends the rest without starting anything.
func TestSweepFolder(t *testing.T) {
	dir := shared(t)
	cmd, r := another(t, dir, nil)
	var busy *BusyError
	if err := Sweep(t.Context(), complete(t, tiny()), dir, func(string) {}); !errors.As(err, &busy) {
		t.Errorf("a stack that is up: %v", err)
	}
	workers := process.Descendants(r.Groups[nginx][0])
	supervisor := stopSupervisor(t, r)
	must(t, unix.Kill(r.Groups[nginx][0], unix.SIGKILL))
	must(t, unix.Kill(supervisor, unix.SIGKILL))
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	litter := filepath.Join(dir, binDir, "go-build123", "b001")
	must(t, os.MkdirAll(litter, 0o755))
	must(t, Sweep(t.Context(), complete(t, tiny()), dir, func(string) {}))
	for _, w := range workers {
		if w.Alive() {
			t.Errorf("nginx's worker %d is left", w.PID)
		}
	}
	nothingRuns(t, dir)
	if _, err := os.Stat(filepath.Dir(litter)); !os.IsNotExist(err) {
		t.Errorf("a build's folder is left: %v", err)
	}
	must(t, Sweep(t.Context(), complete(t, tiny()), dir, func(string) {}))
	must(t, Sweep(t.Context(), complete(t, tiny()), filepath.Join(dir, "no such folder"), func(string) {}))
}

// TestStoppedSupervisor: a supervisor that is stopped (SIGSTOP) while its parent
// is killed is continued, and ends its services itself.
func TestStoppedSupervisor(t *testing.T) {
	dir := shared(t)
	cmd, r := another(t, dir, nil)
	stopSupervisor(t, r)
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	began := time.Now()
	must(t, Sweep(t.Context(), complete(t, tiny()), dir, func(string) {}))
	if took := time.Since(began); took >= crashMargin {
		t.Errorf("it took %s", took)
	}
	nothingRuns(t, dir)
}

// complete returns an arena with the defaults of its engines.
func complete(t *testing.T, a *arena.Arena) *arena.Arena {
	t.Helper()
	full, err := a.Complete()
	must(t, err)
	return full
}
