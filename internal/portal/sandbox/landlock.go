package sandbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Rights of Landlock, of linux/landlock.h.
const (
	fsExecute   = 1 << 0
	fsWriteFile = 1 << 1
	fsReadFile  = 1 << 2
	fsReadDir   = 1 << 3
	fsRefer     = 1 << 13 // from version 2
	fsTruncate  = 1 << 14 // from version 3
	fsIoctl     = 1 << 15 // from version 5
	firstRights = 1<<13 - 1

	scopeAbstract = 1 << 0 // abstract sockets, from version 6
	scopeSignal   = 1 << 1

	ruleBeneath = 1
)

// landlockVersion is the kernel's version of Landlock; 0 if it has none.
func landlockVersion() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

// systemRead are what a usual program reads of a system.
var systemRead = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/etc", "/proc", "/sys/devices/system", "/sys/kernel/mm"}

// devices may be read and written.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// landlock takes every right on files away from this thread but reading the system and read,
// and everything below the folders in write.
func landlock(read, write []string) error {
	version := landlockVersion()
	if version < 1 {
		return errors.New("the kernel has no Landlock")
	}
	handled := uint64(firstRights)
	if version >= 2 {
		handled |= fsRefer
	}
	if version >= 3 {
		handled |= fsTruncate
	}
	if version >= 5 {
		handled |= fsIoctl
	}
	attr := struct{ files, net, scoped uint64 }{files: handled}
	size := unsafe.Sizeof(attr.files)
	if version >= 6 {
		attr.scoped, size = scopeAbstract|scopeSignal, unsafe.Sizeof(attr)
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return fmt.Errorf("making the rules of Landlock: %w", errno)
	}
	defer unix.Close(int(fd))
	for _, paths := range []struct {
		names  []string
		rights uint64
	}{{systemRead, fsExecute | fsReadFile | fsReadDir}, {read, fsExecute | fsReadFile | fsReadDir}, {devices, fsReadFile | fsWriteFile | handled&(fsTruncate|fsIoctl)}, {write, handled}} {
		for _, path := range paths.names {
			if err := beneath(int(fd), path, paths.rights); err != nil {
				return err
			}
		}
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return fmt.Errorf("entering the rules of Landlock: %w", errno)
	}
	return nil
}

// beneath allows rights on a path and what is below it. A path that does not exist is skipped.
func beneath(ruleset int, path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("opening %s for Landlock: %w", path, err)
	}
	defer unix.Close(fd)
	var state unix.Stat_t
	if err := unix.Fstat(fd, &state); err != nil {
		return fmt.Errorf("opening %s for Landlock: %w", path, err)
	}
	if state.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= fsExecute | fsReadFile | fsWriteFile | fsTruncate | fsIoctl
	}
	var attr [12]byte // packed: the rights and the descriptor
	binary.NativeEndian.PutUint64(attr[:], rights)
	binary.NativeEndian.PutUint32(attr[8:], uint32(fd))
	if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), ruleBeneath, uintptr(unsafe.Pointer(&attr[0])), 0, 0, 0); errno != 0 {
		return fmt.Errorf("a rule of Landlock for %s: %w", path, errno)
	}
	return nil
}
