package sandbox

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/policy/tier"
)

// hostileRole is the first argument of a process of these tests that tries what it must not.
const hostileRole = "hostile"

func TestMain(m *testing.M) {
	MaybeEnter()
	if len(os.Args) > 2 && os.Args[1] == hostileRole {
		out, err := hostile(os.Args[2], os.Args[3:])
		if err != nil {
			out = map[string]string{"error": err.Error()}
		}
		if err := json.NewEncoder(os.NewFile(3, "report")).Encode(out); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// usual are rules under which the test's own binary runs.
func usual(t *testing.T) Rules {
	t.Helper()
	tier.Needs(t, "a sandbox", Missing())
	return Rules{Read: []string{ownPath(t)}, Memory: 256 << 20, Processes: 200, Files: 64, Disk: 1 << 20, CPU: time.Minute}
}

func ownPath(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// A tried is what a hostile program said, and how it ended.
type tried struct {
	said   map[string]string
	state  *os.ProcessState
	groups []string // its control groups
}

// try runs a hostile program to its end; nothing of it is left then.
func try(t *testing.T, r Rules, act string, args ...string) tried {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	errs, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer errs.Close()
	b, err := Start(r, Program{Path: ownPath(t), Args: append([]string{hostileRole, act}, args...), Env: []string{"A=b"}, Stdout: errs, Stderr: errs, Report: write})
	write.Close()
	if err != nil {
		t.Fatal(err)
	}
	text := make(chan []byte, 1)
	go func() {
		all, _ := io.ReadAll(read) // what is there
		text <- all
	}()
	_ = b.Cmd.Wait() // its state is looked at
	out := tried{state: b.Cmd.ProcessState, said: map[string]string{}, groups: append([]string{b.group.dir}, b.group.others...)}
	if err := b.End(); err != nil {
		t.Error(err)
	}
	for _, dir := range out.groups {
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s is left", dir)
		}
	}
	all := <-text
	if len(all) > 0 {
		if err := json.Unmarshal(all, &out.said); err != nil {
			t.Errorf("it said %q: %v", all, err)
		}
	}
	if len(all) == 0 && out.state.Success() {
		said, _ := os.ReadFile(errs.Name()) // for people
		t.Errorf("it said nothing: %s", said)
	}
	return out
}

// TestLook: the program is a user without a name, without groups, capabilities and the chance of
// new privileges; it sees its own processes, its report and the environment it was given.
func TestLook(t *testing.T) {
	tier.Slow(t)
	got := try(t, usual(t), "look").said
	user := strings.Fields(got["Uid"])
	if len(user) != 4 || user[0] == "0" || user[0] != user[3] {
		t.Errorf("its user is %q", got["Uid"])
	}
	if id, err := strconv.Atoi(user[0]); err != nil || id < firstUser {
		t.Errorf("its user is %q", got["Uid"])
	}
	for name, want := range map[string]string{"Groups": "", "CapEff": "0000000000000000", "CapPrm": "0000000000000000", "CapAmb": "0000000000000000", "NoNewPrivs": "1", "Seccomp": "2",
		"processes": "1", "environment": "A=b", "files": "0 1 2 3"} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
}

// TestFiles: it reads the system, and nothing that was not named; it writes to its own /tmp alone,
// which nobody else sees.
func TestFiles(t *testing.T) {
	tier.Slow(t)
	r := usual(t)
	dir := t.TempDir()
	open, secret := filepath.Join(dir, "open"), filepath.Join(dir, "secret")
	if err := os.WriteFile(open, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(secret, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	world, err := os.MkdirTemp("/var/lib", "iikanji-sandbox-") // readable, and not below /tmp
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(world)
	if err := os.Chmod(world, 0o777); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(world, "f")
	if err := os.WriteFile(outside, []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	r.Read = append(r.Read, open)
	got := try(t, r, "files", open, secret, outside, "/etc/passwd", "/etc/shadow", "/dev/shm/x").said
	for name, want := range map[string]bool{"read " + open: true, "write " + open: false, "read " + secret: false, "write " + secret: false, "read " + outside: false, "write " + outside: false,
		"read /etc/passwd": true, "write /etc/passwd": false, "read /etc/shadow": false, "write /dev/shm/x": true, "scratch": true, "list": false} {
		if done := got[name] == "done"; done != want {
			t.Errorf("%s: %q", name, got[name])
		}
	}
	for _, path := range []string{"/tmp/mine", open + ".hostile", outside + ".hostile", "/dev/shm/x.hostile"} {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is there", path)
		}
	}
}

// greeter answers two bytes at an address until the test ends.
func greeter(t *testing.T, address string) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte("ok")) // the other end may be gone
			conn.Close()
		}
	}()
	return netip.MustParseAddrPort(l.Addr().String())
}

// TestEgress: it exchanges packets with the named addresses and ports, and with no other one; no
// name is resolved.
func TestEgress(t *testing.T) {
	tier.Slow(t)
	r := usual(t)
	target, another := greeter(t, "127.0.0.1:0"), greeter(t, "127.0.0.1:0")
	machine, six := greeter(t, "127.0.0.2:0"), greeter(t, "[::1]:0")
	l, err := net.Listen("unix", "@iikanji-sandbox-test")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r.Allow = []netip.AddrPort{target}
	mapped := fmt.Sprintf("[::ffff:127.0.0.1]:%d", target.Port())
	got := try(t, r, "connect", target.String(), another.String(), machine.String(), six.String(), mapped, "169.254.169.254:80").said
	for name, want := range map[string]bool{"tcp " + target.String(): true, "udp " + target.String(): true, "tcp " + mapped: true, "tcp " + another.String(): false, "udp " + another.String(): false,
		"tcp " + machine.String(): false, "udp " + machine.String(): false, "tcp " + six.String(): false, "udp " + six.String(): false, "tcp 169.254.169.254:80": false, "udp 169.254.169.254:80": false,
		"name": false, "abstract": false} {
		if done := got[name] == "done"; done != want {
			t.Errorf("%s: %q", name, got[name])
		}
	}
	for _, refused := range []string{"tcp " + another.String(), "udp " + six.String()} {
		if !strings.Contains(got[refused], "operation not permitted") {
			t.Errorf("%s ended with %q: it should be refused at once", refused, got[refused])
		}
	}
	r.Allow = []netip.AddrPort{netip.AddrPortFrom(machine.Addr(), 0), six}
	got = try(t, r, "connect", target.String(), machine.String(), six.String()).said
	if got["tcp "+machine.String()] != "done" || got["tcp "+six.String()] != "done" || got["tcp "+target.String()] == "done" {
		t.Errorf("other addresses: %q", got)
	}
}

// knock connects from an address.
func knock(from string, port int) (net.Conn, error) {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: 500 * time.Millisecond}
	return d.Dial("tcp4", fmt.Sprint("127.0.0.1:", port))
}

// freePorts are ports at which nothing listens now.
func freePorts(t *testing.T) (ports [2]int) {
	t.Helper()
	for i := range ports {
		l, err := net.Listen("tcp4", "0.0.0.0:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	return ports
}

// TestListen: it takes connections of its machines at the named ports alone, and cannot use such
// a port to reach more.
func TestListen(t *testing.T) {
	tier.Slow(t)
	r := usual(t)
	outside := greeter(t, "127.0.0.2:0")
	r.Allow = []netip.AddrPort{netip.MustParseAddrPort("127.0.0.2:9")}
	var got map[string]string
	for range 5 { // another process may take a port before the program does
		ports := freePorts(t)
		r.Listen = []uint16{uint16(ports[0])}
		ended, visited := make(chan struct{}), make(chan []string, 1)
		go func() { visited <- visit(ports, ended) }()
		got = try(t, r, "listen", fmt.Sprint(ports[0]), fmt.Sprint(ports[1]), outside.String()).said
		close(ended)
		wrong := <-visited
		if strings.Contains(got["error"], "address already in use") {
			continue
		}
		if len(wrong) > 0 {
			t.Errorf("from outside: %q", wrong)
		}
		break
	}
	if got["taken from 127.0.0.2"] != "done" || got["another machine"] == "done" || got["another port"] == "done" || got["a connection from the port"] == "done" || got["error"] != "" {
		t.Errorf("it said %q", got)
	}
}

// visit connects to both ports from the machine of the rules and from another one, and returns
// what went wrong.
func visit(ports [2]int, ended <-chan struct{}) (wrong []string) {
	var conn net.Conn
	for conn == nil {
		select {
		case <-ended:
			return []string{"nothing was let in"}
		case <-time.After(20 * time.Millisecond):
			conn, _ = knock("127.0.0.2", ports[0]) // it does not listen yet
		}
	}
	defer conn.Close()
	let := make(chan string, 2)
	for from, port := range map[string]int{"127.0.0.3": ports[0], "127.0.0.2": ports[1]} {
		go func() {
			other, err := knock(from, port)
			if err != nil {
				from = ""
			} else {
				other.Close()
			}
			let <- from
		}()
	}
	for range 2 {
		if from := <-let; from != "" {
			wrong = append(wrong, from+" was let in")
		}
	}
	if _, err := conn.Write([]byte("hello")); err != nil {
		wrong = append(wrong, err.Error())
	}
	answer := make([]byte, 2)
	if _, err := io.ReadFull(conn, answer); err != nil {
		wrong = append(wrong, "no answer: "+err.Error())
	}
	return wrong
}

// TestKernel: sockets of other families, system calls that no benchmarker needs, and other
// processes are out of reach.
func TestKernel(t *testing.T) {
	tier.Slow(t)
	got := try(t, usual(t), "kernel", strconv.Itoa(os.Getpid())).said
	for _, name := range []string{"vsock", "packet", "alg", "raw", "uring", "mount", "unshare", "setuid", "kill", "environ", "ptrace", "kill group"} {
		if got[name] == "done" || got[name] == "" {
			t.Errorf("%s: %q", name, got[name])
		}
	}
}

// TestLimits: processes, memory, disk and CPU time have ends, and nothing of a fork bomb is left.
func TestLimits(t *testing.T) {
	tier.Slow(t)
	r := usual(t)
	r.Processes = 100
	got := try(t, r, "fork")
	if n, err := strconv.Atoi(got.said["children"]); err == nil && n > 100 {
		t.Errorf("%d processes with a limit of 100", n)
	}
	if left := sleepers(t); left != 0 {
		t.Errorf("%d processes of the fork bomb are left", left)
	}
	r = usual(t)
	r.Memory = 96 << 20
	if got := try(t, r, "memory"); got.said["memory"] != "" {
		t.Errorf("it used 1000 MiB: %q", got.said)
	}
	got = try(t, usual(t), "disk")
	if n, err := strconv.Atoi(got.said["bytes"]); err != nil || n > 1<<20 || got.said["disk"] == "" {
		t.Errorf("the disk: %q", got.said)
	}
	r = usual(t)
	r.CPU = time.Second
	got = try(t, r, "cpu")
	if status, ok := got.state.Sys().(syscall.WaitStatus); !ok || !status.Signaled() {
		t.Errorf("after a second of CPU time it ended with %v", got.state)
	}
}

// sleepers counts processes of the fork bomb.
func sleepers(t *testing.T) (n int) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		n = 0
		all, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is well formed
		for _, path := range all {
			text, err := os.ReadFile(path)
			if err == nil && slices.Contains(strings.Split(string(text), "\x00"), "sleep") && strings.Contains(string(text), hostileRole) {
				n++
			}
		}
		if n == 0 || time.Now().After(end) {
			return n
		}
	}
}

// TestAbandoned: what a killed maker of a sandbox has left is ended by the next one.
func TestAbandoned(t *testing.T) {
	tier.Slow(t)
	r := usual(t)
	g, err := newGroup(&r)
	if err != nil {
		t.Fatal(err)
	}
	g.file.Close()
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	sleeper := exec.Command("sleep", "1000")
	sleeper.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	var reaped sync.WaitGroup
	reaped.Go(func() { _ = sleeper.Wait() }) // it is killed
	// The same group under the name of a process that has ended.
	abandoned := filepath.Join(filepath.Dir(g.dir), fmt.Sprintf("%s%d-test", groupPrefix, dead.Process.Pid))
	if err := os.Mkdir(abandoned, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(abandoned, "cgroup.procs"), []byte(strconv.Itoa(sleeper.Process.Pid)), 0); err != nil {
		t.Fatal(err)
	}
	EndAbandoned()
	reaped.Wait()
	if _, err := os.Stat(abandoned); err == nil {
		t.Error("the group is left")
	}
	if _, err := os.Stat(g.dir); err != nil {
		t.Errorf("a group in use was ended: %v", err)
	}
	if err := g.close(); err != nil {
		t.Error(err)
	}
}

// TestRules: rules without limits, and addresses of no host, are refused.
func TestRules(t *testing.T) {
	good := Rules{Allow: []netip.AddrPort{netip.MustParseAddrPort("10.20.0.3:80")}, Read: []string{"/srv/bench"}, Memory: 64 << 20, Processes: 10, Files: 10, Disk: 1 << 20, CPU: time.Second}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*Rules){
		"no memory": func(r *Rules) { r.Memory = 0 }, "no processes": func(r *Rules) { r.Processes = 0 }, "no time": func(r *Rules) { r.CPU = 0 }, "everything": func(r *Rules) { r.Read = []string{"/"} },
		"relative": func(r *Rules) { r.Read = []string{"srv"} }, "multicast": func(r *Rules) { r.Allow = []netip.AddrPort{netip.MustParseAddrPort("224.0.0.1:80")} },
		"any": func(r *Rules) { r.Allow = []netip.AddrPort{netip.MustParseAddrPort("0.0.0.0:80")} }, "a low port": func(r *Rules) { r.Listen = []uint16{80} }, "many ports": func(r *Rules) { r.Listen = slices.Repeat([]uint16{5000}, mostListen+1) }, "many": func(r *Rules) { r.Allow = slices.Repeat(r.Allow, mostAddresses+1) },
	} {
		r := good
		if spoil(&r); r.Check() == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

// FuzzFilter: whatever the addresses are, each jump of a filter leads forward into the program, as
// the kernel demands.
func FuzzFilter(f *testing.F) {
	f.Add([]byte{10, 20, 0, 3, 0, 80, 0, 0}, true)
	f.Add([]byte{0x20, 1, 0xd, 0xb8, 1, 2, 3, 4}, false)
	f.Fuzz(func(t *testing.T, b []byte, out bool) {
		var allow []netip.AddrPort
		for i := 0; i+6 <= len(b) && len(allow) < mostAddresses; i += 6 {
			at := netip.AddrFrom4([4]byte(b[i : i+4]))
			if b[i]%2 == 0 {
				var six [16]byte
				copy(six[b[i]%12:], b[i:i+4])
				at = netip.AddrFrom16(six)
			}
			allow = append(allow, netip.AddrPortFrom(at, uint16(b[i+4])<<8|uint16(b[i+5])))
		}
		var listen []uint16
		for i := 0; i+1 < len(b) && len(listen) < mostListen; i += 2 {
			listen = append(listen, uint16(b[i])<<8|uint16(b[i+1]))
		}
		for _, code := range [][]instruction{packets(allow, nil, out), packets(allow, listen, out), calls(allow, out)} {
			for i, in := range code {
				if in.op == opGo || in.op == opEqual || in.op == opDiffers {
					if to := i + 1 + int(in.off); in.off < 0 || to >= len(code) {
						t.Fatalf("instruction %d jumps to %d of %d", i, to, len(code))
					}
				}
			}
			if code[len(code)-1].op != opExit {
				t.Fatal("the program has no end")
			}
		}
	})
}
