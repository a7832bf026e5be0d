package live

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/appserver"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/history"
	"github.com/iikanji/iikanji/internal/host"
	"github.com/iikanji/iikanji/internal/target"
	"github.com/iikanji/iikanji/internal/target/discover"
	"github.com/iikanji/iikanji/internal/target/machine"
)

// boxOffice starts the site of fixtures/boxoffice with little data and returns its
// folder, its URL, and that of its source.
func boxOffice(t *testing.T, ctx context.Context) (dir, url, source string) {
	t.Helper()
	source, err := filepath.Abs("../../../fixtures/boxoffice")
	if err != nil {
		t.Fatal(err)
	}
	if dir, err = os.MkdirTemp("", "box"); err != nil { // short, because of the socket in it
		t.Fatal(err)
	}
	port := fourPorts(t)
	t.Cleanup(func() {
		if out, err := exec.Command("sh", filepath.Join(source, "stop.sh"), dir).CombinedOutput(); err != nil {
			t.Errorf("stopping: %v\n%s", err, out)
		}
		// A restart writes the new process id where the site's own tools look for it.
		if m, err := machine.Read(host.Local{}); err != nil {
			t.Error(err)
		} else {
			for _, p := range m.Processes {
				if strings.Contains(p.Command(), dir) {
					t.Errorf("still there after stop.sh: %s", p.Command())
				}
			}
		}
		os.RemoveAll(dir)
	})
	start := exec.CommandContext(ctx, "sh", filepath.Join(source, "start.sh"), dir)
	start.Env = append(os.Environ(), "PATH="+os.Getenv("PATH")+":/usr/sbin:/sbin", "BOX_SCALE=0.01", "BOX_PORT="+strconv.Itoa(port))
	if out, err := start.CombinedOutput(); err != nil {
		t.Fatalf("start.sh: %v\n%s", err, out)
	}
	return dir, "http://127.0.0.1:" + strconv.Itoa(port), source
}

// fourPorts is the first of four ports that nothing listens at.
func fourPorts(t *testing.T) int {
	t.Helper()
	for range 50 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		first := l.Addr().(*net.TCPAddr).Port
		free := first+3 < 1<<16
		for n := 1; n < 4 && free; n++ {
			next, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(first+n))
			if free = err == nil; free {
				next.Close()
			}
		}
		l.Close()
		if free {
			return first
		}
	}
	t.Fatal("no four ports in a row are free")
	return 0
}

// TestBoxOffice: init finds the gunicorn of a site in Python with its configuration file;
// its processes are set, counted in the restarted site, and undone to the byte. The
// site's own benchmarker passes with both.
func TestBoxOffice(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	dir, url, source := boxOffice(t, ctx)
	found, err := discover.Ask(ctx, host.Local{}, discover.Options{URL: url, Self: os.Getpid()})
	if err != nil {
		t.Fatal(err)
	}
	f, err := target.Parse(filepath.Join(dir, target.Name), []byte(found.Text()))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(f.Services, func(s target.Service) bool { return s.Role == iikanji.RoleApp && s.Listen != "" })
	config := filepath.Join(dir, "gunicorn.conf.py")
	if i < 0 || f.Services[i].Engine != iikanji.EnginePython || f.Services[i].Config != config || f.Services[i].App.Source != filepath.Join(source, "app") {
		t.Fatalf("init found %+v", f.Services)
	}
	name := f.Services[i].Name
	s, err := Open(ctx, Options{File: f, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	before, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	serves := func(want int) {
		t.Helper()
		var is *appserver.Setup
		for end := time.Now().Add(2 * time.Minute); is == nil || is.Serves != want; time.Sleep(20 * time.Millisecond) {
			if is, err = appserver.Read(host.Local{}, s.Groups()[name][0], config, ""); err != nil || time.Now().After(end) {
				t.Fatalf("%+v, %v; want %d processes", is, err, want)
			}
		}
		out, err := exec.CommandContext(ctx, filepath.Join(source, "bench.py"), url, "1").Output()
		var result struct{ Pass bool }
		if err != nil || json.Unmarshal(out, &result) != nil || !result.Pass {
			t.Errorf("the benchmarker with %d processes: %v, %s", want, err, out)
		}
	}
	serves(1)
	x, id := planned(t, ctx, s, iikanji.Remedy{Kind: "workers", Target: name, Args: map[string]string{"workers": "2"}})
	if err := x.Apply(ctx, id); err != nil {
		t.Fatal(err)
	}
	serves(2)
	if err := x.Revert(ctx, id, "test"); err != nil {
		t.Fatal(err)
	}
	serves(1)
	if after, err := os.ReadFile(config); err != nil || string(after) != string(before) {
		t.Errorf("the configuration after the undo: %q, %v", after, err)
	}
}

// planned plans a change into a history of its own.
func planned(t *testing.T, ctx context.Context, s *Subject, r iikanji.Remedy) (*change.Executor, iikanji.ChangeID) {
	t.Helper()
	h, err := history.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	c, err := change.Plan(ctx, s.Site(), r)
	if err == nil {
		err = h.AddChange(c, change.Diff(c))
	}
	if err != nil {
		t.Fatal(err)
	}
	// The app keeps a memo of the names of cities only.
	if len(c.Weakens) > 0 {
		t.Errorf("it weakens %v", c.Weakens)
	}
	return &change.Executor{Hands: s.Site(), Journal: h}, c.ID
}
