package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/hoststat"
)

// A stillMachine is this machine without anything beside the runs: in its /proc no CPU time is ever
// used, and there are no processes, disks and quotas. The tests of other packages use the CPU
// at the same time; with this machine they make no run of a search void.
type stillMachine struct {
	host.Local
	proc string
}

// ProcFolder returns the folder with its /proc.
func (q stillMachine) ProcFolder() string { return q.proc }

// quietMachine makes such a machine with as many cores as this one has.
func quietMachine(t *testing.T) stillMachine {
	t.Helper()
	var stat strings.Builder
	stat.WriteString("cpu  100 0 100 1000 0 0 0 0 0 0\n")
	for n := range runtime.NumCPU() {
		fmt.Fprintf(&stat, "cpu%d 100 0 100 1000 0 0 0 0 0 0\n", n)
	}
	q := stillMachine{proc: t.TempDir()}
	if err := os.WriteFile(filepath.Join(q.proc, "stat"), []byte(stat.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return q
}

// TestQuietMachine checks the emulation itself: the guard's reader sees a machine that has its
// cores and does nothing, whatever this one does.
func TestQuietMachine(t *testing.T) {
	m := quietMachine(t)
	groups := map[string][]int{"generator": {os.Getpid()}}
	from, err := hoststat.Take(m, time.Now(), groups)
	if err != nil {
		t.Fatal(err)
	}
	to, err := hoststat.Take(m, time.Now().Add(time.Second), groups)
	if err != nil {
		t.Fatal(err)
	}
	_, env := hoststat.Between(from, to)
	if env.Used+env.Other+env.Steal+env.Throttled+env.DiskBusy > 0 || env.Swapped > 0 || from.MHz != to.MHz || to.Cores != runtime.NumCPU() {
		t.Errorf("%d cores, and it saw %+v", to.Cores, env)
	}
}
