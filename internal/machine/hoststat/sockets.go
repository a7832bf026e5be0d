package hoststat

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// A Socket is one TCP socket of a host.
type Socket struct {
	Local, Remote netip.AddrPort
	Inode         uint64
	// Of a listening socket: connections that wait in its queue, and how many
	// may wait; -1 where the kernel does not report it.
	Waiting, Backlog int
}

// tcpState is a state of include/net/tcp_states.h.
type tcpState uint8

const (
	established tcpState = 1
	listening   tcpState = 10
)

// Listening lists the listening TCP sockets of a host.
func Listening(h host.Host) ([]Socket, error) { return sockets(h, listening) }

// Established lists the sockets of a host's TCP connections.
func Established(h host.Host) ([]Socket, error) { return sockets(h, established) }

// sockets lists the TCP sockets in a state.
func sockets(h host.Host, state tcpState) ([]Socket, error) {
	return socketsTask().On(context.Background(), h, state)
}

// readSockets lists the TCP sockets in a state: of this machine by netlink, as
// /proc/net/tcp does not contain the length of a queue, and where netlink is
// not available from /proc.
func readSockets(_ context.Context, h host.Host, state tcpState) ([]Socket, error) {
	if h.Name() == "" {
		if out, err := netlinkSockets(state); err == nil {
			return out, nil
		}
	}
	proc, _, err := procOf(h)
	if err != nil {
		return nil, err
	}
	//lint:ignore SA1019 netlink reaches this machine only, and /proc of any host can be read
	four, err := proc.NetTCP()
	if err != nil {
		return nil, fmt.Errorf("reading the TCP sockets: %w", err)
	}
	//lint:ignore SA1019 as above
	six, err := proc.NetTCP6()
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // the kernel has no IPv6
		return nil, fmt.Errorf("reading the TCP sockets: %w", err)
	}
	var out []Socket
	for _, l := range slices.Concat(four, six) {
		if l.St != uint64(state) {
			continue
		}
		local, _ := netip.AddrFromSlice(l.LocalAddr)
		remote, _ := netip.AddrFromSlice(l.RemAddr)
		out = append(out, Socket{Local: netip.AddrPortFrom(local.Unmap(), uint16(l.LocalPort)), Remote: netip.AddrPortFrom(remote.Unmap(), uint16(l.RemPort)),
			Inode: l.Inode, Waiting: int(l.RxQueue), Backlog: -1})
	}
	return out, nil
}

// procOf opens a host's /proc and returns the path of it on this machine.
func procOf(h host.Host) (procfs.FS, string, error) {
	mount := h.ProcFolder()
	if mount == "" {
		return procfs.FS{}, "", fmt.Errorf("opening /proc of %s: it cannot be read from here", h.Name())
	}
	proc, err := procfs.NewFS(mount)
	if err != nil {
		return procfs.FS{}, "", fmt.Errorf("opening /proc: %w", err)
	}
	return proc, mount, nil
}

// Owners maps the inode of each socket of services to the service. services are
// root processes by name; a service includes their descendants.
func Owners(h host.Host, services map[string][]int) (map[uint64]string, error) {
	return ownersTask().On(context.Background(), h, services)
}

func readOwners(ctx context.Context, h host.Host, services map[string][]int) (map[uint64]string, error) {
	owner := map[uint64]string{}
	for name, roots := range services {
		pids, err := readFamily(ctx, h, roots)
		if err != nil {
			return nil, err
		}
		for _, pid := range pids {
			for _, inode := range SocketsOf(h, pid) {
				owner[inode] = name
			}
		}
	}
	return owner, nil
}

// Family lists processes and all their descendants.
func Family(h host.Host, roots []int) ([]int, error) {
	return familyTask().On(context.Background(), h, roots)
}

func readFamily(_ context.Context, h host.Host, roots []int) ([]int, error) {
	proc, _, err := procOf(h)
	if err != nil {
		return nil, err
	}
	procs, err := proc.AllProcs()
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	children := map[int][]int{}
	for _, p := range procs {
		if st, err := p.Stat(); err == nil {
			children[st.PPID] = append(children[st.PPID], p.PID)
		}
	}
	all := slices.Clone(roots)
	for i := 0; i < len(all); i++ {
		for _, c := range children[all[i]] {
			if !slices.Contains(all, c) {
				all = append(all, c)
			}
		}
	}
	return all, nil
}

// SocketsOf lists the inodes of the sockets that a process has open. A process
// that has ended, or that belongs to another user, has none.
func SocketsOf(h host.Host, pid int) []uint64 {
	out, _ := inodesTask().On(context.Background(), h, pid) // of a host that is lost: none
	return out
}

func readInodes(_ context.Context, h host.Host, pid int) ([]uint64, error) {
	dir := filepath.Join(h.ProcFolder(), strconv.Itoa(pid), "fd")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil
	}
	var out []uint64
	for _, e := range entries {
		to, err := os.Readlink(filepath.Join(dir, e.Name()))
		if err != nil {
			continue
		}
		number, ok := strings.CutPrefix(to, "socket:[")
		inode, err := strconv.ParseUint(strings.TrimSuffix(number, "]"), 10, 64)
		if ok && err == nil {
			out = append(out, inode)
		}
	}
	return out, nil
}
