package peer

import (
	"io/fs"
	"syscall"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// protocol is the version of the calls: both ends are the same program, and refuse another.
const protocol = 2

// A hello is the first call: what the far end may do, from then on.
type hello struct {
	Protocol int
	Folders  []string // that may be written
	Claim    Claim    // of a near end that writes
}

// A welcome is the answer to hello.
type welcome struct {
	Hostname string
	Account  host.Owner
	Login    string // the account's name
	PID      int
}

// The arguments of the calls of host.Host, by their form.
type (
	onePath struct{ Path string }
	onePerm struct {
		Path string
		Perm fs.FileMode
	}
	twoPaths struct{ From, Path string } // Symlink's target and path, or a root and a path below
	beneath  struct {
		Root, Path string
		As         host.New
	}
	chown struct {
		Path string
		To   host.Owner
	}
	sendSignal struct {
		PID    int
		Signal int
	}
	dialTo struct{ Network, Address string }
	handle struct{ ID uint64 }
	part   struct {
		ID     uint64
		Offset int64
		Length int
	}
)

// A program is a host.Command on the stream.
type program struct {
	Path string
	Args []string
	Env  []string
	Dir  string
	As   *syscall.Credential
}

// The values of the answers.
type (
	status struct{ Status int }
	opened struct {
		ID   uint64
		Info *fileInfo
	}
	held struct {
		ID    uint64
		Taken bool
	}
)
