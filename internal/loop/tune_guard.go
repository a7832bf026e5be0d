package loop

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/hoststat"
	"github.com/iikanji/iikanji/internal/scenario"
)

// Limits beyond which a run proves nothing about a change: they are the size
// of the effects that runs are compared for.
const (
	stealLimit = 0.02 // of the CPU time of all cores
	otherLimit = 0.10 // of the machine, by programs that are no part of the run
	swapLimit  = 256  // pages swapped in or out during the load
	diskLeast  = 512 << 20
)

// A Guard watches what is around a run: it reads the host's counters where the
// load begins and where it ends.
type Guard struct {
	Now    func() time.Time
	Groups func() map[string][]int // root processes of each service
	Dir    string                  // of the data, for the disk's free space

	from  *hoststat.Reading
	swap  int64
	Usage []iikanji.Usage // who used the CPU during the load
	// Void is why the run proves nothing; "" when it may be believed.
	Void string
	// Err is why the guard saw nothing.
	Err error
}

// Phase is called by the engine at the begin and end of each phase.
func (g *Guard) Phase(p scenario.Phase, begins bool) {
	if p != scenario.Load {
		return
	}
	groups := map[string][]int{"generator": {os.Getpid()}}
	for name, pids := range g.Groups() {
		groups[name] = pids
	}
	r, err := hoststat.Take(g.Now(), groups)
	if err != nil {
		g.Err = fmt.Errorf("watching what is around the run: %w", err)
		return
	}
	if begins {
		g.from, g.swap = r, swapped()
		return
	}
	if g.from != nil {
		g.judge(r)
	}
}

// judge names the first thing that disturbed the load.
func (g *Guard) judge(r *hoststat.Reading) {
	var steal float64
	g.Usage, steal = hoststat.Between(g.from, r)
	i := slices.IndexFunc(g.Usage, func(u iikanji.Usage) bool { return u.Who == hoststat.Other })
	switch free, known := freeSpace(g.Dir); {
	case steal >= stealLimit:
		g.Void = fmt.Sprintf("the hypervisor took %.1f %% of the CPU (steal)", 100*steal)
	case i >= 0 && g.Usage[i].Share >= otherLimit:
		g.Void = fmt.Sprintf("other programs used %.0f %% of the machine's CPU%s", 100*g.Usage[i].Share, named(busyTimers()))
	case swapped()-g.swap > swapLimit:
		g.Void = fmt.Sprintf("the machine swapped %d pages", swapped()-g.swap)
	case known && free < diskLeast:
		g.Void = fmt.Sprintf("the disk of %s is nearly full: %s left", g.Dir, iikanji.Bytes(free))
	}
}

func named(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " (" + strings.Join(names, ", ") + " is at work)"
}

// timers are programs that a system starts by itself, by the kernel's short name.
var timers = []string{"apt-get", "apt", "apt.systemd.dai", "unattended-upgr", "dpkg", "packagekitd", "updatedb", "updatedb.mlocat", "mandb", "fstrim", "logrotate", "snapd"}

// busyTimers lists those of them that run now.
func busyTimers() []string {
	var found []string
	paths, _ := filepath.Glob("/proc/[0-9]*/comm") // the pattern is well formed
	for _, p := range paths {
		b, err := os.ReadFile(p)
		name := string(bytes.TrimSpace(b))
		if err == nil && slices.Contains(timers, name) && !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	return found
}

// swapped counts the pages that were swapped in and out since boot; 0 where
// the kernel does not tell.
func swapped() int64 {
	b, err := os.ReadFile("/proc/vmstat")
	if err != nil {
		return 0
	}
	var sum int64
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) == 2 && (f[0] == "pswpin" || f[0] == "pswpout") {
			n, _ := strconv.ParseInt(f[1], 10, 64) // the kernel writes numbers
			sum += n
		}
	}
	return sum
}

func freeSpace(dir string) (int64, bool) {
	var st unix.Statfs_t
	if dir == "" || unix.Statfs(dir, &st) != nil {
		return 0, false
	}
	return int64(st.Bavail) * st.Bsize, true
}
