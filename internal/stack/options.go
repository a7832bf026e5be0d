package stack

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Options configure Up. The zero value brings the stack up in the default
// folder, not pinned to any core.
type Options struct {
	// Dir is the work folder; empty means DefaultDir of the arena's name.
	Dir string
	// StackCPUs are the cores on which every service runs; nil means all.
	StackCPUs []int
	// Env is added to the app's environment, as "K=V".
	Env []string
	// Port is where nginx answers; 0 means a free one, the same as last time
	// where it is still free.
	Port int
	// Fresh moves the webapp and the configs out of the way (into Dir/old/N),
	// lays them anew and starts from an empty database.
	Fresh bool
	// Progress is told what is being done, one line at a time and never from
	// two goroutines at once; nil means nobody is told.
	Progress func(line string)
	// Spare is asked of each service that dies, with the *DiedError: what it
	// spares (somebody killed it on purpose, or will start it again) does not
	// end Use. nil spares nothing.
	Spare func(died error) bool
	// Path is where programs are looked for; empty means $PATH and the
	// folders for system programs, which a user's PATH often leaves out.
	Path string
}

// DefaultDir is the work folder of an arena when none is chosen:
// $XDG_STATE_HOME/iikanji/<arena>, else ~/.local/state/iikanji/<arena>. For
// root without XDG_STATE_HOME it is /var/lib/iikanji/<arena>, the place for a
// system's state: root's home is closed to the user that the services run as.
func DefaultDir(arena string) (string, error) {
	if arena == "" || arena != filepath.Base(arena) || arena == ".." || arena == "." {
		return "", fmt.Errorf("choosing a work folder: %q is no arena's name", arena)
	}
	if x := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(x) { // the XDG rule: others are ignored
		return filepath.Join(x, "iikanji", arena), nil
	}
	if os.Geteuid() == 0 {
		return filepath.Join("/var/lib/iikanji", arena), nil
	}
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		return "", errors.New("choosing a work folder: neither HOME nor XDG_STATE_HOME is set")
	}
	return filepath.Join(home, ".local", "state", "iikanji", arena), nil
}
