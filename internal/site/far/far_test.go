package far_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/machine/clock"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/hostproc"
	"github.com/iikanji/iikanji/internal/machine/hoststat"
	"github.com/iikanji/iikanji/internal/machine/peer"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/site/far"
)

// late is by how much the clock of the far end is ahead.
const late = 1700 * time.Millisecond

// thisThere is this machine as another one: behind a stream, with a clock that is ahead.
func thisThere(t *testing.T) *peer.Peer {
	t.Helper()
	near, there := net.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- peer.Serve(context.Background(), there, host.Local{}, peer.Options{Tasks: far.Tasks(func() time.Time { return time.Now().Add(late) })})
	}()
	p, err := peer.Connect(t.Context(), near, peer.Setup{Name: "far", Folders: []string{"/"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return p
}

// TestNames: the tasks of a program have names of their own.
func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, task := range far.Tasks(time.Now) {
		if seen[task.Called()] {
			t.Errorf("two tasks are called %q", task.Called())
		}
		seen[task.Called()] = true
	}
}

// TestSame: what is asked of this machine through a stream has the answers of this machine.
func TestSame(t *testing.T) {
	p, here := thisThere(t), host.Local{}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	child := exec.Command("sleep", "60")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer child.Process.Kill()
	me := os.Getpid()

	for _, h := range []host.Host{p, here} {
		list, err := hoststat.Listening(h)
		if err != nil || !slices.ContainsFunc(list, func(s hoststat.Socket) bool { return s.Local.String() == listener.Addr().String() && s.Backlog > 0 }) {
			t.Errorf("%q: the listener is not among %d, %v", h.Name(), len(list), err)
		}
		m, err := process.ReadMachine(h)
		if err != nil {
			t.Fatal(err)
		}
		if own := m.Owner(listener.Addr().String()); own == nil || own.PID != me || m.Host != h {
			t.Errorf("%q: the owner is %+v", h.Name(), own)
		}
		one, err := process.ReadProcess(h, child.Process.Pid)
		if err != nil || one.Parent != me || one.Command() != "sleep 60" || !one.Alive(h) {
			t.Errorf("%q: %+v, %v", h.Name(), one, err)
		}
		if of := process.ChildrenOn(h, me); !slices.Contains(of, one.ID()) {
			t.Errorf("%q: the children %v", h.Name(), of)
		}
		if all, err := hostproc.Stats(h); err != nil || !slices.ContainsFunc(all, func(s hostproc.Stat) bool { return s.PID == me }) {
			t.Errorf("%q: this process is not among %d, %v", h.Name(), len(all), err)
		}
		if machine := hoststat.Machine(h, "x"); machine.Memory == 0 || machine.Cores == 0 || machine.Program != "x" {
			t.Errorf("%q: %+v", h.Name(), machine)
		}
		if owners, err := hoststat.Owners(h, map[string][]int{"us": {me}}); err != nil || len(owners) == 0 {
			t.Errorf("%q: owners %v, %v", h.Name(), owners, err)
		}
	}
	if _, err := process.ReadProcess(p, 1<<30); err == nil {
		t.Error("a process that does not exist was read")
	}
}

// TestEnd ends a process through a stream, and hears of its end.
func TestEnd(t *testing.T) {
	p := thisThere(t)
	child := exec.Command("sleep", "60")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	reaped := make(chan error, 1)
	go func() { reaped <- child.Wait() }()
	ended := make(chan error, 1)
	go func() { ended <- process.AwaitEndOn(context.Background(), p, child.Process.Pid) }()
	one, err := process.ReadProcess(p, child.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := process.EndOn(t.Context(), p, process.End{ID: one.ID()}); err != nil {
		t.Fatal(err)
	}
	<-reaped
	if err := <-ended; err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { ended <- process.AwaitEndOn(ctx, p, os.Getpid()) }()
	cancel()
	if err := <-ended; err == nil {
		t.Error("a wait that was given up has no error")
	}
}

// TestSamples has the far end sample a process, which is exchanged for another one.
func TestSamples(t *testing.T) {
	p := thisThere(t)
	var samples []hoststat.Sample
	for wait := 450 * time.Millisecond; len(samples) == 0; wait *= 2 { // a busy machine is late with the first one
		r, err := hoststat.Record(p, time.Now, 100*time.Millisecond, func() []hoststat.Service {
			return []hoststat.Service{{Name: "us", PIDs: []int{os.Getpid()}}}
		})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(wait)
		if samples, err = r.Stop(); err != nil || len(samples) == 0 && wait > 10*time.Second {
			t.Fatalf("%d samples in %v, %v", len(samples), wait, err)
		}
	}
	if s := samples[0]; s.Cores == 0 || len(s.Services) != 2 || s.Services[0].Name != "us" || s.Services[0].RSS == 0 {
		t.Errorf("%+v", s)
	}
	from, err := hoststat.Take(p, time.Now(), map[string][]int{"us": {os.Getpid()}})
	if err != nil {
		t.Fatal(err)
	}
	to, err := hoststat.Take(p, time.Now(), map[string][]int{"us": {os.Getpid()}})
	if err != nil {
		t.Fatal(err)
	}
	if usage, _ := hoststat.Between(from, to); len(usage) != 2 || usage[0].PeakRS == 0 {
		t.Errorf("%+v", usage)
	}
}

// TestClock finds a clock that is ahead.
func TestClock(t *testing.T) {
	got, err := clock.Read(t.Context(), thisThere(t), time.Now)
	if err != nil || got.Trip <= 0 || got.At.IsZero() {
		t.Fatalf("%+v, %v", got, err)
	}
	if off := (got.Offset - late).Abs(); off > got.Within()+time.Millisecond {
		t.Errorf("the offset is %v, ± %v, want %v", got.Offset, got.Within(), late)
	}
	if _, err := clock.Read(t.Context(), host.Down{Host: "far", Err: os.ErrDeadlineExceeded}, time.Now); err == nil {
		t.Error("a machine that is down has a clock")
	}
}
