package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/hoststat"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// A stealing is this machine with a hypervisor that takes 0 to mostSteal of the CPU
// time, another share in each block of time. Only the counter of /proc/stat shows
// it: the CPU itself is not taken.
type stealing struct {
	host.Local
	dir   string // for its copies of /proc
	began time.Time
}

const (
	mostSteal  = 0.15
	stealBlock = 3 * time.Second
)

// ProcFolder returns a copy of /proc by links, with a stat of its own. It is made
// anew for each call, because processes come and go.
func (s *stealing) ProcFolder() string {
	dir, err := os.MkdirTemp(s.dir, "proc-")
	if err != nil {
		panic(err)
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		panic(err)
	}
	for _, e := range entries {
		if e.Name() == "stat" {
			continue
		}
		if err := os.Symlink(filepath.Join("/proc", e.Name()), filepath.Join(dir, e.Name())); err != nil {
			panic(err)
		}
	}
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		panic(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "stat"), s.stolen(string(b)), 0o644); err != nil {
		panic(err)
	}
	return dir
}

// stolen adds the steal since the begin to every line of a CPU. The line of all
// CPUs gets the sum.
func (s *stealing) stolen(stat string) []byte {
	each := int(s.taken(time.Since(s.began)) / (time.Second / 100))
	cores := strings.Count(stat, "\ncpu")
	var out strings.Builder
	for line := range strings.Lines(stat) {
		f := strings.Fields(line)
		if len(f) > 8 && strings.HasPrefix(f[0], "cpu") {
			n := each
			if f[0] == "cpu" {
				n *= cores
			}
			f[8] = fmt.Sprint(n)
			line = strings.Join(f, " ") + "\n"
		}
		out.WriteString(line)
	}
	return []byte(out.String())
}

// taken is the time that was taken of one core.
func (s *stealing) taken(d time.Duration) (sum time.Duration) {
	for i := range uint64(d/stealBlock) + 1 {
		share := mostSteal * rand.New(rand.NewPCG(1, i)).Float64()
		sum += time.Duration(share * float64(min(stealBlock, d-time.Duration(i)*stealBlock)))
	}
	return sum
}

// TestStealing checks the emulation itself: the guard's reader sees what it takes.
func TestStealing(t *testing.T) {
	tier.Slow(t)
	m := &stealing{dir: t.TempDir(), began: time.Now().Add(-time.Hour)}
	from, err := hoststat.Take(m, time.Now(), nil)
	if err != nil {
		t.Fatal(err)
	}
	m.began = m.began.Add(-time.Minute)
	to, err := hoststat.Take(m, time.Now().Add(time.Minute), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, env := hoststat.Between(from, to); env.Steal < 0.04 || env.Steal > 0.11 {
		t.Errorf("steal of %.3f in a minute, want about %.3f", env.Steal, mostSteal/2)
	}
}
