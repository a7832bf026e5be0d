package hoststat

import (
	"testing"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// TestOverflows fills the queue of a socket without accepting connections, and
// checks that the kernel's counter increased between the readings before and after.
func TestOverflows(t *testing.T) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		t.Fatal(err)
	}
	before, err := readCounters(fs, procfs.DefaultMountPoint)
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := unix.Listen(fd, 1); err != nil {
		t.Fatal(err)
	}
	at, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		c, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(c)
		if err := unix.Connect(c, at); err != nil && err != unix.EINPROGRESS {
			t.Fatal(err)
		}
	}
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		after, err := readCounters(fs, procfs.DefaultMountPoint)
		if err != nil {
			t.Fatal(err)
		}
		if after.overflows > before.overflows && after.drops-before.drops >= after.overflows-before.overflows {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("overflows %v, then %v; drops %v, then %v", before.overflows, after.overflows, before.drops, after.drops)
		}
	}
}
