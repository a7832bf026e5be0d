package hoststat

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
)

const (
	v1Mount = "32 31 0:29 %s /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu,cpuacct\n33 31 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
	v2Mount = "30 23 0:26 %s /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
)

// grouped makes a host with process 42 in a control group.
func grouped(t *testing.T, mounts, groups string, files map[string]string) *host.Fake {
	t.Helper()
	h := &host.Fake{Root: t.TempDir(), Host: "other"}
	all := map[string]string{"/proc/42/cgroup": groups, "/proc/42/mountinfo": mounts, "/proc/stat": "cpu  1 0 1 1 0 0 0 0 0 0\ncpu0 1 0 1 1 0 0 0 0 0 0\n"}
	for name, text := range files {
		all["/sys/fs/cgroup/"+name] = text
	}
	for name, text := range all {
		path := filepath.Join(h.Root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// TestQuota reads the throttling of control groups of both versions.
func TestQuota(t *testing.T) {
	const stat1, stat2 = "nr_periods 9\nnr_throttled 5\nthrottled_time %d\n", "usage_usec 5\nnr_throttled 5\nthrottled_usec %d\n"
	for _, c := range []struct {
		name      string
		mounts    string
		groups    string
		files     map[string]string
		cores     float64
		throttled time.Duration
	}{
		{"no quota", fmt.Sprintf(v1Mount, "/"), "1:cpu,cpuacct:/\n", map[string]string{"cpu/cpu.stat": fmt.Sprintf(stat1, 0), "cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, 0, 0},
		{"version 1", fmt.Sprintf(v1Mount, "/"), "2:memory:/x\n1:cpu,cpuacct:/job\n", map[string]string{"cpu/job/cpu.stat": fmt.Sprintf(stat1, int64(3e9)), "cpu/job/cpu.cfs_quota_us": "150000\n", "cpu/job/cpu.cfs_period_us": "100000\n"}, 1.5, 3 * time.Second},
		{"version 1 in a container", fmt.Sprintf(v1Mount, "/docker/abc"), "1:cpu,cpuacct:/docker/abc\n", map[string]string{"cpu/cpu.stat": fmt.Sprintf(stat1, int64(2e9)), "cpu/cpu.cfs_quota_us": "50000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 0.5, 2 * time.Second},
		{"version 2", fmt.Sprintf(v2Mount, "/"), "0::/user.slice/job\n", map[string]string{"user.slice/job/cpu.stat": fmt.Sprintf(stat2, 4000000), "user.slice/job/cpu.max": "200000 100000\n", "cpu.stat": "usage_usec 5\n"}, 2, 4 * time.Second},
		{"version 2, the group above has the quota", fmt.Sprintf(v2Mount, "/"), "0::/pod/job\n", map[string]string{
			"pod/job/cpu.stat": fmt.Sprintf(stat2, 0), "pod/job/cpu.max": "max 100000\n", "pod/cpu.stat": fmt.Sprintf(stat2, 7000000), "pod/cpu.max": "100000 100000\n"}, 1, 7 * time.Second},
		{"version 2 in a namespace of its own", fmt.Sprintf(v2Mount, "/"), "0::/\n", map[string]string{"cpu.stat": fmt.Sprintf(stat2, 1000000), "cpu.max": "25000 100000\n"}, 0.25, time.Second},
		{"both versions are mounted, the controller is in version 1", fmt.Sprintf(v1Mount, "/") + "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n", "1:cpu,cpuacct:/job\n0::/\n",
			map[string]string{"cpu/job/cpu.stat": fmt.Sprintf(stat1, int64(6e9)), "cpu/job/cpu.cfs_quota_us": "100000\n", "cpu/job/cpu.cfs_period_us": "100000\n", "unified/cpu.stat": "usage_usec 5\n"}, 1, 6 * time.Second},
		{"outside of the view", fmt.Sprintf(v2Mount, "/"), "0::/../other\n", map[string]string{"cpu.stat": fmt.Sprintf(stat2, 1000000)}, 0, 0},
		{"nothing mounted", "", "0::/\n", nil, 0, 0},
	} {
		h := grouped(t, c.mounts, c.groups, c.files)
		fs, _, err := procOf(h)
		if err != nil {
			t.Fatal(err)
		}
		to := readQuotas(h, fs, []int{42, 43}) // 43 does not exist
		from := map[string]Quota{}
		for dir := range to {
			from[dir] = Quota{}
		}
		if throttled, cores := throttledBetween(from, to); cores != c.cores || throttled != c.throttled {
			t.Errorf("%s: %v cores, throttled %v, want %v and %v (%+v)", c.name, cores, throttled, c.cores, c.throttled, to)
		}
		if throttled, _ := throttledBetween(nil, to); throttled != 0 {
			t.Errorf("%s: %v before the group was known", c.name, throttled)
		}
	}
}

// TestAutogroup checks when nice values weigh only within a session.
func TestAutogroup(t *testing.T) {
	for _, c := range []struct {
		name    string
		enabled string
		groups  string
		files   map[string]string
		want    bool
	}{
		{"on", "1\n", "1:cpu:/\n0::/\n", nil, true},
		{"off", "0\n", "1:cpu:/\n", nil, false},
		{"a group of version 1", "1\n", "1:cpu:/job\n", nil, false},
		{"a group of version 2 without the controller", "1\n", "0::/user.slice\n", nil, true},
		{"a group of version 2 with a weight", "1\n", "0::/user.slice\n", map[string]string{"user.slice/cpu.weight": "100\n"}, false},
	} {
		h := grouped(t, fmt.Sprintf(v2Mount, "/"), c.groups, c.files)
		path := filepath.Join(h.Root, "proc/sys/kernel/sched_autogroup_enabled")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(c.enabled), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := Autogroup(h, 42); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestRealQuota throttles a busy process by a control group of this machine. It
// needs the right to make one.
func TestRealQuota(t *testing.T) {
	dir, quota := "/sys/fs/cgroup/cpu/iikanji-test-"+fmt.Sprint(os.Getpid()), map[string]string{"cpu.cfs_quota_us": "20000"}
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.controllers"); err == nil {
		dir, quota = "/sys/fs/cgroup/iikanji-test-"+fmt.Sprint(os.Getpid()), map[string]string{"cpu.max": "20000 100000"}
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Skipf("no control group can be made here: %v", err)
	}
	t.Cleanup(func() {
		for end := time.Now().Add(time.Minute); os.Remove(dir) != nil && time.Now().Before(end); { // busy until the process is gone
			time.Sleep(10 * time.Millisecond)
		}
	})
	for name, value := range quota {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(value), 0o644); err != nil {
			t.Skipf("no quota can be set here: %v", err)
		}
	}
	busy := exec.CommandContext(t.Context(), "/bin/sh", "-c", "read go; while :; do :; done")
	in, err := busy.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := busy.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = busy.Process.Kill(); _ = busy.Wait() })
	if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), fmt.Append(nil, busy.Process.Pid), 0o644); err != nil {
		t.Fatal(err)
	}
	take := func() *Reading {
		r, err := Take(host.Local{}, time.Now(), map[string][]int{"busy": {busy.Process.Pid}})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	from := take()
	if _, err := fmt.Fprintln(in, "go"); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		_, env := Between(from, take())
		if env.Quota != 0.2 {
			t.Fatalf("a quota of %v cores, want 0.2", env.Quota)
		}
		if env.Throttled > 0 && env.Used > 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("never throttled: %+v", env)
		}
	}
}
