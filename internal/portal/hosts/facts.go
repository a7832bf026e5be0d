package hosts

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji/internal/portal/api"
)

// ReadFacts reads what this machine is.
func ReadFacts(now time.Time) (api.HostFacts, error) {
	f := api.HostFacts{CPU: runtime.NumCPU(), Now: now}
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return f, fmt.Errorf("reading the machine's name: %w", err)
	}
	f.Name, f.Kernel = unix.ByteSliceToString(name.Nodename[:]), unix.ByteSliceToString(name.Release[:])
	var memory unix.Sysinfo_t
	if err := unix.Sysinfo(&memory); err != nil {
		return f, fmt.Errorf("reading the machine's memory: %w", err)
	}
	f.Memory, f.Swap = int64(memory.Totalram)*int64(memory.Unit), int64(memory.Totalswap)*int64(memory.Unit)
	var disk unix.Statfs_t
	if err := unix.Statfs("/", &disk); err != nil {
		return f, fmt.Errorf("reading the free space: %w", err)
	}
	f.Free = int64(disk.Bavail) * disk.Bsize
	f.System = system("/etc/os-release")
	return f, nil
}

// system is the name of the distribution; "" if it is not known.
func system(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), "PRETTY_NAME="); ok {
			if text, err := strconv.Unquote(value); err == nil {
				return text
			}
			return value
		}
	}
	return ""
}

// sshKeys are the public host keys in a folder, without their comments.
func sshKeys(dir string) (keys []string) {
	files, _ := filepath.Glob(filepath.Join(dir, "ssh_host_*_key.pub")) // the pattern is well formed
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // a machine without a server of SSH has none
		}
		if words := strings.Fields(string(text)); len(words) >= 2 {
			keys = append(keys, words[0]+" "+words[1])
		}
	}
	slices.Sort(keys)
	return keys
}
