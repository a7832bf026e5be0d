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
	// StackCPUs are the cores that every service is pinned to; nil means all.
	StackCPUs []int
	// Env is added to the environment of every app, as "K=V".
	Env []string
	// Port is the port that clients use; 0 means a free one: the port of the last
	// start if it is still free.
	Port int
	// Fresh moves the webapp and the configs away (into Dir/old/N), lays them
	// out again and starts with empty data folders.
	Fresh bool
	// Progress receives one line for each step, never from two goroutines at
	// once; nil discards the lines.
	Progress func(line string)
	// Tolerate is called with the *DiedError of each service that dies. If it
	// returns true (the service was killed on purpose, or will be started again),
	// the death does not end Use. nil is the same as always false.
	Tolerate func(died error) bool
	// Path is the search path for programs. Empty means $PATH plus the folders
	// of system programs, which a user's PATH often omits.
	Path string
}

// DefaultDir is the work folder of an arena when the user chooses none:
// $XDG_STATE_HOME/iikanji/<arena>, else ~/.local/state/iikanji/<arena>. For
// root without XDG_STATE_HOME it is /var/lib/iikanji/<arena>, the standard place
// for system state: the services' user cannot enter root's home.
func DefaultDir(arena string) (string, error) {
	if arena == "" || arena != filepath.Base(arena) || arena == ".." || arena == "." {
		return "", fmt.Errorf("choosing a work folder: %q is not the name of an arena", arena)
	}
	if x := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(x) { // the XDG specification says to ignore relative paths
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
