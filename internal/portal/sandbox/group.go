package sandbox

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// keepAlive keeps what the kernel was given by address until here.
func keepAlive(v ...any) { runtime.KeepAlive(v) }

// A group is the control group of one program: of version 2, which has the filter of addresses
// and the end of all its processes, and of version 1 where that has the limits.
type group struct {
	dir    string // of version 2
	file   *os.File
	others []string // of version 1, which the program enters
	memory bool     // the limit of memory is in force
}

// groupPrefix begins the name of each group, before the id of the process that made it.
const groupPrefix = "iikanji-job-"

// hierarchies are the mounted hierarchies: unified is that of version 2, byName those of version
// 1 with memory and pids.
func hierarchies() (unified string, byName map[string]string, err error) {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return "", nil, fmt.Errorf("finding the control groups: %w", err)
	}
	defer f.Close()
	byName = map[string]string{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		left, right, ok := strings.Cut(lines.Text(), " - ")
		fields, kind := strings.Fields(left), strings.Fields(right)
		if !ok || len(fields) < 5 || len(kind) < 1 {
			continue
		}
		switch kind[0] {
		case "cgroup2":
			unified = fields[4]
		case "cgroup":
			for name := range strings.SplitSeq(kind[len(kind)-1], ",") {
				if name == "memory" || name == "pids" {
					byName[name] = fields[4]
				}
			}
		}
	}
	if err := lines.Err(); err != nil {
		return "", nil, fmt.Errorf("finding the control groups: %w", err)
	}
	if unified == "" {
		return "", nil, errors.New("no control groups of version 2 are mounted")
	}
	return unified, byName, nil
}

// newGroup makes the group of a program with its limits and its filter.
func newGroup(r *Rules) (g *group, err error) {
	unified, byName, err := hierarchies()
	if err != nil {
		return nil, err
	}
	clearAbandoned(append([]string{unified}, byName["memory"], byName["pids"]))
	g = &group{}
	if g.dir, err = os.MkdirTemp(unified, fmt.Sprintf("%s%d-", groupPrefix, os.Getpid())); err != nil {
		return nil, fmt.Errorf("making a control group: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, g.close())
		}
	}()
	// Version 2 has the files of a limit where its parent enables the controller.
	if err := g.limit(g.dir, "memory.max", r.Memory); err == nil {
		g.memory = true
		_ = g.limit(g.dir, "memory.swap.max", 0) // a machine may have no swap
	}
	_ = g.limit(g.dir, "pids.max", int64(r.Processes)) // the user's limit of processes is the second one
	if root := byName["memory"]; root != "" && !g.memory {
		dir := filepath.Join(root, filepath.Base(g.dir))
		if err := os.Mkdir(dir, 0o755); err != nil {
			return nil, fmt.Errorf("making a control group: %w", err)
		}
		g.others = append(g.others, dir)
		if err := g.limit(dir, "memory.limit_in_bytes", r.Memory); err != nil {
			return nil, fmt.Errorf("limiting memory: %w", err)
		}
		g.memory = true
	}
	if g.file, err = os.Open(g.dir); err != nil {
		return nil, fmt.Errorf("opening the control group: %w", err)
	}
	return g, filter(int(g.file.Fd()), r.Allow, r.Listen)
}

func (g *group) limit(dir, name string, value int64) error {
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(strconv.FormatInt(value, 10)), 0)
}

// end kills every process of the group and waits until none is left. A process that is its
// parent still has to reap it.
func (g *group) end() error { return endGroup(g.dir) }

// endWait bounds the wait for killed processes: one that is in the kernel ends when it leaves.
const endWait = 5 * time.Second

func endGroup(dir string) error {
	killed := os.WriteFile(filepath.Join(dir, "cgroup.kill"), []byte("1"), 0)
	for end := time.Now().Add(endWait); ; time.Sleep(5 * time.Millisecond) {
		text, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the processes of the control group: %w", err)
		}
		ids := strings.Fields(string(text))
		if len(ids) == 0 {
			return nil
		}
		if killed != nil { // a kernel before 5.14
			for _, id := range ids {
				if pid, err := strconv.Atoi(id); err == nil && pid > 1 {
					_ = unix.Kill(pid, unix.SIGKILL) // it may have ended
				}
			}
		}
		if time.Now().After(end) {
			return fmt.Errorf("%d processes of the control group do not end", len(ids))
		}
	}
}

// close removes the group, whose processes have ended.
func (g *group) close() error {
	if g.file != nil {
		g.file.Close()
	}
	var all error
	for _, dir := range append([]string{g.dir}, g.others...) {
		all = errors.Join(all, removeGroup(dir))
	}
	return all
}

// removeGroup removes a folder of groups. The kernel needs a moment after the last process.
func removeGroup(dir string) error {
	for end := time.Now().Add(time.Second); ; time.Sleep(5 * time.Millisecond) {
		err := os.Remove(dir)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("removing a control group: %w", err)
		}
	}
}

// clearAbandoned ends and removes groups whose maker has ended without doing so.
func clearAbandoned(roots []string) {
	for _, root := range roots {
		if root == "" {
			continue
		}
		dirs, _ := filepath.Glob(filepath.Join(root, groupPrefix+"*")) // the pattern is well formed
		for _, dir := range dirs {
			pid, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), groupPrefix), "-")
			if _, err := strconv.Atoi(pid); err != nil {
				continue
			}
			if _, err := os.Stat("/proc/" + pid); !errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if endGroup(dir) == nil {
				_ = os.Remove(dir) // another worker may remove it at the same time
			}
		}
	}
}

// EndAbandoned ends what is left of sandboxes whose maker was killed.
func EndAbandoned() {
	if unified, byName, err := hierarchies(); err == nil {
		clearAbandoned([]string{unified, byName["memory"], byName["pids"]})
	}
}
