package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/hostproc"
)

// resources are the limits that are taken over: those of setrlimit(2), without
// RLIMIT_RTTIME and others that a server does not have set.
var resources = map[string]int{"nofile": unix.RLIMIT_NOFILE, "nproc": unix.RLIMIT_NPROC, "core": unix.RLIMIT_CORE,
	"memlock": unix.RLIMIT_MEMLOCK, "stack": unix.RLIMIT_STACK, "as": unix.RLIMIT_AS, "data": unix.RLIMIT_DATA, "fsize": unix.RLIMIT_FSIZE}

// An Origin is how a running process was started.
type Origin struct {
	Spec  Spec
	Way   Way
	Title string      // that the process shows in place of its command line; "" for none
	Files [3]*os.File // duplicates of its standard input, output and error
	Notes []string    // what could not be taken over
}

// Close closes the duplicates.
func (o *Origin) Close() {
	for _, f := range o.Files {
		if f != nil {
			_ = f.Close()
		}
	}
}

// Found reads how a running process was started.
func Found(p *Process) (*Origin, error) {
	h := host.Local{}
	o := &Origin{Spec: Spec{Path: p.Program, Args: p.Args, Dir: p.Dir, UID: p.UID, GID: p.GID, Groups: p.Groups}}
	if p.Program == "" || p.Dir == "" {
		return nil, fmt.Errorf("reading process %d (%s): its program and folder cannot be read: "+
			"run iikanji as root or as its user", p.PID, p.Name)
	}
	var err error
	if o.Spec.Env, err = Env(h, p.PID); err != nil {
		return nil, err
	}
	o.findWay(h, p)
	limits, err := hostproc.Limits(h, p.PID)
	if err != nil {
		o.Notes = append(o.Notes, err.Error())
	}
	for _, l := range limits {
		if r, ok := resources[l.Name]; ok {
			soft := limitOf(l.Soft)
			o.Spec.Limits = append(o.Spec.Limits, Limit{r, soft, limitOf(l.Hard), saysLimit(r, soft)})
		}
	}
	umask := umaskOf(h, p.PID)
	o.Spec.Umask, o.Spec.Cgroup = &umask, cgroupOf(h, p.PID)
	var set unix.CPUSet
	if unix.SchedGetaffinity(p.PID, &set) == nil {
		for cpu := range 1024 {
			if set.IsSet(cpu) {
				o.Spec.CPUs = append(o.Spec.CPUs, cpu)
			}
		}
	}
	var notes []string
	o.Files, notes = standardFiles(p)
	o.Notes = append(o.Notes, notes...)
	return o, nil
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
	return f, fmt.Sprintf("descriptor %d of process %d (%s) cannot be taken over: "+
		"/dev/null stands for it after a restart", n, p.PID, to)
}

// limitOf is a limit as a number; "unlimited" is the largest one.
func limitOf(text string) uint64 {
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return n
	}
	return unix.RLIM_INFINITY
}

// saysLimit makes a limit of open files that the kernel refuses an error: a server without
// it fails under load. Others may be refused.
func saysLimit(resource int, soft uint64) string {
	if resource != unix.RLIMIT_NOFILE {
		return ""
	}
	return fmt.Sprintf("the limit of open files to %d", soft)
}
