package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// A Spec is a process to start. Its environment may hold secrets.
type Spec struct {
	Path   string
	Args   []string // with the program's name first
	Env    []string // the whole environment, as "K=V"
	Dir    string
	UID    int
	GID    int
	Groups []int
	Limits []Limit
	Umask  int
	CPUs   []int
	Cgroup string // of version 2, below /sys/fs/cgroup; "" for that of iikanji
}

// A Limit is a resource limit of setrlimit(2).
type Limit struct {
	Resource   int
	Soft, Hard uint64
}

// resources are the limits that are taken over: those of setrlimit(2), without
// RLIMIT_RTTIME and others that a server does not have set.
var resources = []int{unix.RLIMIT_NOFILE, unix.RLIMIT_NPROC, unix.RLIMIT_CORE, unix.RLIMIT_MEMLOCK, unix.RLIMIT_STACK,
	unix.RLIMIT_AS, unix.RLIMIT_DATA, unix.RLIMIT_FSIZE}

// Found is the specification of a running process, with duplicates of its
// standard input, output and error. The notes are what could not be taken over.
func Found(p *Process) (spec Spec, files [3]*os.File, notes []string, err error) {
	h := host.Local{}
	spec = Spec{Path: p.Program, Args: p.Args, Dir: p.Dir, UID: p.UID, GID: p.GID, Groups: p.Groups}
	if p.Program == "" || p.Dir == "" {
		return spec, files, nil, fmt.Errorf("reading process %d (%s): its program and folder cannot be read: run iikanji as root or as its user", p.PID, p.Name)
	}
	if spec.Env, err = Env(h, p.PID); err != nil {
		return spec, files, nil, err
	}
	if title, ok := nginxTitle(p); ok {
		// nginx overwrites its environment with its title; what the master passes
		// on is set by the directive env.
		spec.Args, spec.Env = title, []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
	}
	if args, ok := unicornTitle(h, p, spec.Env); ok {
		spec.Args = args
	}
	for _, r := range resources {
		var l unix.Rlimit
		if err := unix.Prlimit(p.PID, r, nil, &l); err != nil {
			notes = append(notes, fmt.Sprintf("limits of process %d: %v", p.PID, err))
			break
		}
		spec.Limits = append(spec.Limits, Limit{r, l.Cur, l.Max})
	}
	spec.Umask, spec.Cgroup = umaskOf(h, p.PID), cgroupOf(h, p.PID)
	var set unix.CPUSet
	if unix.SchedGetaffinity(p.PID, &set) == nil {
		for cpu := range 1024 {
			if set.IsSet(cpu) {
				spec.CPUs = append(spec.CPUs, cpu)
			}
		}
	}
	files, more := standardFiles(p)
	return spec, files, append(notes, more...), nil
}

// masterTitle begins the title of an nginx master.
const masterTitle = "nginx: master process "

// nginxTitle returns the command line of an nginx master, which is in its title.
func nginxTitle(p *Process) ([]string, bool) {
	rest, ok := strings.CutPrefix(p.Command(), masterTitle)
	return withValues(strings.Fields(rest)), ok
}

// withValues joins the words of values: the title of "nginx -g 'daemon off;'" has no
// quotes. The value of an option extends to the next option.
func withValues(words []string) []string {
	var out []string
	for i := 0; i < len(words); i++ {
		word := words[i]
		out = append(out, word)
		if i == 0 || len(word) < 2 || word[0] != '-' || !strings.Contains("pcegs", word[1:2]) {
			continue
		}
		value := word[2:]
		if value == "" {
			out = append(out, "")
		}
		for ; i+1 < len(words) && !optionOfNginx(words[i+1]); i++ {
			if value = out[len(out)-1]; value != "" {
				value += " "
			}
			out[len(out)-1] = value + words[i+1]
		}
	}
	return out
}

func optionOfNginx(word string) bool {
	return len(word) > 1 && word[0] == '-' && strings.Contains("?hvVtTqspceg", word[1:2])
}

// unicornTitle returns the command line of a unicorn master, whose title has the name of
// its script and all arguments: "unicorn master -c unicorn.rb". Ruby has overwritten the
// interpreter and the path of the script, which is searched as its shell did.
func unicornTitle(h host.Host, p *Process, env []string) ([]string, bool) {
	words := strings.Fields(p.Command())
	if len(words) < 2 || !strings.HasPrefix(words[0], "unicorn") || words[1] != "master" || !strings.HasPrefix(filepath.Base(p.Program), "ruby") {
		return nil, false
	}
	for _, kv := range env {
		paths, ok := strings.CutPrefix(kv, "PATH=")
		for _, dir := range filepath.SplitList(paths) {
			script := filepath.Join(dir, words[0])
			if info, err := h.Stat(script); ok && filepath.IsAbs(dir) && err == nil && info.Mode().IsRegular() {
				return append([]string{p.Program, script}, words[2:]...), true
			}
		}
	}
	return nil, false
}

func umaskOf(h host.Host, pid int) int {
	b, err := h.Read(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0o22
	}
	for line := range strings.Lines(string(b)) {
		if text, ok := strings.CutPrefix(line, "Umask:"); ok {
			if n, err := strconv.ParseInt(strings.TrimSpace(text), 8, 32); err == nil {
				return int(n)
			}
		}
	}
	return 0o22
}

func cgroupOf(h host.Host, pid int) string {
	b, err := h.Read(filepath.Join("/proc", strconv.Itoa(pid), "cgroup"))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(b)) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok && path != "/" {
			return path
		}
	}
	return ""
}

// standardFiles duplicates the standard files of a process. Where the kernel does
// not allow that, a file is opened again at its end, and anything else is
// replaced by /dev/null.
func standardFiles(p *Process) (files [3]*os.File, notes []string) {
	pidfd, err := unix.PidfdOpen(p.PID, 0)
	if err == nil {
		defer unix.Close(pidfd)
	}
	for n := range files {
		if err == nil {
			if fd, e := unix.PidfdGetfd(pidfd, n, 0); e == nil {
				unix.CloseOnExec(fd)
				files[n] = os.NewFile(uintptr(fd), fmt.Sprintf("descriptor %d of process %d", n, p.PID))
				continue
			}
		}
		var note string
		if files[n], note = reopened(p, n); note != "" {
			notes = append(notes, note)
		}
	}
	return files, notes
}

// reopened opens the file behind a descriptor of a process again.
func reopened(p *Process, n int) (*os.File, string) {
	link := fmt.Sprintf("/proc/%d/fd/%d", p.PID, n)
	to, _ := os.Readlink(link) // "" for a descriptor that is closed
	flags := os.O_RDONLY
	if n > 0 {
		flags = os.O_WRONLY | os.O_APPEND
	}
	if strings.HasPrefix(to, "/") || strings.HasPrefix(to, "pipe:") {
		if f, err := os.OpenFile(link, flags|unix.O_NOCTTY|unix.O_NONBLOCK, 0); err == nil {
			return f, ""
		}
	}
	f, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Sprintf("descriptor %d of process %d: %v", n, p.PID, err)
	}
	if to == "" || to == os.DevNull {
		return f, ""
	}
	return f, fmt.Sprintf("descriptor %d of process %d (%s) cannot be taken over: /dev/null stands for it after a restart", n, p.PID, to)
}

// WithEnv is the specification with further variables, which replace those of
// the same name.
func (s Spec) WithEnv(more []string) Spec {
	names := map[string]bool{}
	for _, kv := range more {
		name, _, _ := strings.Cut(kv, "=")
		names[name] = true
	}
	env := slices.DeleteFunc(slices.Clone(s.Env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return names[name]
	})
	s.Env = append(env, more...)
	return s
}

// apply sets what a child inherits: limits, mask, control group, CPUs. What the
// kernel refuses is not an error: the process may need less than it was given.
// It must be called with the thread locked.
func (s Spec) apply() error {
	if s.Cgroup != "" {
		_ = os.WriteFile(filepath.Join("/sys/fs/cgroup", s.Cgroup, "cgroup.procs"), []byte(strconv.Itoa(os.Getpid())), 0)
	}
	syscall.Umask(s.Umask)
	var errs []error
	for _, l := range s.Limits {
		err := syscall.Setrlimit(l.Resource, &syscall.Rlimit{Cur: l.Soft, Max: l.Hard})
		if err != nil && l.Resource == unix.RLIMIT_NOFILE {
			errs = append(errs, fmt.Errorf("setting the limit of open files to %d: %w", l.Soft, err))
		}
	}
	if len(s.CPUs) > 0 {
		var set unix.CPUSet
		for _, cpu := range s.CPUs {
			set.Set(cpu)
		}
		_ = unix.SchedSetaffinity(0, &set)
	}
	return errors.Join(errs...)
}

// credential is the user of the process; nil if it is that of this one.
func (s Spec) credential() *syscall.Credential {
	if os.Geteuid() != 0 {
		return nil
	}
	c := &syscall.Credential{Uid: uint32(s.UID), Gid: uint32(s.GID)}
	for _, g := range s.Groups {
		c.Groups = append(c.Groups, uint32(g))
	}
	return c
}
