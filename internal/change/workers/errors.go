package workers

import (
	"errors"
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/appserver"
)

var errNoProcess = errors.New("the service has no running process to read its processes and threads from")

// A StateError is state in the memory of the app's process that further processes or
// threads would break.
type StateError struct {
	State appserver.State
	Why   string
}

func (e *StateError) Error() string {
	return fmt.Sprintf("the app keeps %s in the memory of its process: %s", e.State, e.Why)
}

// A NoPlaceError is a setting whose deciding place iikanji cannot edit.
type NoPlaceError struct {
	Server  appserver.Server
	Setting string // processes or threads
	Decides string // what decides it; "" for nothing
	Err     error
}

func (e *NoPlaceError) Error() string {
	if e.Decides == "" {
		return fmt.Sprintf("setting the %s of %s: %v", e.Setting, e.Server, e.Err)
	}
	return fmt.Sprintf("setting the %s of %s, which %s decides: %v", e.Setting, e.Server, e.Decides, e.Err)
}

func (e *NoPlaceError) Unwrap() error { return e.Err }

// A MemoryError is a number of processes for which the memory does not suffice.
type MemoryError struct {
	More       int
	Each, Free iikanji.Bytes
	Reserve    iikanji.Bytes
}

func (e *MemoryError) Error() string {
	return fmt.Sprintf("%d more processes take up to %s of memory (%s each), and %s are available, of which %s stay free", e.More, iikanji.Bytes(e.More)*e.Each, e.Each, e.Free, e.Reserve)
}

// A ConnectionsError is a number of threads that may need more connections than a
// database takes.
type ConnectionsError struct {
	Database     string
	Wanted, Most int
}

func (e *ConnectionsError) Error() string {
	return fmt.Sprintf("all threads may hold %d connections, and %s takes %d (max_connections), of which %d stay free", e.Wanted, e.Database, e.Most, reservedConnections)
}
