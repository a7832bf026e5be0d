package process

import (
	"encoding/binary"
	"os"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// Programs such as nginx, php-fpm and puma write a title over their command line. The
// memory that the kernel gave it is filled with NUL bytes behind a shorter title; a longer
// one extends into the environment. Neither the command line nor its number of words is
// left there. What such a process shows must not be taken for its command line: php-fpm,
// started with the words of its title, serves another pool.

// ShowsTitle reports whether a process shows a title in place of its command line.
func (p *Process) ShowsTitle(h host.Host) bool {
	raw, err := h.Read(p.file("cmdline"))
	if err != nil {
		return false
	}
	stat, _ := h.Read(p.file("stat")) // without it, the text alone decides
	at := memoryOf(string(stat))
	words := 0
	if _, here := h.(host.Local); here && at.stack != 0 {
		words = argumentCount(p.PID, at.stack)
	}
	return isTitle(string(raw), p.Program, at.arguments, words)
}

// isTitle decides by the content of /proc/PID/cmdline. size is the number of bytes that
// the kernel gave to the command line, words the number of its words; 0 where unknown.
func isTitle(raw, program string, size uint64, words int) bool {
	text := strings.TrimRight(raw, "\x00")
	switch {
	case text == "":
		return false
	case len(raw)-len(text) != 1: // padded, or longer than the command line
		return true
	case size != 0 && uint64(len(raw)) != size:
		return true
	}
	shown := strings.Count(text, "\x00") + 1
	if words != 0 {
		return shown != words
	}
	return shown == 1 && strings.Contains(text, " ") && text != program
}

// A memory is where the kernel has put the command line of a process. All fields are 0
// where it does not show that.
type memory struct {
	stack     uint64 // address of the first stack's top, which has the number of arguments
	arguments uint64 // size of the command line in bytes
}

// memoryOf parses the content of /proc/PID/stat.
func memoryOf(stat string) memory {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	number := func(field int) uint64 { // as proc_pid_stat(5) counts them; the third is the first here
		if field-3 >= len(fields) {
			return 0
		}
		n, _ := strconv.ParseUint(fields[field-3], 10, 64) // a field that is no number is unknown
		return n
	}
	const startstack, argStart, argEnd = 28, 48, 49
	m := memory{stack: number(startstack)}
	if begin, end := number(argStart), number(argEnd); end > begin {
		m.arguments = end - begin
	}
	return m
}

// mostArguments is more than any server has.
const mostArguments = 1 << 16

// argumentCount reads with how many words a process of this machine was started: programs
// read the number there and do not change it. It is 0 where the memory cannot be read.
func argumentCount(pid int, stack uint64) int {
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/mem")
	if err != nil {
		return 0
	}
	defer f.Close()
	word := make([]byte, strconv.IntSize/8)
	if _, err := f.ReadAt(word, int64(stack)); err != nil {
		return 0
	}
	n := uint64(0)
	if len(word) == 8 {
		n = binary.NativeEndian.Uint64(word)
	} else {
		n = uint64(binary.NativeEndian.Uint32(word))
	}
	if n > mostArguments {
		return 0
	}
	return int(n)
}
