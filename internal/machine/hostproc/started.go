package hostproc

import (
	"fmt"
	"strings"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// Args reads the command line of a process, with the program's name first. A program
// that has written a title over it, as nginx does, has one argument: the title. A
// process of the kernel has none.
func Args(h host.Host, pid int) ([]string, error) {
	text, err := h.Read(file(pid, "cmdline"))
	if err != nil {
		return nil, fmt.Errorf("reading the command line of process %d: %w", pid, err)
	}
	return ParseArgs(string(text)), nil
}

// ParseArgs parses the content of /proc/PID/cmdline. A title is padded with NUL bytes.
func ParseArgs(text string) []string {
	text = strings.TrimRight(text, "\x00")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\x00")
}

// Title reads the words of a command line or title with blanks between them.
func Title(h host.Host, pid int) (string, error) {
	args, err := Args(h, pid)
	return strings.TrimSpace(strings.Join(args, " ")), err
}

// Env reads the variables with which a process was started, as "K=V". They may hold
// secrets. The error wraps fs.ErrPermission for another user's process.
func Env(h host.Host, pid int) ([]string, error) {
	text, err := h.Read(file(pid, "environ"))
	if err != nil {
		return nil, fmt.Errorf("reading the environment of process %d: %w", pid, err)
	}
	var env []string
	for kv := range strings.SplitSeq(string(text), "\x00") {
		if strings.Contains(kv, "=") {
			env = append(env, kv)
		}
	}
	return env, nil
}
