package sandbox

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"
)

// An instruction is one of the kernel's extended BPF.
type instruction struct {
	op   uint8
	regs uint8 // source register in the upper half
	off  int16
	imm  int32
}

// Operations, of linux/bpf.h and linux/bpf_common.h.
const (
	opLoadWord  = unix.BPF_LDX | unix.BPF_MEM | unix.BPF_W
	opLoadHalf  = unix.BPF_LDX | unix.BPF_MEM | unix.BPF_H
	opLoadByte  = unix.BPF_LDX | unix.BPF_MEM | unix.BPF_B
	opMove      = unix.BPF_ALU64 | unix.BPF_MOV | unix.BPF_X
	opSet       = unix.BPF_ALU64 | unix.BPF_MOV | unix.BPF_K
	opAdd       = unix.BPF_ALU64 | unix.BPF_ADD | unix.BPF_K
	opAnd       = unix.BPF_ALU64 | unix.BPF_AND | unix.BPF_K
	opLeft      = unix.BPF_ALU64 | unix.BPF_LSH | unix.BPF_K
	opRight     = unix.BPF_ALU64 | unix.BPF_RSH | unix.BPF_K
	opEqual     = unix.BPF_JMP32 | unix.BPF_JEQ | unix.BPF_K
	opDiffers   = unix.BPF_JMP32 | unix.BPF_JNE | unix.BPF_K
	opGo        = unix.BPF_JMP | unix.BPF_JA
	opCall      = unix.BPF_JMP | unix.BPF_CALL
	opExit      = unix.BPF_JMP | unix.BPF_EXIT
	frame       = 10 // the register of the stack's end
	loadOfBytes = 26 // the helper bpf_skb_load_bytes
)

// A program is assembled with forward jumps to labels.
type program struct {
	code  []instruction
	jumps map[int]string
	marks map[string]int
}

func newProgram() *program { return &program{jumps: map[int]string{}, marks: map[string]int{}} }

func (p *program) add(op, dst, src uint8, off int16, imm int32) {
	p.code = append(p.code, instruction{op, src<<4 | dst, off, imm})
}

// jump goes to a label if the comparison with imm holds.
func (p *program) jump(op, reg uint8, imm uint32, label string) {
	p.jumps[len(p.code)] = label
	p.add(op, reg, 0, 0, int32(imm))
}

func (p *program) mark(label string) { p.marks[label] = len(p.code) }

// end adds the two ends, deny and allow, and resolves the jumps.
func (p *program) end() []instruction {
	p.mark("deny")
	p.add(opSet, 0, 0, 0, 0)
	p.add(opExit, 0, 0, 0, 0)
	for _, label := range p.jumps {
		if label == "allow" { // the kernel refuses a program with a part that is not reached
			p.mark("allow")
			p.add(opSet, 0, 0, 0, 1)
			p.add(opExit, 0, 0, 0, 0)
			break
		}
	}
	for at, label := range p.jumps {
		p.code[at].off = int16(p.marks[label] - at - 1)
	}
	return p.code
}

// load reads bytes of the packet to the stack; the offset is in register 2. A packet that is too
// short is denied.
func (p *program) load(to int16, size int32) {
	p.add(opMove, 1, 6, 0, 0)
	p.add(opMove, 3, frame, 0, 0)
	p.add(opAdd, 3, 0, 0, int32(to))
	p.add(opSet, 4, 0, 0, size)
	p.add(opCall, 0, 0, 0, loadOfBytes)
	p.jump(opDiffers, 0, 0, "deny")
}

// word is how four bytes of a packet look in a register.
func word(b []byte) uint32 { return binary.NativeEndian.Uint32(b) }

// portWord is how a port of a packet looks in a register.
func portWord(port uint16) uint32 {
	b := [4]byte{byte(port >> 8), byte(port)}
	return uint32(binary.NativeEndian.Uint16(b[:2]))
}

// Places on the stack.
const (
	headerAt = -80 // of the IP header, 40 bytes
	portAt   = -8
	tcpAt    = -32 // of the TCP header up to its flags, 14 bytes
)

// packets is the filter of packets that leave (out) or arrive: their far end has to be one of
// the addresses, at its port or with a connection to a port of listen. It is of the program type
// CGROUP_SKB.
func packets(allow []netip.AddrPort, listen []uint16, out bool) []instruction {
	p := newProgram()
	far4, far6, port := int16(12), int16(8), int32(0) // the source
	if out {
		far4, far6, port = 16, 24, 2 // the destination
	}
	p.add(opMove, 6, 1, 0, 0)
	p.add(opSet, 2, 0, 0, 0)
	p.load(headerAt, 20)
	p.add(opLoadByte, 7, frame, headerAt, 0)
	p.add(opRight, 7, 0, 0, 4)
	p.jump(opEqual, 7, 6, "v6")
	p.jump(opDiffers, 7, 4, "deny")

	p.add(opLoadByte, 8, frame, headerAt, 0) // the header's length, in units of 4 bytes
	p.add(opAnd, 8, 0, 0, 15)
	p.add(opLeft, 8, 0, 0, 2)
	p.portOf(headerAt+9, port, "4")
	p.taken(listen, out, "4")
	for i, a := range allow {
		if !a.Addr().Unmap().Is4() {
			continue
		}
		next := fmt.Sprint("4/", i)
		b := a.Addr().Unmap().As4()
		p.add(opLoadWord, 8, frame, headerAt+far4, 0)
		p.jump(opDiffers, 8, word(b[:]), next)
		p.allowTaken(listen)
		p.allowPort(a.Port())
		p.mark(next)
	}
	p.jump(opGo, 0, 0, "deny")

	p.mark("v6")
	p.add(opSet, 2, 0, 0, 0)
	p.load(headerAt, 40)
	p.add(opSet, 8, 0, 0, 40)
	p.portOf(headerAt+6, port, "6")
	p.taken(listen, out, "6")
	for i, a := range allow {
		if a.Addr().Unmap().Is4() {
			continue
		}
		next := fmt.Sprint("6/", i)
		b := a.Addr().As16()
		for w := range 4 {
			p.add(opLoadWord, 8, frame, headerAt+far6+int16(4*w), 0)
			p.jump(opDiffers, 8, word(b[4*w:]), next)
		}
		p.allowTaken(listen)
		p.allowPort(a.Port())
		p.mark(next)
	}
	return p.end()
}

// portOf puts the far port of TCP and UDP into register 7, and 0 for other protocols. Register 8
// has the length of the IP header. A header of IPv6 with extensions has no port here: it passes
// only where every port may.
func (p *program) portOf(protocolAt int16, offset int32, version string) {
	known, none := "port"+version, "noport"+version
	p.add(opSet, 7, 0, 0, 0)
	p.add(opLoadByte, 9, frame, protocolAt, 0)
	p.jump(opEqual, 9, unix.IPPROTO_TCP, known)
	p.jump(opDiffers, 9, unix.IPPROTO_UDP, none)
	p.mark(known)
	p.add(opMove, 2, 8, 0, 0)
	p.add(opAdd, 2, 0, 0, offset)
	p.load(portAt, 2)
	p.add(opLoadHalf, 7, frame, portAt, 0)
	p.mark(none)
}

// Parts of a TCP header.
const (
	tcpFlags = 13
	tcpACK   = 0x10 // set in each packet but the first one of who connects
)

// taken sets register 9 to 1 for a packet of a TCP connection that was taken at a port of listen,
// else to 0. A packet that would begin a connection from such a port is none. It needs what portOf
// left: the protocol in register 9 and the length of the IP header in register 8.
func (p *program) taken(listen []uint16, out bool, version string) {
	if len(listen) == 0 {
		return
	}
	near := int16(2) // of an arriving packet the destination
	if out {
		near = 0
	}
	ours, none, done := "ours"+version, "none"+version, "done"+version
	p.jump(opDiffers, 9, unix.IPPROTO_TCP, none)
	p.add(opMove, 2, 8, 0, 0)
	p.load(tcpAt, tcpFlags+1)
	p.add(opLoadHalf, 9, frame, tcpAt+near, 0)
	for _, port := range listen {
		p.jump(opEqual, 9, portWord(port), ours)
	}
	p.jump(opGo, 0, 0, none)
	p.mark(ours)
	if out {
		p.add(opLoadByte, 9, frame, tcpAt+tcpFlags, 0)
		p.add(opAnd, 9, 0, 0, tcpACK)
		p.jump(opEqual, 9, 0, none)
	}
	p.add(opSet, 9, 0, 0, 1)
	p.jump(opGo, 0, 0, done)
	p.mark(none)
	p.add(opSet, 9, 0, 0, 0)
	p.mark(done)
}

// allowTaken allows a packet of which register 9 says that its connection was taken.
func (p *program) allowTaken(listen []uint16) {
	if len(listen) > 0 {
		p.jump(opEqual, 9, 1, "allow")
	}
}

// allowPort allows what is in register 7.
func (p *program) allowPort(port uint16) {
	if port == 0 {
		p.jump(opGo, 0, 0, "allow")
		return
	}
	p.jump(opEqual, 7, portWord(port), "allow")
}

// Offsets in the kernel's struct bpf_sock_addr.
const (
	userIP4  = 4
	userIP6  = 8
	userPort = 24
)

// calls is the filter of connect and sendto: it refuses at once what the filter of packets would
// drop in silence. It is of the program type CGROUP_SOCK_ADDR.
func calls(allow []netip.AddrPort, six bool) []instruction {
	p := newProgram()
	p.add(opLoadWord, 7, 1, userPort, 0)
	for i, a := range allow {
		next := fmt.Sprint(i)
		if !six {
			if !a.Addr().Unmap().Is4() {
				continue
			}
			b := a.Addr().Unmap().As4()
			p.add(opLoadWord, 8, 1, userIP4, 0)
			p.jump(opDiffers, 8, word(b[:]), next)
		} else {
			b := a.Addr().As16() // of IPv4 the mapped form, which sockets of IPv6 use
			for w := range 4 {
				p.add(opLoadWord, 8, 1, userIP6+int16(4*w), 0)
				p.jump(opDiffers, 8, word(b[4*w:]), next)
			}
		}
		p.allowPort(a.Port())
		p.mark(next)
	}
	return p.end()
}

// Types of programs and of their places, of linux/bpf.h.
const (
	typePackets = 8
	typeCalls   = 18

	placeIngress  = 0
	placeEgress   = 1
	placeConnect4 = 10
	placeConnect6 = 11
	placeSend4    = 14
	placeSend6    = 15
)

// filter attaches the filters of some addresses, and of ports at which connections of them are
// taken, to a control group of version 2. They end with the group.
func filter(group int, allow []netip.AddrPort, listen []uint16) error {
	for _, f := range []struct {
		kind, place uint32
		code        []instruction
	}{
		{typePackets, placeEgress, packets(allow, listen, true)}, {typePackets, placeIngress, packets(allow, listen, false)},
		{typeCalls, placeConnect4, calls(allow, false)}, {typeCalls, placeSend4, calls(allow, false)},
		{typeCalls, placeConnect6, calls(allow, true)}, {typeCalls, placeSend6, calls(allow, true)},
	} {
		fd, err := loadProgram(f.kind, f.place, f.code)
		if err != nil {
			return fmt.Errorf("loading the filter of addresses: %w", err)
		}
		err = attach(group, fd, f.place)
		unix.Close(fd) // the group has it
		if err != nil {
			return fmt.Errorf("attaching the filter of addresses: %w", err)
		}
	}
	return nil
}

// loadProgram gives a program to the kernel, which proves that it ends and reads nothing else.
func loadProgram(kind, place uint32, code []instruction) (int, error) {
	license := []byte("MIT\x00")
	attr := struct {
		kind, count          uint32
		code, license        uint64
		logLevel, logSize    uint32
		log                  uint64
		version, flags       uint32
		name                 [16]byte
		ifindex, attachPlace uint32
	}{kind: kind, count: uint32(len(code)), code: uint64(uintptr(unsafe.Pointer(&code[0]))), license: uint64(uintptr(unsafe.Pointer(&license[0]))), attachPlace: place}
	fd, _, errno := unix.Syscall(unix.SYS_BPF, unix.BPF_PROG_LOAD, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr))
	keepAlive(code, license)
	if errno != 0 {
		return -1, errno
	}
	return int(fd), nil
}

func attach(group, fd int, place uint32) error {
	attr := struct{ group, program, place, flags uint32 }{uint32(group), uint32(fd), place, unix.BPF_F_ALLOW_MULTI}
	if _, _, errno := unix.Syscall(unix.SYS_BPF, unix.BPF_PROG_ATTACH, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr)); errno != 0 {
		return errno
	}
	return nil
}
