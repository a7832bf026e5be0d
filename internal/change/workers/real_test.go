package workers

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
)

// countingRack and countingASGI are apps that answer with the number of processes that
// their master has started for requests.
const countingRack = `
run ->(e) { [200, {}, ["workers: #{File.read("/proc/#{Process.ppid}/task/#{Process.ppid}/children").split.size}"]] }
`

const countingASGI = `
import os, multiprocessing
async def app(scope, receive, send):
    n = 0
    if multiprocessing.parent_process():
        for pid in open('/proc/%d/task/%d/children' % (os.getppid(), os.getppid())).read().split():
            n += b'spawn_main' in open('/proc/%s/cmdline' % pid, 'rb').read()
    await send({'type': 'http.response.start', 'status': 200, 'headers': []})
    await send({'type': 'http.response.body', 'body': b'workers: %d' % n})
`

// TestRealServers changes and undoes the number of processes of a real unicorn and a real
// uvicorn, once in each place that decides it. Kills in between are tested with the
// servers of TestGunicornFile and the others.
func TestRealServers(t *testing.T) {
	for name, c := range map[string]struct {
		files         map[string]string
		start, env    []string
		before, after string
	}{
		"unicorn by file": {map[string]string{"config.ru": countingRack, "unicorn.rb": "worker_processes 1 # one\nlisten File.expand_path('../sock')\n"},
			[]string{"/usr/bin/unicorn", "-c", "unicorn.rb", "config.ru"}, nil, "workers: 1", "workers: 3"},
		"uvicorn by command": {map[string]string{"app.py": countingASGI},
			[]string{"/usr/bin/uvicorn", "--uds", "../sock", "--workers", "2", "app:app"}, []string{"PYTHONDONTWRITEBYTECODE=1"}, "workers: 2", "workers: 3"},
		"uvicorn by variable": {map[string]string{"app.py": countingASGI},
			[]string{"/usr/bin/uvicorn", "--uds", "../sock", "app:app"}, []string{"PYTHONDONTWRITEBYTECODE=1"}, "workers: 0", "workers: 3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := os.Stat(c.start[0]); err != nil {
				t.Fatalf("%v: scripts/setup.sh check installs it", err)
			}
			a := changetest.NewServer(t, c.files, c.start, c.env...)
			answers(t, a, c.before)
			before, err := a.State()
			if err != nil {
				t.Fatal(err)
			}
			site := a.Open(a.Dir)
			r := remedy("workers", "3")
			planned, err := change.Plan(t.Context(), site, r)
			if err != nil {
				t.Fatal(err)
			}
			planned.Remedy = &r
			perform(t, site, planned.Do)
			if err := (Kind{}).InForce(t.Context(), site, planned, false); err != nil {
				t.Error(err)
			}
			answers(t, a, c.after)
			perform(t, site, planned.Undo)
			answers(t, a, c.before)
			if after, err := a.State(); err != nil || after != before {
				t.Errorf("after the undo: %v\n%s\nbefore the change:\n%s", err, after, before)
			}
		})
	}
}

func perform(t *testing.T, site *change.Site, ops []iikanji.Op) {
	t.Helper()
	for _, op := range ops {
		if err := site.Perform(t.Context(), op); err != nil {
			t.Fatal(err)
		}
	}
}

// answers waits for an answer: a master listens before it has started all processes.
func answers(t *testing.T, a *changetest.App, want string) {
	t.Helper()
	err := errors.New("not asked")
	for end := time.Now().Add(2 * time.Minute); err != nil && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		var got string
		if got, err = a.Ask(); err == nil && got != want {
			err = fmt.Errorf("it answers %q, want %q", got, want)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}
