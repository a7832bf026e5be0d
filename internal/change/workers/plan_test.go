package workers

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/change/promise"
	"github.com/iikanji/iikanji/internal/machine/appserver"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// TestState: sessions in the memory of the process are refused, other state weakens
// promises, and an app without state weakens none. All plans are of one real gunicorn.
func TestState(t *testing.T) {
	a := changetest.NewServer(t, map[string]string{"app.py": wsgi}, []string{gunicorn, "-w", "1", "-b", "unix:../sock", "app:app"}, "PYTHONDONTWRITEBYTECODE=1")
	site := a.Open(a.Dir)
	plan := func(source string, args ...string) (*iikanji.Change, error) {
		if err := os.WriteFile(a.Source("more.py"), []byte(source), 0o644); err != nil {
			t.Fatal(err)
		}
		return change.Plan(t.Context(), site, remedy(args...))
	}
	c, err := plan("", "workers", "2")
	if err != nil || len(c.Weakens) != 0 {
		t.Fatalf("no state: %+v, %v", c, err)
	}
	c, err = plan("seen = {}\ndef f(k):\n    seen[k] = 1\n", "workers", "2")
	if err != nil || !slices.Equal(c.Weakens, []iikanji.Promise{iikanji.Freshness, iikanji.Behaviour}) {
		t.Errorf("values: %+v, %v", c, err)
	}
	var state *StateError
	if c, err = plan("sessions = {}\ndef f(k):\n    sessions[k] = 1\n", "workers", "2"); !errors.As(err, &state) || state.State.Kind != appserver.Sessions {
		t.Errorf("sessions: %+v, %v", c, err)
	}
	if c, err = plan("db = pymysql.connect(host='h')\n", "threads", "4"); !errors.As(err, &state) || state.State.Kind != appserver.Connection {
		t.Errorf("a shared connection: %+v, %v", c, err)
	}
	if _, err = plan("", "workers", "1"); !errors.Is(err, change.ErrNothing) {
		t.Errorf("one process again: %v", err)
	}
	if _, err = plan("", "workers", "65"); err == nil {
		t.Error("65 processes are planned")
	}
}

// TestWeakens computes promises from numbers and state.
func TestWeakens(t *testing.T) {
	for _, c := range []struct {
		of   promise.Processes
		want []iikanji.Promise
	}{
		{promise.Processes{Before: 1, After: 4, ThreadsBefore: 1, ThreadsAfter: 1}, nil},
		{promise.Processes{Before: 1, After: 4, ThreadsBefore: 1, ThreadsAfter: 1, Unknown: true}, []iikanji.Promise{iikanji.Freshness, iikanji.Behaviour}},
		{promise.Processes{Before: 2, After: 4, ThreadsBefore: 1, ThreadsAfter: 1, Values: true}, nil},
		{promise.Processes{Before: 1, After: 1, ThreadsBefore: 1, ThreadsAfter: 4}, []iikanji.Promise{iikanji.TestedOnly}},
		{promise.Processes{Before: 8, After: 4, ThreadsBefore: 1, ThreadsAfter: 1}, []iikanji.Promise{iikanji.Availability}},
	} {
		got := c.of.Weakens()
		slices.Sort(got)
		slices.Sort(c.want)
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v weakens %v, want %v", c.of, got, c.want)
		}
	}
}

// TestMemory refuses processes for which the memory does not suffice.
func TestMemory(t *testing.T) {
	tk := &task{h: host.Local{}, want: wanted{Workers: 64}, setup: &appserver.Setup{Serves: 1, Private: 1 << 40}}
	var short *MemoryError
	if err := tk.memory(); !errors.As(err, &short) || short.More != 63 {
		t.Errorf("64 processes of 1 TiB: %v", err)
	}
	tk.setup.Private = 1
	if err := tk.memory(); err != nil {
		t.Errorf("64 processes of one byte: %v", err)
	}
}

// TestNodeInOneProcess: a program without cluster has no setting.
func TestNodeInOneProcess(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "app.js"), []byte("setTimeout(() => {}, 1e6)\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := node(t, dir, "app.js")
	site := &change.Site{Roots: []string{dir}, Services: map[string]change.Service{"app": {EnvFile: filepath.Join(dir, "app.env"), Running: changetest.Running{PIDs: func() []int { return []int{cmd} }}}}}
	var none *NoPlaceError
	if c, err := change.Plan(t.Context(), site, iikanji.Remedy{Kind: "workers", Target: "app", Args: map[string]string{"workers": "2"}}); !errors.As(err, &none) || !errors.Is(err, change.ErrNoDiff) {
		t.Errorf("planned %+v, %v", c, err)
	}
}

// TestNodeCluster sizes a cluster by the variable that the program reads.
func TestNodeCluster(t *testing.T) {
	dir := t.TempDir()
	text := "const cluster = require('cluster')\nif (cluster.isPrimary) for (let i = 0; i < Number(process.env.APP_WORKERS || 2); i++) cluster.fork()\nelse setTimeout(() => {}, 1e6)\n"
	if err := os.WriteFile(filepath.Join(dir, "app.js"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	pid := node(t, dir, "app.js")
	for {
		s, err := appserver.Read(host.Local{}, pid, "", "")
		if err == nil && s.Serves == 2 && len(s.Children) == 2 {
			break
		}
		if err := t.Context().Err(); err != nil {
			t.Fatal(err)
		}
	}
	site := &change.Site{Roots: []string{dir}, Services: map[string]change.Service{"app": {EnvFile: filepath.Join(dir, "app.env"), Running: changetest.Running{PIDs: func() []int { return []int{pid} }}}}}
	c, err := change.Plan(t.Context(), site, iikanji.Remedy{Kind: "workers", Target: "app", Args: map[string]string{"workers": strconv.Itoa(3)}})
	if err != nil || len(c.Do) != 2 || c.Do[0].Body != header+"APP_WORKERS=3\n" {
		t.Errorf("planned %+v, %v", c, err)
	}
}
