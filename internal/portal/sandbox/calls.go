package sandbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// architectures are the kernel's numbers of system call tables (linux/audit.h).
var architectures = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}

// families of sockets that a benchmarker needs. The filter of addresses knows those of the
// Internet alone: a socket to the hypervisor, for example, would pass it.
var families = []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}

// refusedCalls reach parts of the kernel that no benchmarker needs. io_uring also makes sockets
// without a system call that could be refused.
var refusedCalls = []uint32{unix.SYS_IO_URING_SETUP, unix.SYS_BPF, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_MOUNT}

// Offsets in the kernel's struct seccomp_data.
const (
	dataCall = 0
	dataArch = 4
	dataArg0 = 16
	x32Calls = 0x40000000 // calls of the x32 table begin here
)

// refuse makes the listed calls fail in this thread and in what it executes.
func refuse() error {
	arch, ok := architectures[runtime.GOARCH]
	if !ok {
		return fmt.Errorf("there is no list of system calls for %s", runtime.GOARCH)
	}
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		return errors.New("the filter of system calls is for little-endian machines")
	}
	var code []unix.SockFilter
	load := func(at uint32) {
		code = append(code, unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at})
	}
	// unless skips the next n instructions if the comparison fails.
	unless := func(op uint16, k uint32, n uint8) {
		code = append(code, unix.SockFilter{Code: unix.BPF_JMP | op | unix.BPF_K, Jf: n, K: k})
	}
	answer := func(value uint32) { code = append(code, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: value}) }
	const no = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	load(dataArch)
	code = append(code, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: 1, K: arch})
	answer(unix.SECCOMP_RET_KILL_PROCESS)
	load(dataCall)
	unless(unix.BPF_JGE, x32Calls, 1)
	answer(no)
	for _, call := range refusedCalls {
		unless(unix.BPF_JEQ, call, 1)
		answer(no)
	}
	unless(unix.BPF_JEQ, unix.SYS_SOCKET, uint8(2+2*len(families)))
	load(dataArg0)
	for _, f := range families {
		unless(unix.BPF_JEQ, f, 1)
		answer(unix.SECCOMP_RET_ALLOW)
	}
	answer(no)
	answer(unix.SECCOMP_RET_ALLOW)
	prog := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	_, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	keepAlive(code)
	if errno != 0 {
		return fmt.Errorf("refusing system calls: %w", errno)
	}
	return nil
}
