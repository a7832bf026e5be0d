package stack

import (
	"fmt"
	"strings"
)

// The errors below are typed because callers branch on them or print their
// hints. Each has Hints: lines with what the user can do.

// A BusyError means that another process already runs a stack in the folder.
type BusyError struct {
	Dir string
	PID int
	URL string // URL of that stack, if known
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("process %d already runs a stack in %s", e.PID, e.Dir)
}

// Hints names the two options: another folder, or that stack's URL.
func (e *BusyError) Hints() []string {
	h := []string{"end it with Ctrl-C there, or choose another folder with --dir"}
	if e.URL != "" {
		h = append(h, "it answers at "+e.URL+", which iikanji bench can load with --url")
	}
	return h
}

// A MissingError means that programs are not installed.
type MissingError struct {
	Program string // several are separated by ", "
	Package string // Debian packages, separated by spaces; empty for the Go toolchain
}

func (e *MissingError) Error() string {
	if strings.Contains(e.Program, ",") {
		return e.Program + " are not installed"
	}
	return e.Program + " is not installed"
}

// Hints gives the command that installs it.
func (e *MissingError) Hints() []string {
	if e.Package == "" {
		return []string{"install Go from https://go.dev/dl/ and put its bin folder into PATH"}
	}
	return []string{"sudo apt-get install -y " + e.Package}
}

// A PortError means that a port is not available.
type PortError struct {
	Service string
	Port    int
	PID     int    // process that listens on the port; 0 if it cannot be seen
	Program string // name of that process
	// Edited is a user-edited config that names another port than the requested
	// one. In this case no other process has the port.
	Edited string
}

func (e *PortError) Error() string {
	if e.Edited != "" {
		return fmt.Sprintf("%s is edited, so it cannot be given port %d", e.Edited, e.Port)
	}
	by := "another program"
	if e.PID != 0 {
		by = fmt.Sprintf("%s (process %d)", e.Program, e.PID)
	}
	return fmt.Sprintf("port %d for the %s is taken by %s", e.Port, e.Service, by)
}

// Hints describes how to choose another port.
func (e *PortError) Hints() []string {
	if e.Edited != "" {
		return []string{"change the port in it, or delete it to have it rendered again"}
	}
	return []string{"end that program, or choose another port (one that an edited config names is kept)"}
}

// A DiskFullError means that the folder's disk is full, or a quota is used up.
type DiskFullError struct {
	Path string
	Free int64 // bytes available on that disk, after partly written files were removed
	Need int64 // bytes needed; 0 if a write failed
	Err  error // the failed operation; nil if the space was checked beforehand
}

func (e *DiskFullError) Error() string {
	const mib = 1 << 20
	if e.Err == nil {
		return fmt.Sprintf("%s has %d MiB free, the stack needs about %d MiB", e.Path, e.Free/mib, e.Need/mib)
	}
	return fmt.Sprintf("the disk of %s is full: %v", e.Path, e.Err)
}

func (e *DiskFullError) Unwrap() error { return e.Err }

// Hints names the ways to get more space.
func (e *DiskFullError) Hints() []string {
	return []string{"make room there, or choose a folder on another disk with --dir"}
}

// A DiedError means that a service ended although the stack did not stop it.
type DiedError struct {
	Service string
	Status  string   // as in "exit status 1" or "signal: killed"
	Tail    []string // last lines of its log
	Log     string
}

func (e *DiedError) Error() string {
	return withLines(fmt.Sprintf("the %s died (%s)", e.Service, e.Status), e.Tail)
}

// Hints names the log.
func (e *DiedError) Hints() []string { return []string{"its log is " + e.Log} }

// A NotReadyError means that a service runs but did not answer in time.
type NotReadyError struct {
	Service string
	Waited  string // as in "30s"
	Last    error  // error of the last poll
	Log     string
}

func (e *NotReadyError) Error() string {
	return fmt.Sprintf("the %s does not answer after %s: %v", e.Service, e.Waited, e.Last)
}

func (e *NotReadyError) Unwrap() error { return e.Last }

// Hints names the log.
func (e *NotReadyError) Hints() []string { return []string{"its log is " + e.Log} }

// A ConfigError means that a service rejects its configuration.
type ConfigError struct {
	Service string
	Path    string
	Lines   []string // messages of the service
}

func (e *ConfigError) Error() string {
	return withLines(fmt.Sprintf("the %s config is invalid", e.Service), e.Lines)
}

// Hints names the file.
func (e *ConfigError) Hints() []string {
	return []string{"edit " + e.Path + ", or delete it to have it rendered again"}
}

// A ReachError means that the services' user cannot enter the folder.
type ReachError struct {
	Dir, User string
}

func (e *ReachError) Error() string {
	return fmt.Sprintf("user %s, under which the services run when root starts them, cannot reach %s", e.User, e.Dir)
}

// Hints suggests folders that work.
func (e *ReachError) Hints() []string {
	return []string{"choose a folder below /var/lib or /tmp with --dir, or start iikanji as another user than root"}
}

// A ForeignDirError means that the folder is not a work folder of this stack.
type ForeignDirError struct {
	Dir   string
	Entry string // an entry that no stack creates
	Owner string // or: the other user that owns the folder
	Arena string // or: the other arena that the folder belongs to
}

func (e *ForeignDirError) Error() string {
	switch {
	case e.Owner != "":
		return fmt.Sprintf("%s belongs to user %s", e.Dir, e.Owner)
	case e.Arena != "":
		return fmt.Sprintf("%s is the work folder of another arena, %s", e.Dir, e.Arena)
	}
	return fmt.Sprintf("%s is not a work folder of a stack: it holds %q", e.Dir, e.Entry)
}

// Hints proposes another folder.
func (e *ForeignDirError) Hints() []string {
	return []string{"choose an empty or a new folder with --dir"}
}

// withLines appends indented lines to a message.
func withLines(message string, lines []string) string {
	if len(lines) == 0 {
		return message
	}
	return message + ":\n  " + strings.Join(lines, "\n  ")
}
