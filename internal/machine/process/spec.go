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
