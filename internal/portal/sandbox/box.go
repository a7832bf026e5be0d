package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// Name is argv[0] of this binary when it becomes a program of a sandbox.
const Name = "iikanji-sandbox"

// A Program is what runs in a sandbox. Its standard input is empty.
type Program struct {
	Path           string // absolute; "" tries everything but the program
	Name           string // its argv[0]; "" for Path
	Args, Env      []string
	Stdout, Stderr *os.File
	Report         *os.File // its descriptor 3, or nil
}

// A Box is a started program.
type Box struct {
	Cmd   *exec.Cmd
	group *group
}

// An order is what the process that becomes the program is told.
type order struct {
	Rules  Rules    `json:"rules"`
	Path   string   `json:"path"`
	Name   string   `json:"name,omitempty"`
	Args   []string `json:"args"`
	Env    []string `json:"env"`
	Parent int      `json:"parent"`
	User   uint32   `json:"user"`
	Groups []string `json:"groups"` // control groups of version 1 to enter
	// Memory is set where no control group limits memory.
	Memory bool `json:"memory"`
}

// Descriptors of the process that becomes the program.
const (
	orderFD   = 4
	failureFD = 5
)

// firstUser is the first of the user ids of sandboxes: it is above those that systemd gives to
// containers and services. The id is by the process that starts the sandbox, so that two
// sandboxes of a machine never have the same.
const (
	firstUser = 1879048192
	mostPIDs  = 1 << 22
)

// Start starts a program. The caller is its parent and should be the reaper of its descendants;
// it is on a thread that lives as long as the program (the parent-death signal).
func Start(r Rules, p Program) (*Box, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	if os.Geteuid() != 0 {
		return nil, errors.New("it needs root")
	}
	g, err := newGroup(&r)
	if err != nil {
		return nil, err
	}
	b := &Box{group: g}
	if err := b.start(&r, p); err != nil {
		return nil, errors.Join(err, b.End())
	}
	return b, nil
}

// start starts this binary in the group and waits until it has become the program.
func (b *Box) start(r *Rules, p Program) error {
	o := order{Rules: *r, Path: p.Path, Name: p.Name, Args: p.Args, Env: p.Env, Parent: os.Getpid(), User: firstUser + uint32(os.Getpid()%mostPIDs), Groups: b.group.others, Memory: !b.group.memory}
	text, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("starting the sandbox: %w", err)
	}
	empty, err := os.Open(os.DevNull)
	if err != nil {
		return fmt.Errorf("starting the sandbox: %w", err)
	}
	defer empty.Close()
	orders, tell, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("starting the sandbox: %w", err)
	}
	defer orders.Close()
	defer tell.Close()
	hear, failures, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("starting the sandbox: %w", err)
	}
	defer hear.Close()
	report := p.Report
	if report == nil {
		report = empty
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Args, cmd.Env, cmd.Dir = []string{Name}, []string{}, "/"
	cmd.Stdin, cmd.Stdout, cmd.Stderr = empty, p.Stdout, p.Stderr
	cmd.ExtraFiles = []*os.File{report, orders, failures}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, UseCgroupFD: true, CgroupFD: int(b.group.file.Fd()),
		Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS}
	err = cmd.Start()
	failures.Close()
	if err != nil {
		return fmt.Errorf("starting the sandbox: %w", err)
	}
	b.Cmd = cmd
	if _, err := tell.Write(text); err != nil {
		return fmt.Errorf("starting the sandbox: %w", err)
	}
	tell.Close()
	failed, err := io.ReadAll(io.LimitReader(hear, 4<<10)) // it is closed when the program begins
	if err == nil && len(failed) > 0 {
		err = errors.New(string(failed))
	}
	if err != nil {
		return fmt.Errorf("entering the sandbox: %w", err)
	}
	return nil
}

// End ends all processes of the program and removes what was made for it. The caller may have
// waited for Cmd already, or not.
func (b *Box) End() error {
	err := b.group.end()
	if b.Cmd != nil && b.Cmd.ProcessState == nil {
		_ = b.Cmd.Wait() // it was killed
	}
	return errors.Join(err, b.group.close())
}

// Missing tries a sandbox on this machine; "" if it works, else what the machine lacks. The
// binary has to call MaybeEnter at the begin of its main.
func Missing() string {
	b, err := Start(Rules{Memory: 64 << 20, Processes: 64, Files: 64, Disk: 1 << 20, CPU: 60e9}, Program{})
	if err != nil {
		return err.Error()
	}
	if err := b.Cmd.Wait(); err != nil {
		return errors.Join(err, b.End()).Error()
	}
	if err := b.End(); err != nil {
		return err.Error()
	}
	return ""
}
