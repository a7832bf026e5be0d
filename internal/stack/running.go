package stack

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/iikanji/iikanji/internal/host"
)

// Owner is the key under which [Running] returns the process that brought the
// stack up.
const Owner = "owner"

// Running returns the processes of a work folder's stack at this moment: the root
// process of each running service, by the service's name, and the process that
// brought the stack up, as [Owner]. The map is empty if nothing runs. Running takes
// no lock and changes nothing. A caller that watches a stack must call it again,
// because a restarted service has another process.
func Running(dir string) (map[string]int, error) {
	b, err := host.Local{}.Read(filepath.Join(dir, processesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var rec processes
	if err == nil {
		err = json.Unmarshal(b, &rec)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", filepath.Join(dir, processesFile), err)
	}
	if rec.Boot != bootID() || !rec.Supervisor.alive() {
		return nil, nil // the record of a crashed instance
	}
	pids := map[string]int{}
	for _, name := range []string{Database, App, Nginx} { // builds and other jobs are not services
		if p := rec.Services[name]; p.PID != 0 && p.alive() {
			pids[name] = p.PID
		}
	}
	if l, err := os.Open(filepath.Join(dir, lockFile)); err == nil {
		if p := lockOwner(l); p.PID != 0 && p.alive() {
			pids[Owner] = p.PID
		}
		_ = l.Close() // the file was only read
	}
	return pids, nil
}

// OwnerCommand returns the subcommand that an owner was started with, as in
// "bench" or "up", or "" if it cannot be determined.
func OwnerCommand(pid int) string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return ""
	}
	for _, arg := range strings.Split(string(b), "\x00")[1:] {
		if arg != "" && arg[0] != '-' {
			return arg
		}
	}
	return ""
}
