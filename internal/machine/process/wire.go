package process

import "syscall"

// The messages between iikanji and a supervisor over a socket, as a stream of JSON
// documents in each direction. When iikanji's end closes, for any reason, the supervisor
// stops everything, or starts what it owes; see Options.

type op string

const (
	opStart  op = "start"
	opStop   op = "stop" // one process, by its name
	opDown   op = "down" // all, in order
	opKill   op = "kill" // all, at once
	opSignal op = "tell" // send a signal to one process, by its name
	opHold   op = "hold" // end a process that another program started, and owe the start of another
)

type request struct {
	ID   int
	Op   op
	Name string         `json:",omitempty"`
	Spec *Spec          `json:",omitempty"` // of opStart and opHold
	End  *End           `json:",omitempty"` // of opHold
	Sig  syscall.Signal `json:",omitempty"` // of opSignal
}

type event struct {
	// ID is that of the answered request; 0 means that a process has ended.
	ID      int    `json:",omitempty"`
	Error   string `json:",omitempty"`
	Name    string `json:",omitempty"`
	Proc    *ID    `json:",omitempty"`
	Status  string `json:",omitempty"` // as in "exit status 1"
	OK      bool   `json:",omitempty"` // the status is 0
	Stopped bool   `json:",omitempty"` // iikanji ended it
}

// A Record is the file that has the processes of a supervisor. It is written before any
// process is started.
type Record struct {
	Boot       string        `json:"boot"`
	Supervisor ID            `json:"supervisor"`
	Services   map[string]ID `json:"services"`
	Jobs       map[string]ID `json:"jobs,omitempty"` // builds, checks and other processes that are no service
}

// supervisorName is argv[0] of a supervisor; argv[1] has its supervised. Descriptor 3 is
// the socket; the next ones are inherited files.
const supervisorName = "iikanji-supervisor"

// supervisorVariable is set only for supervisors. A process that has it set when
// it starts a supervisor is a supervisor that never called MaybeSupervise.
const supervisorVariable = "IIKANJI_SUPERVISOR"

// Descriptors of a supervisor. Those behind the socket are the standard files of the
// process that it starts, for a supervisor that outlives iikanji, and else a lock.
const (
	socketFD = 3
	filesFD  = 4
)

// supervised is what a supervisor is told at its start.
type supervised struct {
	Record   string // file; "" for none
	Outlives bool
}
