package nginxedit

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// TestInForceFake reads processes of a host as /proc shows them: limits that nginx was
// not allowed to set, old workers that end, a master that has no worker yet.
func TestInForceFake(t *testing.T) {
	fake := &host.Fake{Root: t.TempDir()}
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(fake.Root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	process := func(pid, parent, ticks int, title, files string) {
		write(fmt.Sprintf("proc/%d/stat", pid), fmt.Sprintf("%d (ng) inx) S %d 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %d 1 1\n", pid, parent, ticks))
		write(fmt.Sprintf("proc/%d/cmdline", pid), title+"\x00")
		write(fmt.Sprintf("proc/%d/limits", pid), "Limit                     Soft Limit           Hard Limit           Units     \nMax open files            "+files+"                "+files+"               files     \n")
	}
	write("proc/uptime", "100.00 1.00\n")
	write("conf/nginx.conf", "a")
	process(10, 1, 500, "nginx: master process nginx -p / -c conf/nginx.conf", "1024")
	process(11, 10, 10001, "nginx: worker process", "2048")
	process(12, 10, 500, "nginx: worker process is shutting down", "1024")
	process(13, 10, 500, "nginx: cache manager process", "1024")
	process(14, 1, 500, "nginx: worker process", "1024") // of another master
	site := &change.Site{Hosts: map[string]host.Host{"": fake}, Roots: []string{"/conf"},
		Services: map[string]change.Service{"web": {Config: "/conf/nginx.conf", Running: changetest.Running{PIDs: func() []int { return []int{10} }}}}}
	c := &iikanji.Change{Kind: "nginxconf", Target: "web", Do: []iikanji.Op{{Verb: iikanji.Write, Place: "/conf/nginx.conf", Body: "b"}}}
	if err := site.Perform(t.Context(), c.Do[0]); err != nil {
		t.Fatal(err)
	}
	h, err := site.On("")
	if err != nil {
		t.Fatal(err)
	}
	f := func(want Workers, says string) {
		t.Helper()
		err := running(site, h, site.Services["web"], c, want)
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %v, want %q", want, err, says)
		}
	}
	f(Workers{1, 2048}, "")
	f(Workers{}, "")
	f(Workers{2, 0}, "1 workers run, and worker_processes was set to 2")
	f(Workers{0, 4096}, "worker 11 may open 2048 files, and worker_rlimit_nofile was set to 4096")
	process(11, 10, 9999, "nginx: worker process", "2048")
	f(Workers{}, "worker 11 was started before /conf/nginx.conf was written")
	process(11, 10, 10001, "nginx: worker process is shutting down", "2048")
	f(Workers{}, "process 10 has no worker that accepts connections")
	write("conf/other.conf", "a")
	process(11, 10, 10001, "nginx: worker process", "2048")
	process(10, 1, 500, "nginx: master process nginx -c /conf/other.conf", "1024")
	f(Workers{}, "process 10 reads /conf/other.conf, and the settings are in /conf/nginx.conf")
}
