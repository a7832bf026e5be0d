// Package labtest gives tests machines of package lab as hosts: the far end on each is the
// program of the test itself.
package labtest

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/contest/lab"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/peer"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// farEnd makes this program the far end on a machine.
const farEnd = "IIKANJI_LAB_FAR_END"

// Main runs the tests of a package, or serves as the far end on a machine. A package whose
// tests use machines calls it as its TestMain.
func Main(m *testing.M) {
	if os.Getenv(farEnd) == "" {
		os.Exit(m.Run())
	}
	signal.Ignore(syscall.SIGPIPE)
	if err := peer.Serve(context.Background(), peer.Join(os.Stdin, os.Stdout), host.Local{}, peer.Options{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// A Spec is a machine to boot.
type Spec struct {
	Name  string
	Units []string // of Debian
	// Prepare puts files into the machine before its boot.
	Prepare func(m *lab.Machine) error
}

// Boot boots machines on one link, the first at its address 11. They are closed when the test
// ends. A machine of the same name has the same address in all tests.
func Boot(t *testing.T, specs ...Spec) []*lab.Machine {
	t.Helper()
	tier.Needs(t, "a machine in namespaces", lab.Missing())
	link, err := lab.NewLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := link.Close(); err != nil {
			t.Error(err)
		}
	})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	machines := make([]*lab.Machine, len(specs))
	for i, s := range specs {
		m, err := lab.New(t.TempDir(), s.Name, s.Units...)
		if err != nil {
			t.Fatal(err)
		}
		machines[i] = m
		t.Cleanup(func() {
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		})
		m.Join(link, 11+i)
		if err := errors.Join(m.Database(), m.Install(self, "far-end")); err != nil {
			t.Fatal(err)
		}
		if s.Prepare != nil {
			if err := s.Prepare(m); err != nil {
				t.Fatal(err)
			}
		}
		if err := m.Boot(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return machines
}

// A place is what another process needs to reach a machine.
type place struct {
	Name    string
	PID     int
	Address string
}

// filed is the file with the places, in the folder of a test.
const filed = "machines.json"

// File writes how the machines are reached into a folder, for Dial in another process.
func File(t *testing.T, dir string, machines ...*lab.Machine) {
	t.Helper()
	var all []place
	for _, m := range machines {
		all = append(all, place{m.Name, m.PID(), m.Address().String()})
	}
	text, err := json.Marshal(all)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, filed), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Dial connects to the machines of File. Folders may be written on all of them. It returns
// them by name, and their addresses.
func Dial(dir string, folders ...string) (hosts map[string]*Far, addresses map[string]string, err error) {
	text, err := os.ReadFile(filepath.Join(dir, filed))
	if err != nil {
		return nil, nil, err
	}
	var all []place
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, nil, err
	}
	hosts, addresses = map[string]*Far{}, map[string]string{}
	for _, p := range all {
		f := &Far{name: p.Name, pid: p.PID, folders: folders}
		if err := f.Reconnect(context.Background()); err != nil {
			return nil, nil, err
		}
		hosts[p.Name], addresses[p.Name] = f, p.Address
	}
	return hosts, addresses, nil
}

// A Far is a machine as a host, which connects again.
type Far struct {
	host.Host // of the present connection
	name      string
	pid       int
	folders   []string
	peer      *peer.Peer
	cmd       *exec.Cmd
	silent    []silent
	// Gone: it does not connect again.
	Gone bool
}

var _ host.Reconnector = (*Far)(nil)

// Unwrap is the present connection.
func (f *Far) Unwrap() host.Host { return f.Host }

// Reconnect implements host.Reconnector.
func (f *Far) Reconnect(ctx context.Context) error {
	if f.Gone {
		return &host.LostError{Host: f.name, Err: errors.New("it does not come back")}
	}
	if f.peer != nil {
		select {
		case <-f.peer.Lost():
		default:
			return nil
		}
	}
	f.endSilent()
	cmd := lab.Running(f.name, f.pid).Command(context.Background(), "/usr/local/bin/far-end")
	cmd.Env = append(cmd.Env, farEnd+"=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	p, err := peer.Connect(ctx, peer.Join(in, out), peer.Setup{Name: f.name, Folders: f.folders, Options: peer.Options{Ping: 300 * time.Millisecond, Lost: 3 * time.Second}})
	if err != nil {
		return errors.Join(err, cmd.Process.Kill(), cmd.Wait())
	}
	f.peer, f.cmd, f.Host = p, cmd, p
	return nil
}

func (f *Far) endSilent() {
	for _, s := range f.silent {
		s.end()
	}
	f.silent = nil
}

// Close ends the connection and waits for the far end.
func (f *Far) Close() error {
	f.endSilent()
	err := f.peer.Close()
	_ = f.cmd.Wait() // it may have been killed
	return err
}

// A Cut is a way to lose a connection.
type Cut string

// The ways.
const (
	Reset  Cut = "reset"  // the connection is closed at this end
	Silent Cut = "silent" // the far end is stopped, and killed later
	Killed Cut = "killed" // the far end is killed
)

// Lose cuts the connection.
func (f *Far) Lose(how Cut) error {
	if how == Reset {
		return f.peer.Close()
	}
	pid, err := f.farPID()
	if err != nil {
		return err
	}
	if how == Killed {
		return syscall.Kill(pid, syscall.SIGKILL)
	}
	f.silent = append(f.silent, silent{pid, f.cmd})
	return syscall.Kill(pid, syscall.SIGSTOP)
}

// A silent far end is stopped; nsenter stops with it.
type silent struct {
	pid int
	cmd *exec.Cmd
}

// end kills it, and lets nsenter take its exit status: the machine's PID 1 waits for that.
func (s silent) end() {
	_ = syscall.Kill(s.pid, syscall.SIGKILL) // an error: it has ended
	_ = s.cmd.Process.Signal(syscall.SIGCONT)
	_ = s.cmd.Wait()
}

// farPID is the process of the far end on this machine: a child of the command that enters
// the machine.
func (f *Far) farPID() (int, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", f.cmd.Process.Pid, f.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}

// SQL opens a pool that connects through the present connection, as root of the machine.
func (f *Far) SQL(login host.Login) (*sql.DB, error) {
	if login.User == "" {
		login.User = "root"
	}
	return host.OpenSQL(login, func(ctx context.Context, network, address string) (net.Conn, error) {
		return f.Host.Dial(ctx, network, address)
	})
}

// Run runs a command on the machine and returns its output without blanks around it.
func (f *Far) Run(ctx context.Context, args ...string) (string, error) {
	out, err := lab.Running(f.name, f.pid).Command(ctx, args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%q on %s: %w: %s", args, f.name, err, out)
	}
	return strings.TrimSpace(string(out)), nil
}
