package hoststat

import (
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// TestRecorderAsksAnew checks that a service consists of the processes that it has at
// each sample, and that the earlier work of a new process is not charged to it.
func TestRecorderAsksAnew(t *testing.T) {
	var mu sync.Mutex
	asked := 0
	r, err := Record(host.Local{}, time.Now, 20*time.Millisecond, func() []Service {
		mu.Lock()
		defer mu.Unlock()
		if asked++; asked < 3 {
			return []Service{{Name: "me"}}
		}
		return []Service{{Name: "me", PIDs: []int{os.Getpid()}}}
	})
	if err != nil {
		t.Fatal(err)
	}
	for {
		mu.Lock()
		n := asked
		mu.Unlock()
		if n >= 6 {
			break
		}
		runtime.Gosched()
	}
	samples, err := r.Stop()
	if err != nil || len(samples) < 5 {
		t.Fatalf("%d samples, %v", len(samples), err)
	}
	if first, later := samples[0].Services[0], samples[4].Services[0]; first.Processes != 0 || later.Processes != 1 || later.Threads == 0 {
		t.Errorf("first %+v, later %+v", first, later)
	}
	again, _ := r.Stop()
	if len(again) != len(samples) {
		t.Error("a second Stop returns something else")
	}
}

// TestTotalsOfALifeAreNoRate checks that a process that worked long before it was
// assigned to a service is charged only for its work in the interval.
func TestTotalsOfALifeAreNoRate(t *testing.T) {
	write(t, 4<<20)
	s, err := NewSampler(host.Local{}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Sample(time.Now(), []Service{{Name: "me", PIDs: []int{os.Getpid()}}})
	if err != nil {
		t.Fatal(err)
	}
	if v := got.Services[0]; v.Written != 0 || v.Switches != 0 {
		t.Errorf("the first interval has %v bytes/s and %v switches/s of before", v.Written, v.Switches)
	}
}

// TestSwitchesOfAllThreads checks that all threads of a process count, and that ended
// threads do not decrease the count.
func TestSwitchesOfAllThreads(t *testing.T) {
	if !schedstat() {
		t.Skip("this kernel counts no turns of threads")
	}
	buf := make([]byte, 256)
	before := threadsOf("/proc", os.Getpid(), buf)
	const naps = 50
	done := make(chan struct{})
	go func() {
		runtime.LockOSThread() // never unlocked, so that the thread ends
		for range naps {
			time.Sleep(time.Millisecond) // other threads wake it
		}
		close(done)
	}()
	<-done
	if n, _ := threadsBetween(before, threadsOf("/proc", os.Getpid(), buf)); n < naps/2 {
		t.Errorf("%d turns on a core in %d naps", n, naps)
	}
	before = map[int]threadCounter{1: {900, 10}, 2: {500, 20}, 3: {5000, 1000}}
	now := map[int]threadCounter{1: {1000, 15}, 2: {70, 4}, 4: {30, 7}}
	if n, longest := threadsBetween(before, now); n != 5+4+7 || longest != 100 {
		t.Errorf("known, reused and new threads: %d turns, the longest ran %d ns; want 16, 100", n, longest)
	}
}

func TestTSVIsATable(t *testing.T) {
	samples := []Sample{
		{At: time.Unix(1, 0), User: 0.5, DiskFlushes: 3, FlushTook: 1500 * time.Microsecond, Services: []ServiceSample{{Name: "app\tx", FDs: 7, FDLimit: 1024, Switches: 12}, {Name: Other}},
			Others: []Program{{Name: "cc 1", Processes: 3, User: 0.25, System: 0.5}}},
		{At: time.Unix(2, 0)},
	}
	lines := strings.Split(strings.TrimSuffix(string(TSV(samples)), "\n"), "\n")
	if len(lines) != 1+4+1 {
		t.Fatalf("%d lines:\n%s", len(lines), strings.Join(lines, "\n"))
	}
	head := strings.Split(lines[0], "\t")
	cell := func(line int, name string) string {
		t.Helper()
		cells := strings.Split(lines[line], "\t")
		if len(cells) != len(head) {
			t.Fatalf("line %d has %d cells, the head %d", line, len(cells), len(head))
		}
		for i, h := range head {
			if h == name {
				return cells[i]
			}
		}
		t.Fatalf("there is no column %s in %q", name, lines[0])
		return ""
	}
	for _, c := range []struct {
		line       int
		name, want string
	}{
		{1, "service", "host"}, {1, "user_cores", "0.500"}, {1, "disk_flush_mean_s", "0.001500"}, {1, "descriptors", ""},
		{2, "service", "app x"}, {2, "descriptors", "7"}, {2, "descriptor_limit", "1024"}, {2, "context_switches_s", "12"}, {2, "steal_cores", ""},
		{3, "service", "other"}, {4, "service", "other/cc 1"}, {4, "user_cores", "0.250"}, {4, "system_cores", "0.500"}, {4, "processes", "3"}, {4, "rss_bytes", ""},
		{5, "time", "1970-01-01T00:00:02Z"},
	} {
		if got := cell(c.line, c.name); got != c.want {
			t.Errorf("line %d, %s: %q, want %q", c.line, c.name, got, c.want)
		}
	}
}

// BenchmarkSampleOfAServer samples a process with a thousand sockets, like an app
// under load.
func BenchmarkSampleOfAServer(b *testing.B) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	for range 500 {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		a, err := l.Accept()
		if err != nil {
			b.Fatal(err)
		}
		defer a.Close()
	}
	s, err := NewSampler(host.Local{}, time.Now())
	if err != nil {
		b.Fatal(err)
	}
	me := []Service{{Name: "me", PIDs: []int{os.Getpid()}}}
	for b.Loop() {
		if _, err := s.Sample(time.Now(), me); err != nil {
			b.Fatal(err)
		}
	}
}
