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

// Owner is the name under which [Running] gives the process that brought the
// stack up.
const Owner = "owner"

// Running asks a work folder which processes a stack has at this moment: the
// root process of each service that runs, by the service's name, and the
// process that brought it up as [Owner]. It is empty where nothing runs. It
// takes no lock and changes nothing; a caller who watches asks again, as a
// service that restarts has another process.
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
		return nil, nil // what a crash left
	}
	pids := map[string]int{}
	for _, name := range []string{Database, App, Nginx} { // builds and the like are no services
		if p := rec.Services[name]; p.PID != 0 && p.alive() {
			pids[name] = p.PID
		}
	}
	if l, err := os.Open(filepath.Join(dir, lockFile)); err == nil {
		if p := lockOwner(l); p.PID != 0 && p.alive() {
			pids[Owner] = p.PID
		}
		_ = l.Close() // was only read
	}
	return pids, nil
}

// OwnerCommand is the command that an owner was started with, as in "bench"
// or "up"; "" where it cannot be known.
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
