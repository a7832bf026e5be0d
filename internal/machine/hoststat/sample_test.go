package hoststat

import (
	"cmp"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// TestSampleSeesThisProcess makes this process use CPU, write to disk and open
// sockets, and checks each in its service's sample.
func TestSampleSeesThisProcess(t *testing.T) {
	began := time.Now()
	s, err := NewSampler(host.Local{}, began)
	if err != nil {
		t.Fatal(err)
	}
	me := []Service{{Name: "me", PIDs: []int{os.Getpid()}}, {Name: "gone", PIDs: []int{1 << 30}}}
	if _, err := s.Sample(time.Now(), me); err != nil { // the process is known from now on
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	write(t, 2<<20)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	burn(t, 200*time.Millisecond)
	got, err := s.Sample(time.Now(), me)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Services) != 3 || got.Services[0].Name != "me" || got.Services[2].Name != "other" {
		t.Fatalf("services: %+v", got.Services)
	}
	sv := got.Services[0]
	used := (sv.User + sv.System) * got.Over.Seconds()
	if used < 0.15 {
		t.Errorf("a busy loop of 0.2 s shows as %.2f s", used)
	}
	if thread := sv.Busiest * got.Over.Seconds(); schedstat() && (thread < 0.15 || thread > used+0.1) {
		t.Errorf("the thread of the loop shows as %.2f s, its process as %.2f s", thread, used)
	}
	if sv.Sockets < 1 || sv.FDs < 3 || sv.FDLimit < int64(sv.FDs) || sv.RSS < 1<<20 || sv.Threads < 1 {
		t.Errorf("levels of this process: %+v", sv)
	}
	if wrote := sv.Written * got.Over.Seconds(); wrote < 1<<20 && onDisk(t) {
		t.Errorf("2 MiB written show as %.0f bytes", wrote)
	}
	if got.Services[1].Processes != 0 {
		t.Errorf("a service without processes: %+v", got.Services[1])
	}
	if got.Cores < 1 || got.MemTotal < got.MemAvailable || got.MemAvailable <= 0 || got.User <= 0 || got.Switches <= 0 {
		t.Errorf("host: %+v", got)
	}
	if total := got.User + got.System + got.IOWait + got.Idle + got.Steal; total < 0.5*float64(got.Cores) || total > 1.5*float64(got.Cores) {
		t.Errorf("the shares of %d cores add up to %.2f", got.Cores, total)
	}
	if _, err := json.Marshal(got); err != nil {
		t.Error(err)
	}
}

// TestOthersHaveNames checks that a working program that belongs to no service is
// listed by name, with its usage.
func TestOthersHaveNames(t *testing.T) {
	comm, err := os.ReadFile("/proc/self/comm")
	if err != nil {
		t.Fatal(err)
	}
	me := strings.TrimSpace(string(comm))
	s, err := NewSampler(host.Local{}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	var got *Sample
	for range 30 { // other programs may work, too, but five of them will not use more than a busy loop in every interval
		burn(t, 50*time.Millisecond)
		if got, err = s.Sample(time.Now(), nil); err != nil {
			t.Fatal(err)
		}
		if len(got.Others) > mostOthers || !slices.IsSortedFunc(got.Others, func(a, b Program) int { return cmp.Compare(b.User+b.System, a.User+a.System) }) {
			t.Fatalf("not the heaviest: %+v", got.Others)
		}
		if i := slices.IndexFunc(got.Others, func(g Program) bool { return g.Name == me }); i >= 0 {
			if g := got.Others[i]; (g.User+g.System)*got.Over.Seconds() < 0.03 {
				t.Errorf("a loop of 0.05 s shows as %+v", g)
			}
			return
		}
	}
	t.Errorf("%s is not among %+v", me, got.Others)
}

// burn works until this process has used this much more CPU time.
func burn(t *testing.T, d time.Duration) {
	t.Helper()
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			t.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	for until := used() + d; used() < until; {
	}
}

// schedstat reports whether this kernel counts the core time of threads.
func schedstat() bool {
	_, err := os.Stat("/proc/self/schedstat")
	return err == nil
}

// write syncs n bytes to a file, so that they are charged to this process.
func write(t *testing.T, n int) {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "bytes"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(make([]byte, n)); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
}

// onDisk reports whether writes to the temporary folder are charged to the process;
// on memory file systems they are not.
func onDisk(t *testing.T) bool {
	t.Helper()
	before, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return false
	}
	write(t, 1<<20)
	after, err := os.ReadFile("/proc/self/io")
	return err == nil && field(before, "write_bytes: ") != field(after, "write_bytes: ")
}

func field(data []byte, name string) string {
	s := string(data)
	for i := range s {
		if len(s)-i > len(name) && s[i:i+len(name)] == name && (i == 0 || s[i-1] == '\n') {
			rest := s[i+len(name):]
			for j := range rest {
				if rest[j] == '\n' {
					return rest[:j]
				}
			}
		}
	}
	return ""
}

func BenchmarkSample(b *testing.B) {
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
