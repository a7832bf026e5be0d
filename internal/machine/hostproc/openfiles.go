package hostproc

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// An OpenFile is a descriptor of a process that leads to a file.
type OpenFile struct {
	Path  string // as the kernel names it; a removed file has " (deleted)" at the end
	Write bool   // it is open for writing
}

// OpenFiles lists the files that a process has open. Descriptors that are closed
// meanwhile, and those of sockets and pipes, are left out.
func OpenFiles(h host.Host, pid int) ([]OpenFile, error) {
	return openFilesTask().On(context.Background(), h, pid)
}

func readOpenFiles(h host.Host, pid int) ([]OpenFile, error) {
	entries, err := h.ReadDir(file(pid, "fd"))
	if err != nil {
		return nil, fmt.Errorf("listing the open files of process %d: %w", pid, err)
	}
	var out []OpenFile
	for _, e := range entries {
		path, err := h.Readlink(file(pid, "fd/"+e.Name()))
		if err != nil || !filepath.IsAbs(path) {
			continue
		}
		text, err := h.Read(file(pid, "fdinfo/"+e.Name()))
		if err != nil {
			continue
		}
		out = append(out, OpenFile{Path: path, Write: writes(string(text))})
	}
	return out, nil
}

// Standard is the file that a process has as descriptor 0, 1 or 2; "" for a terminal, a
// pipe, a socket or a removed file.
func Standard(h host.Host, pid, descriptor int) string {
	path, err := h.Readlink(file(pid, "fd/"+strconv.Itoa(descriptor)))
	if err != nil || !filepath.IsAbs(path) {
		return ""
	}
	if info, err := h.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return path
}

// accessMode is the part of a descriptor's flags that has its access mode; 0 is
// O_RDONLY.
const accessMode = 3

// writes reads the access mode of an fdinfo file, whose flags are octal. Flags that
// cannot be read count as writing.
func writes(text string) bool {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, "flags:"); ok {
			flags, err := strconv.ParseUint(strings.TrimSpace(value), 8, 64)
			return err != nil || flags&accessMode != 0
		}
	}
	return true
}
