package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/policy/tier"
)

// sinkVariable is set in the process that TestNeverElsewhere starts in a namespace.
const sinkVariable = "IIKANJI_TEST_SINK"

// Addresses of the namespace, from the ranges that RFC 5737 reserves for documentation: this machine,
// the name server, and a machine that no file of iikanji names.
const (
	sinkAddress = "192.0.2.1"
	sinkNames   = "192.0.2.53"
	sinkOther   = "198.51.100.7"
)

// TestNeverElsewhere: iikanji connects to no machine that its file does not have. The command lines
// of the contest's day (in make soak, every example of every command) run on a real site in a
// namespace whose only way out is a device that swallows and records everything: no packet goes
// there, and no name is asked for. The device is shown to record both.
func TestNeverElsewhere(t *testing.T) {
	tier.Slow(t)
	if os.Getenv(sinkVariable) != "" {
		inSinkhole(t)
		return
	}
	tier.Needs(t, "a network namespace", missingNamespace(t.Context()))
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "unshare", "--net", "--mount", "--", self, "-test.run=^TestNeverElsewhere$", "-test.v")
	cmd.Env = append(os.Environ(), sinkVariable+"=1")
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil || !strings.Contains(string(out), "--- PASS: TestNeverElsewhere") {
		t.Errorf("in the namespace: %v", err)
	}
}

// missingNamespace says what a network namespace lacks here, "" for nothing.
func missingNamespace(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "unshare", "--net", "--mount", "--", "ip", "link", "add", "sink", "type", "veth", "peer", "name", "sinkend").CombinedOutput()
	if err != nil {
		return fmt.Sprintf("%v: %s", err, out)
	}
	return ""
}

// A sinkhole is the only way out of the namespace.
type sinkhole struct {
	mu   sync.Mutex
	sent []string // where packets were sent to, as ADDRESS:PORT
}

// openSinkhole makes the device of this namespace, and records what is sent there.
func openSinkhole(t *testing.T) *sinkhole {
	t.Helper()
	names := filepath.Join(t.TempDir(), "resolv.conf")
	if err := os.WriteFile(names, []byte("nameserver "+sinkNames+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"ip link set lo up",
		"sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1", // else the device itself looks for neighbours
		"ip link add sink type veth peer name sinkend",                                     // nobody reads at its other end
		"ip link set sink arp off",
		"ip address add " + sinkAddress + "/24 dev sink",
		"ip link set sinkend up",
		"ip link set sink up",
		"ip route add default dev sink",
		"mount --bind " + names + " /etc/resolv.conf",
	} {
		if out, err := exec.CommandContext(t.Context(), "sh", "-c", line).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", line, err, out)
		}
	}
	device, err := net.InterfaceByName("sink")
	if err != nil {
		t.Fatal(err)
	}
	all := binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, syscall.ETH_P_ALL)) // which alone sees what is sent
	fd, err := syscall.Socket(syscall.AF_PACKET, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, int(all))
	if err == nil {
		err = syscall.Bind(fd, &syscall.SockaddrLinklayer{Protocol: all, Ifindex: device.Index})
	}
	if err != nil {
		t.Fatal(err)
	}
	s := &sinkhole{}
	go func() { // ends with the process
		packet := make([]byte, 2048)
		for {
			n, _, err := syscall.Recvfrom(fd, packet, 0)
			if errors.Is(err, syscall.EINTR) {
				continue
			}
			if err != nil {
				return
			}
			s.mu.Lock()
			s.sent = append(s.sent, destination(packet[:n]))
			s.mu.Unlock()
		}
	}()
	return s
}

// destination is where a packet of IP goes to.
func destination(packet []byte) string {
	const least, ports = 20, 4 // bytes of the header without options, and of the ports behind it
	if len(packet) < least || packet[0]>>4 != 4 {
		return fmt.Sprintf("a packet that is not IPv4: % x", packet[:min(len(packet), least)])
	}
	to, _ := netip.AddrFromSlice(packet[16:20])
	if behind := packet[min(len(packet), int(packet[0]&15)*4):]; len(behind) >= ports {
		return netip.AddrPortFrom(to, binary.BigEndian.Uint16(behind[2:])).String()
	}
	return to.String()
}

// reached are the different places that packets were sent to.
func (s *sinkhole) reached() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.Clone(s.sent)
	slices.Sort(all)
	return slices.Compact(all)
}

// inSinkhole runs the command lines in the namespace of the sinkhole.
func inSinkhole(t *testing.T) {
	s := openSinkhole(t)
	lines := "^TestContestDaySheet$"
	if tier.Soaking() {
		lines = "^(TestContestDaySheet|TestExamplesAsWritten)$"
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run="+lines, "-test.v", "-test.timeout=40m")
	cmd.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, sinkVariable+"=") })
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestContestDaySheet") {
		t.Fatalf("the command lines: %v\n%s", err, out)
	}
	t.Logf("%d command lines have run", strings.Count(string(out), "    --- PASS: "))
	if sent := s.reached(); len(sent) > 0 {
		t.Errorf("packets were sent to %q", sent)
	}
	s.records(t, sinkOther+":80", func(ctx context.Context) error {
		_, err := (&net.Dialer{}).DialContext(ctx, "tcp4", sinkOther+":80")
		return err
	})
	s.records(t, sinkNames+":53", func(ctx context.Context) error {
		_, err := net.DefaultResolver.LookupHost(ctx, "portal.example.com")
		return err
	})
}

// records checks that the sinkhole answers nothing and records where a packet was sent to: without
// that, a test in which nothing is recorded would prove nothing.
func (s *sinkhole) records(t *testing.T, to string, send func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if send(ctx) == nil {
		t.Errorf("%s answers through the sinkhole", to)
	}
	for end := time.Now().Add(5 * time.Second); !slices.Contains(s.reached(), to); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the sinkhole has recorded %q and not %s", s.reached(), to)
		}
	}
}
