package stack

import (
	"fmt"
	"strings"
)

// The errors below are typed because callers branch on them or print their
// hints: each has Hints, lines that say what a person can do.

// A BusyError says that another process runs a stack in the folder.
type BusyError struct {
	Dir string
	PID int
	URL string // where that stack answers, if known
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("process %d runs a stack in %s already", e.PID, e.Dir)
}

// Hints name the two ways out: another folder, or that stack's URL.
func (e *BusyError) Hints() []string {
	h := []string{"end it with Ctrl-C there, or choose another folder with --dir"}
	if e.URL != "" {
		h = append(h, "it answers at "+e.URL+", which iikanji bench can load with --url")
	}
	return h
}

// A MissingError says that programs are not installed.
type MissingError struct {
	Program string // several are separated by ", "
	Package string // Debian's, separated by spaces; empty for the Go toolchain
}

func (e *MissingError) Error() string {
	if strings.Contains(e.Program, ",") {
		return e.Program + " are not installed"
	}
	return e.Program + " is not installed"
}

// Hints give the line to install it.
func (e *MissingError) Hints() []string {
	if e.Package == "" {
		return []string{"install Go from https://go.dev/dl/ and put its bin folder into PATH"}
	}
	return []string{"sudo apt-get install -y " + e.Package}
}

// A PortError says that a port cannot be had.
type PortError struct {
	Service string
	Port    int
	PID     int    // of the process that listens there; 0 if it is not ours to see
	Program string // its name
	// Edited is a config that a person edited and that names another port than
	// the one wished for; nobody has taken anything then.
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

// Hints say how to get another port.
func (e *PortError) Hints() []string {
	if e.Edited != "" {
		return []string{"change the port in it, or delete it to have it rendered again"}
	}
	return []string{"end that program, or choose another port (one that an edited config names is kept)"}
}

// A DiskFullError says that the folder's disk (or quota) has no room left.
type DiskFullError struct {
	Path string
	Free int64 // bytes free to us on that disk, after what was half written is gone
	Need int64 // bytes wanted, 0 if a write failed in the middle
	Err  error // what failed, nil if this was asked in advance
}

func (e *DiskFullError) Error() string {
	const mib = 1 << 20
	if e.Err == nil {
		return fmt.Sprintf("%s has %d MiB free, the stack needs about %d MiB", e.Path, e.Free/mib, e.Need/mib)
	}
	return fmt.Sprintf("the disk of %s is full: %v", e.Path, e.Err)
}

func (e *DiskFullError) Unwrap() error { return e.Err }

// Hints say where else to go.
func (e *DiskFullError) Hints() []string {
	return []string{"make room there, or choose a folder on another disk with --dir"}
}

// A BuildError says that the app does not build.
type BuildError struct {
	Source string
	Lines  []string // the compiler's
	Log    string   // file with all of its output
	// Network: modules are missing from the module cache and could not be fetched.
	Network bool
	// Toolchain: go.mod asks for a newer Go than the one installed.
	Toolchain bool
}

func (e *BuildError) Error() string {
	return withLines(fmt.Sprintf("building the app in %s", e.Source), e.Lines)
}

// Hints say where the source is, or what to fetch.
func (e *BuildError) Hints() []string {
	if e.Toolchain {
		return []string{"the Go toolchain is older than " + e.Source + "/go.mod asks for: install a newer one from https://go.dev/dl/"}
	}
	if e.Network {
		return []string{"the app's modules are not in the module cache: run go mod download in " + e.Source + " once with a network"}
	}
	return []string{"edit " + e.Source + ", or restore the arena's source with --fresh"}
}

// A DiedError says that a service ended without being asked to.
type DiedError struct {
	Service string
	Status  string   // as in "exit status 1" or "signal: killed"
	Tail    []string // last lines of its log
	Log     string
}

func (e *DiedError) Error() string {
	return withLines(fmt.Sprintf("the %s died (%s)", e.Service, e.Status), e.Tail)
}

// Hints name the log.
func (e *DiedError) Hints() []string { return []string{"its log is " + e.Log} }

// A NotReadyError says that a service runs but did not answer in time.
type NotReadyError struct {
	Service string
	Waited  string // as in "30s"
	Last    error  // what the last question yielded
	Log     string
}

func (e *NotReadyError) Error() string {
	return fmt.Sprintf("the %s does not answer after %s: %v", e.Service, e.Waited, e.Last)
}

func (e *NotReadyError) Unwrap() error { return e.Last }

// Hints name the log.
func (e *NotReadyError) Hints() []string { return []string{"its log is " + e.Log} }

// A ConfigError says that a service refuses its configuration.
type ConfigError struct {
	Service string
	Path    string
	Lines   []string // what the service says of it
}

func (e *ConfigError) Error() string {
	return withLines(fmt.Sprintf("the %s config is invalid", e.Service), e.Lines)
}

// Hints name the file.
func (e *ConfigError) Hints() []string {
	return []string{"edit " + e.Path + ", or delete it to have it rendered again"}
}

// A ReachError says that the user that the services run as cannot reach the folder.
type ReachError struct {
	Dir, User string
}

func (e *ReachError) Error() string {
	return fmt.Sprintf("user %s, who runs the services when root starts them, cannot reach %s", e.User, e.Dir)
}

// Hints give a folder that works.
func (e *ReachError) Hints() []string {
	return []string{"choose a folder below /var/lib or /tmp with --dir, or start iikanji as another user than root"}
}

// A ForeignDirError says that a folder is not this stack's to use.
type ForeignDirError struct {
	Dir   string
	Entry string // something in it that no stack puts there
	Owner string // or: the user whose it is
	Arena string // or: the arena that it holds
}

func (e *ForeignDirError) Error() string {
	switch {
	case e.Owner != "":
		return fmt.Sprintf("%s belongs to user %s", e.Dir, e.Owner)
	case e.Arena != "":
		return fmt.Sprintf("%s is the work folder of another arena, %s", e.Dir, e.Arena)
	}
	return fmt.Sprintf("%s is no work folder of a stack: it holds %q", e.Dir, e.Entry)
}

// Hints ask for another folder.
func (e *ForeignDirError) Hints() []string {
	return []string{"choose an empty or a new folder with --dir"}
}

// withLines puts indented lines below a message.
func withLines(message string, lines []string) string {
	if len(lines) == 0 {
		return message
	}
	return message + ":\n  " + strings.Join(lines, "\n  ")
}
