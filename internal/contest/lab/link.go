package lab

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// A Link connects machines with each other and with this machine: a bridge in a network
// namespace that ends with this process. It has no route to anywhere else.
type Link struct {
	name  string       // of this machine's interface
	net   netip.Prefix // of 24 bits within 198.18.0.0/15, which RFC 2544 reserves for tests
	hub   int          // process id of the namespace's holder
	ended chan struct{}
	ports int
}

// hubScript makes the bridge and stays.
const hubScript = `ip link set lo up && ip link add name br0 type bridge && ip link set br0 up && echo ready && exec sleep 2147483647`

// NewLink makes a link with addresses that are free here. This machine is the first of them.
func NewLink(ctx context.Context) (*Link, error) {
	l := &Link{ended: make(chan struct{})}
	cmd := exec.Command("unshare", "--net", "sh", "-c", hubScript)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("making a link: %w", err)
	}
	started := make(chan error, 1)
	go func() { // the signal comes when the thread ends that has started the process
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(l.ended)
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // it ends by a signal
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("making a link: %w", err)
	}
	l.hub = cmd.Process.Pid
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		return nil, errors.Join(fmt.Errorf("making a link: %w: %s", err, strings.TrimSpace(said.String())), l.Close())
	}
	if err := l.plugHere(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("making a link: %w", err), l.Close())
	}
	return l, nil
}

// plugHere connects this machine, under the first free number. The interface's name is the
// lock: the kernel has one of a name.
func (l *Link) plugHere(ctx context.Context) error {
	var last error
	for n := range 512 {
		n = (n + os.Getpid()) % 512
		name := "iikanji" + strconv.Itoa(n)
		if last = run(ctx, "ip", "link", "add", "name", name, "type", "veth", "peer", "name", "here", "netns", strconv.Itoa(l.hub)); last != nil {
			continue
		}
		l.name = name
		l.net = netip.PrefixFrom(netip.AddrFrom4([4]byte{198, byte(18 + n/256), byte(n % 256), 0}), 24)
		return errors.Join(run(ctx, "ip", "address", "add", l.Address(1).String()+"/24", "dev", name), run(ctx, "ip", "link", "set", name, "up"),
			l.inHub(ctx, "link", "set", "here", "master", "br0", "up"))
	}
	return last
}

// Address is the n-th address of the link; 1 is this machine's.
func (l *Link) Address(n int) netip.Addr {
	b := l.net.Addr().As4()
	b[3] = byte(n)
	return netip.AddrFrom4(b)
}

// inHub runs ip in the namespace of the bridge.
func (l *Link) inHub(ctx context.Context, args ...string) error {
	return run(ctx, "nsenter", append([]string{"--target", strconv.Itoa(l.hub), "--net", "ip"}, args...)...)
}

// plug connects the network namespace of a process, whose interface is eth0 then.
func (l *Link) plug(ctx context.Context, pid int) error {
	l.ports++ // the one of the boot before may still be there for a moment
	name := "port" + strconv.Itoa(l.ports)
	if err := run(ctx, "ip", "link", "add", "name", name, "netns", strconv.Itoa(l.hub), "type", "veth", "peer", "name", "eth0", "netns", strconv.Itoa(pid)); err != nil {
		return err
	}
	return l.inHub(ctx, "link", "set", name, "master", "br0", "up")
}

// Close ends the link.
func (l *Link) Close() error {
	err := syscall.Kill(l.hub, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		err = nil
	}
	<-l.ended
	return err
}

// run runs a program to its end.
func run(ctx context.Context, name string, args ...string) error {
	if out, err := exec.CommandContext(ctx, name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return nil
}
