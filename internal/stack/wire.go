package stack

import "syscall"

// The words that a stack and its supervisor exchange over a socket, one JSON
// document each way at a time. The end of the stream from the stack's side,
// for whatever reason, is the order to stop everything.

// A spec is a process to start.
type spec struct {
	Name string
	Path string
	Args []string // without the program's name
	Env  []string
	Dir  string
	Log  string // file that gets standard output and error
	CPUs []int  // nil means those of the supervisor
	// UID and GID are whom to run as when Drop is set.
	Drop     bool
	UID, GID int
	// Limits are set before the program is executed.
	Limits []limit
	// Rank orders the end: the highest are stopped first, and the next ones
	// only when these are gone.
	Rank int
	Stop []stopStep
	// Sweep are paths to remove, in this order, once the process has ended.
	Sweep []string
}

// A stopStep is a signal and how long to wait for its effect. After the last
// one comes SIGKILL for the whole process group.
type stopStep struct {
	Signal syscall.Signal
	WaitMS int
}

type op string

const (
	opStart op = "start"
	opStop  op = "stop" // one process, by its name
	opDown  op = "down" // all, in order
	opKill  op = "kill" // all, at once
	opTell  op = "tell" // one process, by its name: a signal
)

type request struct {
	ID   int
	Op   op
	Name string `json:",omitempty"`
	Spec *spec  `json:",omitempty"`
	// Signal is what opTell sends.
	Signal syscall.Signal `json:",omitempty"`
}

type event struct {
	// ID is the request's that is answered; 0 means that a process has ended.
	ID     int    `json:",omitempty"`
	Error  string `json:",omitempty"`
	Name   string `json:",omitempty"`
	Proc   *proc  `json:",omitempty"`
	Status string `json:",omitempty"` // as in "exit status 1"
	OK     bool   `json:",omitempty"` // the status is 0
	Asked  bool   `json:",omitempty"` // it was told to end
}

// processes is the file processes.json: who of this machine's processes is
// ours, written by the supervisor before it starts anything.
type processes struct {
	Boot       string          `json:"boot"`
	Supervisor proc            `json:"supervisor"`
	Services   map[string]proc `json:"services"`
}

// supervisorName is argv[0] of a supervisor; argv[1] is its folder. The socket
// is its descriptor 3, the folder's lock 4.
const supervisorName = "iikanji-supervisor"

// supervisorVariable is set for supervisors only: one that finds it when it
// wants a supervisor itself is a program that never became one.
const supervisorVariable = "IIKANJI_SUPERVISOR"

const (
	socketFD = 3
	lockFD   = 4
)
