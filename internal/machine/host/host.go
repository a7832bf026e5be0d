package host

import (
	"context"
	"database/sql"
	"io"
	"io/fs"
	"net"
	"os"
	"syscall"
)

// A Host is one machine. All reads and effects on it go through these methods, so
// that the same code works on this machine, over a connection, and in tests. Paths
// are absolute paths on the host. Errors wrap the errors of package fs
// (fs.ErrNotExist, fs.ErrPermission).
//
// Methods that may wait take a context. Reads of small files take none: they do
// not wait for another process.
type Host interface {
	// Name is the HostRef.Name of the host; "" for this machine.
	Name() string

	// Exec runs a command to its end; see Local.Exec.
	Exec(ctx context.Context, c Command) (Result, error)

	// Read returns a file's whole content.
	Read(path string) ([]byte, error)
	// Open opens a file for reading from any offset.
	Open(path string) (File, error)
	// Stat describes a file; Lstat does not follow a symbolic link.
	Stat(path string) (fs.FileInfo, error)
	Lstat(path string) (fs.FileInfo, error)
	// ReadDir lists a folder, sorted by name.
	ReadDir(path string) ([]fs.DirEntry, error)
	// Readlink returns the target of a symbolic link, RealPath the path without any.
	Readlink(path string) (string, error)
	RealPath(path string) (string, error)
	// Glob lists the paths that match a pattern, sorted by name.
	Glob(pattern string) ([]string, error)
	// Walk calls fn for a folder and everything below it; see fs.WalkDir.
	Walk(root string, fn fs.WalkDirFunc) error

	// Write replaces a file's content atomically; see Local.Write.
	Write(path string, body []byte, perm os.FileMode) error
	// ReadBeneath, WriteBeneath and RemoveBeneath act on a file below a folder, both
	// by their paths without links. They follow no link, whenever it was made: the
	// error wraps ErrLink then, or ErrOutside for a path that is not below.
	ReadBeneath(root, path string) ([]byte, error)
	WriteBeneath(root, path string, body []byte, as New) error
	RemoveBeneath(root, path string) error
	// RmdirBeneath removes a folder below another one in the same way, if it is empty.
	// A folder that is missing or has files is not an error.
	RmdirBeneath(root, path string) error
	// Create makes a new file with exactly these permissions. If there is anything
	// at path, also a dangling link, the error wraps fs.ErrExist.
	Create(path string, body []byte, perm os.FileMode) error
	// Symlink makes a symbolic link at path.
	Symlink(target, path string) error
	// Remove removes a file durably; see Local.Remove.
	Remove(path string) error
	// RemoveAll removes a folder with its content, or a file.
	RemoveAll(path string) error
	// Rmdir removes an empty folder.
	Rmdir(path string) error
	// Mkdir makes a folder with exactly these permissions.
	Mkdir(path string, perm os.FileMode) error
	// Chown gives a file or a link to another user and group.
	Chown(path string, to Owner) error
	// Replaceable returns an error if Write would change the kind of what is at path;
	// see Local.Replaceable.
	Replaceable(path string) error

	// Hold locks a file or a folder against other holders. The lock lasts until it
	// is closed, or until this process or its connection to the host has ended. It is
	// nil without an error if another process holds path, or nothing is there.
	Hold(path string) (io.Closer, error)
	// Account is the owner of the files that Create makes: the account that acts on
	// the host.
	Account() (Owner, error)
	// User looks an account of the host up by its name.
	User(name string) (User, error)

	// FreeSpace is how many bytes an unprivileged user may still write to the
	// file system of a path.
	FreeSpace(path string) (int64, error)

	// Signal sends a signal to a process.
	Signal(pid int, sig syscall.Signal) error
	// ProcFolder returns the folder of this machine where the host's /proc can be
	// read, for readers of many small files; "" if there is none.
	ProcFolder() string

	// Dial connects to an address or a unix socket of the host.
	Dial(ctx context.Context, network, address string) (net.Conn, error)
	// SQL opens a pool to a database server with the MySQL protocol.
	SQL(login Login) (*sql.DB, error)
}

// New is what a new file gets. An existing one keeps its own.
type New struct {
	Perm  os.FileMode // with special bits, regardless of the umask
	Owner *Owner      // nil: the account of this process
	// Folder: make the file's folder if it is missing, but not the one above it.
	Folder bool
}

// A File is an open file of a host.
type File interface {
	io.Reader
	io.ReaderAt
	io.Closer
	Stat() (fs.FileInfo, error)
}

// A Login is the address of a database server and the account to use.
type Login struct {
	Socket  string // path of the unix socket; empty: Address
	Address string // host:port
	// User is the account; empty means the account of this process, which the
	// server accepts through its socket without a password.
	User, Password string
	Schema         string
	// Idle is how many idle connections the pool keeps.
	Idle int
}

var _ Host = Local{}
