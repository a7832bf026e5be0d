package lab

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Limits are what a machine gets of this one.
type Limits struct {
	// CPU is its share, in cores; 0 for no limit. The kernel gives it in periods of 10 ms: with
	// the usual 100 ms a server that has used its share would not answer for that long.
	CPU float64
	// Memory is in bytes, without swap; 0 for no limit.
	Memory int64
	// Cores are those it may run on, as taskset lists them; "" for all.
	Cores string
}

// period is that of the limit of CPU, in microseconds.
const period = 10000

// controllers finds where the groups of CPU and memory are: one folder each with cgroup v1,
// none with v2, where the machine's own group has both.
func controllers() (map[string]string, error) {
	f, err := os.Open("/proc/self/cgroup")
	if err != nil {
		return nil, fmt.Errorf("finding the control groups: %w", err)
	}
	defer f.Close()
	out := map[string]string{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		parts := strings.SplitN(lines.Text(), ":", 3)
		if len(parts) != 3 {
			continue
		}
		for name := range strings.SplitSeq(parts[1], ",") {
			root := "/sys/fs/cgroup/" + name
			if _, err := os.Stat(root + "/tasks"); err == nil && (name == "cpu" || name == "memory") {
				if out[name] = filepath.Join(root, parts[2]); !isFolder(out[name]) { // the own group may not be visible
					out[name] = root
				}
			}
		}
	}
	return out, nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// limitGroups makes the groups of cgroup v1 for a machine, which its first process enters. The
// texts of v2 are for boot.sh.
func (m *Machine) limitGroups() (enter []string, v2 string, err error) {
	if m.Limits.CPU == 0 && m.Limits.Memory == 0 {
		return nil, "", nil
	}
	at, err := controllers()
	if err != nil {
		return nil, "", err
	}
	quota := strconv.Itoa(int(m.Limits.CPU * period))
	memory := strconv.FormatInt(m.Limits.Memory, 10)
	files := map[string][][2]string{}
	if m.Limits.CPU > 0 {
		files["cpu"] = [][2]string{{"cpu.cfs_period_us", strconv.Itoa(period)}, {"cpu.cfs_quota_us", quota}}
		v2 += fmt.Sprintf("cpu.max %s %d\n", quota, period)
	}
	if m.Limits.Memory > 0 {
		files["memory"] = [][2]string{{"memory.limit_in_bytes", memory}}
		v2 += fmt.Sprintf("memory.max %s\nmemory.swap.max 0\n", memory)
	}
	for name, values := range files {
		root, ok := at[name]
		if !ok {
			continue
		}
		dir := filepath.Join(root, m.group())
		if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
			return nil, "", fmt.Errorf("limiting machine %s: %w", m.Name, err)
		}
		for _, v := range values {
			if err := os.WriteFile(filepath.Join(dir, v[0]), []byte(v[1]), 0o644); err != nil {
				return nil, "", fmt.Errorf("limiting machine %s: %w", m.Name, err)
			}
		}
		enter = append(enter, dir)
	}
	if len(at) > 0 {
		v2 = ""
	}
	return enter, v2, nil
}

// removeLimits removes the groups of cgroup v1, also those of processes that were killed.
func (m *Machine) removeLimits() error {
	at, err := controllers()
	for _, root := range at {
		all, _ := filepath.Glob(filepath.Join(root, groupPrefix+"*")) // the pattern is well formed
		for _, dir := range all {
			if filepath.Base(dir) == m.group() || abandoned(filepath.Base(dir)) {
				if rerr := os.Remove(dir); rerr != nil && !errors.Is(rerr, os.ErrNotExist) && filepath.Base(dir) == m.group() {
					err = errors.Join(err, rerr)
				}
			}
		}
	}
	return err
}

// groupPrefix begins the name of each control group, before the id of the process.
const groupPrefix = "iikanji-lab-"

// abandoned reports whether the process that made a group has ended.
func abandoned(group string) bool {
	pid, _, _ := strings.Cut(strings.TrimPrefix(group, groupPrefix), "-")
	if _, err := strconv.Atoi(pid); err != nil {
		return false
	}
	_, err := os.Stat("/proc/" + pid)
	return errors.Is(err, os.ErrNotExist)
}
