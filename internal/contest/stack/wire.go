package stack

import "syscall"

// The messages between a stack and its supervisor over a socket, as a stream of
// JSON documents in each direction. When the stack's end of the stream closes, for
// any reason, the supervisor stops everything.

// A spec is a process to start.
type spec struct {
	Name string
	Path string
	Args []string // without the program's name
	Env  []string
	Dir  string
	Log  string // file for standard output and standard error
	CPUs []int  // nil means the supervisor's
	// UID and GID are the user to run as if Drop is set.
	Drop     bool
	UID, GID int
	// Limits are set before the program is executed.
	Limits []limit
	// Rank orders the shutdown: processes of the highest rank are stopped first,
	// and those of the next rank only after these have ended.
	Rank int
	Stop []stopStep
	// Sweep are paths to remove, in this order, after the process has ended.
	Sweep []string
}

// A stopStep is a signal and how long to wait for its effect. After the last
// step the whole process group gets SIGKILL.
type stopStep struct {
	Signal syscall.Signal
	WaitMS int
}

type op string

const (
	opStart  op = "start"
	opStop   op = "stop" // one process, by its name
	opDown   op = "down" // all, in order
	opKill   op = "kill" // all, at once
	opSignal op = "tell" // send a signal to one process, by its name
)

type request struct {
	ID   int
	Op   op
	Name string `json:",omitempty"`
	Spec *spec  `json:",omitempty"`
	// Signal is the signal for opSignal.
	Signal syscall.Signal `json:",omitempty"`
}

type event struct {
	// ID is that of the answered request; 0 means that a process has ended.
	ID      int    `json:",omitempty"`
	Error   string `json:",omitempty"`
	Name    string `json:",omitempty"`
	Proc    *proc  `json:",omitempty"`
	Status  string `json:",omitempty"` // as in "exit status 1"
	OK      bool   `json:",omitempty"` // the status is 0
	Stopped bool   `json:",omitempty"` // the stack ended it
}

// processes is the file processes.json: the processes of this stack. The
// supervisor writes it before it starts any process.
type processes struct {
	Boot       string          `json:"boot"`
	Supervisor proc            `json:"supervisor"`
	Services   map[string]proc `json:"services"`
	Jobs       map[string]proc `json:"jobs,omitempty"` // builds, checks and other processes that are no service
}

// supervisorName is argv[0] of a supervisor; argv[1] is its folder. Descriptor
// 3 is the socket, descriptor 4 the folder's lock.
const supervisorName = "iikanji-supervisor"

// supervisorVariable is set only for supervisors. A process that has it set when
// it starts a supervisor is a supervisor that never called MaybeSupervise.
const supervisorVariable = "IIKANJI_SUPERVISOR"

const (
	socketFD = 3
	lockFD   = 4
)
