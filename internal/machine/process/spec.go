package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// A Spec is a process to start. Its environment may hold secrets.
type Spec struct {
	Name string // unique in its supervisor
	Path string
	Args []string // with the program's name first
	Env  []string // the whole environment, as "K=V"
	Dir  string
	// Log is the file for standard output and standard error; "" for the standard files
	// that the supervisor was given.
	Log string
	// UID, GID and Groups are those of the process where root starts it.
	UID, GID int
	Groups   []int
	Limits   []Limit
	Umask    *int   // nil for that of the supervisor
	CPUs     []int  // nil for those of the supervisor
	Cgroup   string // of version 2, below /sys/fs/cgroup; "" for that of the supervisor
	// Rank orders the shutdown: processes of the highest rank are stopped first,
	// and those of the next rank only after these have ended.
	Rank int
	Stop []Step
	// Sweep are paths to remove, in this order, after the process has ended.
	Sweep []string
}

// A Limit is a resource limit of setrlimit(2). Says is for the error of one that the kernel
// refuses; if it is empty, the process is started without the limit: it may need less than
// it was given.
type Limit struct {
	Resource   int
	Soft, Hard uint64
	Says       string // as in "nofile = 65536"
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

// starterName is argv[0] of this binary when it runs only between the fork and the execution
// of a process. A supervisor cannot set limits and user on itself: it could not take them
// back. Setting them after the execution is too late for programs that read their limits
// at the start.
const starterName = "iikanji-start"

// errorFD is where that step writes its error. The execution closes it.
const errorFD = 3

// A startStep is the input of that step, as JSON in argv[1]. Its environment is that of
// the process.
type startStep struct {
	Spec
	Supervisor int // id of the parent with which the process ends; 0 for a process that outlives it
}

// fork starts a process with that step in between, and returns when the program is
// executed. files are its standard files.
func (s Spec) fork(outlives bool, files [3]uintptr) (pid int, err error) {
	step := startStep{Spec: s}
	step.Env, step.Stop, step.Sweep = nil, nil, nil
	if !outlives {
		step.Supervisor = os.Getpid()
	}
	text, err := json.Marshal(step)
	if err != nil {
		return 0, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return 0, fmt.Errorf("executing %s: %w", s.Path, err)
	}
	defer read.Close()
	attr := &syscall.SysProcAttr{Setsid: outlives, Setpgid: !outlives}
	pid, err = syscall.ForkExec("/proc/self/exe", []string{starterName, string(text)}, &syscall.ProcAttr{
		Dir: s.Dir, Env: s.Env, Sys: attr,
		Files: []uintptr{files[0], files[1], files[2], write.Fd()}})
	if err = errors.Join(err, write.Close()); err != nil {
		return 0, fmt.Errorf("executing %s: %w", s.Path, err)
	}
	if refused, err := io.ReadAll(read); err != nil || len(refused) > 0 {
		_, _ = unix.Wait4(pid, nil, 0, nil)
		return 0, errors.Join(errors.New(string(refused)), err)
	}
	return pid, nil
}

// maybeStart runs that step if this process was started for it, and then never returns.
func maybeStart() {
	if len(os.Args) != 2 || os.Args[0] != starterName {
		return
	}
	unix.CloseOnExec(errorFD)
	var s startStep
	err := json.Unmarshal([]byte(os.Args[1]), &s)
	if err == nil {
		err = s.become()
	}
	_, _ = os.NewFile(errorFD, "error").WriteString(err.Error()) // the supervisor reads it, or has ended
	os.Exit(126)
}

// become sets what the process inherits while it has the rights to, changes to its user,
// then executes the program. The id of the process stays.
func (s startStep) become() error {
	runtime.LockOSThread() // CPUs and the signal of the parent's death belong to this thread
	if s.Cgroup != "" {
		_ = os.WriteFile(filepath.Join("/sys/fs/cgroup", s.Cgroup, "cgroup.procs"), []byte(strconv.Itoa(os.Getpid())), 0)
	}
	if s.Umask != nil {
		syscall.Umask(*s.Umask)
	}
	for _, l := range s.Limits {
		// Not unix.Setrlimit: the runtime must notice the change, or the execution restores
		// the limit of open files that the runtime saved.
		err := syscall.Setrlimit(l.Resource, &syscall.Rlimit{Cur: l.Soft, Max: l.Hard})
		if err != nil && l.Says != "" {
			return fmt.Errorf("setting %s: %w", l.Says, err)
		}
	}
	if err := s.pin(); err != nil {
		return err
	}
	if err := s.changeUser(); err != nil {
		return err
	}
	if s.Supervisor != 0 {
		// After the change of the user, which clears it.
		if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGTERM), 0, 0, 0); err != nil {
			return fmt.Errorf("asking for the signal of the supervisor's death: %w", err)
		}
		if os.Getppid() != s.Supervisor {
			return errors.New("the supervisor is gone")
		}
	}
	return fmt.Errorf("executing %s: %w", s.Path, syscall.Exec(s.Path, s.Args, os.Environ()))
}

// pin sets the CPUs of the process.
func (s startStep) pin() error {
	if len(s.CPUs) == 0 {
		return nil
	}
	var set unix.CPUSet
	for _, cpu := range s.CPUs {
		set.Set(cpu)
	}
	// What was found of a site may not be possible any more; it must start all the same.
	if err := unix.SchedSetaffinity(0, &set); err != nil && s.Supervisor != 0 {
		return fmt.Errorf("pinning the %s to CPUs %v: %w", s.Name, s.CPUs, err)
	}
	return nil
}

// changeUser becomes the user of the process, if it is root that starts it.
func (s startStep) changeUser() error {
	if os.Geteuid() != 0 {
		return nil
	}
	for _, err := range []error{syscall.Setgroups(s.Groups), syscall.Setgid(s.GID), syscall.Setuid(s.UID)} {
		if err != nil {
			return fmt.Errorf("becoming user %d: %w", s.UID, err)
		}
	}
	return nil
}
