package hoststat

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// elsewhere is this machine's /proc under another path, so that it is read like that
// of another host.
type elsewhere struct{ host.Local }

func (elsewhere) Name() string { return "elsewhere" }

// TestSockets finds both ends of a connection and the socket that accepted it, by
// netlink and in /proc, with the process that has them open.
func TestSockets(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	server := netip.MustParseAddrPort(l.Addr().String())
	from := netip.MustParseAddrPort(client.LocalAddr().String())
	for _, h := range []host.Host{host.Local{}, elsewhere{}} {
		owner, err := Owners(h, map[string][]int{"me": {os.Getpid()}, "gone": {1 << 30}})
		if err != nil {
			t.Fatal(err)
		}
		list, err := Listening(h)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(list, func(s Socket) bool { return s.Local == server })
		if i < 0 || owner[list[i].Inode] != "me" || list[i].Waiting != 1 || (list[i].Backlog > 0) != (h.Name() == "") {
			t.Fatalf("%q: listening: %d of %+v", h.Name(), i, list)
		}
		all, err := Established(h)
		if err != nil {
			t.Fatal(err)
		}
		i = slices.IndexFunc(all, func(s Socket) bool { return s.Local == from && s.Remote == server })
		if i < 0 || owner[all[i].Inode] != "me" {
			t.Errorf("%q: established: %d of %+v", h.Name(), i, all)
		}
	}
}

// TestUnixClients finds the client's end of a connection to a unix socket.
func TestUnixClients(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if found, err := UnixClients(host.Local{}, path); err != nil || len(found) != 0 {
		t.Fatalf("before a connection: %v, %v", found, err)
	}
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	accepted, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer accepted.Close()
	var inode uint64
	raw, err := c.(*net.UnixConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Control(func(fd uintptr) {
		to, _ := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
		fmt.Sscanf(to, "socket:[%d]", &inode)
	}); err != nil {
		t.Fatal(err)
	}
	if found, err := UnixClients(host.Local{}, path); err != nil || !slices.Equal(found, []uint64{inode}) {
		t.Errorf("clients %v, want %d, %v", found, inode, err)
	}
	if _, err := UnixClients(elsewhere{}, path); err == nil {
		t.Error("the kernel of another host was asked")
	}
}

// TestFakeProc reads the processes, sockets and swapping of a host with a separate
// /proc.
func TestFakeProc(t *testing.T) {
	h := &host.Fake{Root: t.TempDir(), Host: "other"}
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(h.ProcFolder(), name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stat := func(pid int, name string, parent int) {
		write(fmt.Sprintf("%d/stat", pid), fmt.Sprintf("%d (%s) S %d %s\n", pid, name, parent, strings.Repeat("0 ", 48)))
	}
	stat(7, "master", 1)
	stat(8, "worker", 7)
	stat(9, "other", 1)
	write("vmstat", "nr_free_pages 5\npswpin 11\npswpout 12\n")
	write("net/tcp", "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"+
		"   0: 0100007F:1F90 00000000:0000 0A 00000000:00000003 00:00000000 00000000     0        0 4711 1 0000000000000000 100 0 0 10 0\n")
	if err := os.MkdirAll(filepath.Join(h.ProcFolder(), "8/fd"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("socket:[4711]", filepath.Join(h.ProcFolder(), "8/fd/3")); err != nil {
		t.Fatal(err)
	}
	if in, out := Swapped(h); in != 11 || out != 12 {
		t.Errorf("swapped %d in, %d out", in, out)
	}
	if pids, err := Family(h, []int{7}); err != nil || !slices.Equal(pids, []int{7, 8}) {
		t.Errorf("family %v, %v", pids, err)
	}
	list, err := Listening(h)
	want := Socket{Local: netip.MustParseAddrPort("127.0.0.1:8080"), Remote: netip.MustParseAddrPort("0.0.0.0:0"), Inode: 4711, Waiting: 3, Backlog: -1}
	if err != nil || len(list) != 1 || list[0] != want {
		t.Errorf("listening %+v, %v", list, err)
	}
	found, err := Discover(h)
	if err != nil || len(found) != 1 || found[0].Name != "worker" || !slices.Equal(found[0].PIDs, []int{8}) {
		t.Errorf("services %+v, %v", found, err)
	}
}

// TestListeningUnix reads the unix sockets that listen, also those without a path.
func TestListeningUnix(t *testing.T) {
	got := parseUnix("Num RefCount Protocol Flags Type St Inode Path\n0: 2 0 00010000 0001 01 11 /run/a b.sock\n0: 2 0 00000000 0001 03 12 /run/c.sock\n" +
		"0: 2 0 00010000 0001 01 13 @abstract\n0: 2 0 00010000 0001 01 14\nbroken\n")
	if want := []UnixSocket{{"/run/a b.sock", 11}, {"@abstract", 13}, {"", 14}}; !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	list, err := ListeningUnix(host.Local{})
	at := slices.IndexFunc(list, func(s UnixSocket) bool { return s.Path == path })
	if err != nil || at < 0 || !slices.Contains(SocketsOf(host.Local{}, os.Getpid()), list[at].Inode) {
		t.Errorf("%d of %+v, %v", at, list, err)
	}
}

// FuzzUnix checks that no text of /proc stops the reader: users choose the paths.
func FuzzUnix(f *testing.F) {
	f.Add("0: 2 0 00010000 0001 01 11 /run/a.sock")
	f.Fuzz(func(t *testing.T, text string) {
		for _, s := range parseUnix(text) {
			if strings.ContainsAny(s.Path, "\n\t") {
				t.Errorf("%q", s.Path)
			}
		}
	})
}

// FuzzSocket parses arbitrary messages as answers of the kernel.
func FuzzSocket(f *testing.F) {
	ne := binary.NativeEndian
	b := make([]byte, unixAnswer)
	b = ne.AppendUint16(b, 4+3)
	b = ne.AppendUint16(b, unixAttrName)
	b = append(b, "/s\x00\x00"...)
	b = ne.AppendUint16(b, 8)
	b = ne.AppendUint16(b, unixAttrPeer)
	b = ne.AppendUint32(b, 4711)
	if name, peer := parseUnixSocket(b); name != "/s" || peer != 4711 {
		f.Errorf("%q, %d", name, peer)
	}
	f.Add(b)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		name, peer := parseUnixSocket(b)
		if len(name) > len(b) || peer != 0 && len(b) < unixAnswer {
			t.Errorf("%q %d", name, peer)
		}
		if len(b) >= diagAnswer {
			for _, family := range []uint8{unix.AF_INET, unix.AF_INET6} {
				if s := parseSocket(family, b); !s.Local.Addr().IsValid() || !s.Remote.Addr().IsValid() {
					t.Errorf("%+v", s)
				}
			}
		}
	})
}
