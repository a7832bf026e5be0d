package host

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// A Fake is a host for tests. Its files lie below a folder of this machine: its
// /etc/my.cnf is Root/etc/my.cnf. Files behave as on a real host, with modes, links
// and atomic writes; the test supplies programs and processes. Several goroutines
// may call its methods at once.
type Fake struct {
	Root string // an absolute path without symbolic links
	Host string // its Name

	// Run replaces programs; with nil every command fails.
	Run func(ctx context.Context, c Command) (Result, error)
	// Fail is called before each operation on a file ("read", "write", "remove" …).
	// The operation fails with the error that it returns, such as syscall.ENOSPC.
	// nil means no failures.
	Fail func(operation, path string) error
	// Listen maps an address or the path of a unix socket to an address of this
	// machine, as {"unix", "/tmp/x.sock"}.
	Listen map[string][2]string
	// Space is how many bytes each file system has left; 0 is what this machine has.
	Space int64
	// Users are the accounts of the host by name.
	Users map[string]User
	// Alive has the ids of the processes that exist on the host.
	Alive map[int]bool

	mu      sync.Mutex
	signals []Sent
}

// A Sent is a signal that was sent through a Fake.
type Sent struct {
	PID    int
	Signal syscall.Signal
}

var _ Host = (*Fake)(nil)

// Name returns the host's name.
func (f *Fake) Name() string { return f.Host }

// at returns the path on this machine of a path of the host. Links are followed
// within the host: an absolute target begins at Root.
func (f *Fake) at(path string, followLast bool) (string, error) {
	real, err := f.resolve(path, followLast)
	return filepath.Join(f.Root, real), err
}

// maxLinks is the maximum number of links in one path, as in the kernel (ELOOP).
const maxLinks = 40

// resolve follows the links of a path; the result is a path of the host.
func (f *Fake) resolve(path string, followLast bool) (string, error) {
	if !filepath.IsAbs(path) {
		return "", &fs.PathError{Op: "open", Path: path, Err: fs.ErrInvalid}
	}
	done, rest := "/", strings.Split(strings.Trim(filepath.Clean(path), "/"), "/")
	for links := 0; len(rest) > 0; {
		next := filepath.Join(done, rest[0])
		rest = rest[1:]
		if len(rest) == 0 && !followLast {
			return next, nil
		}
		to, err := os.Readlink(filepath.Join(f.Root, next))
		if err != nil { // not a link, or missing: the operation itself returns the error
			done = next
			continue
		}
		if links++; links > maxLinks {
			return "", &fs.PathError{Op: "open", Path: path, Err: syscall.ELOOP}
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(done, to)
		}
		done, rest = "/", append(strings.Split(strings.Trim(filepath.Clean(to), "/"), "/"), rest...)
	}
	return done, nil
}

// try calls Fail, then returns the path on this machine.
func (f *Fake) try(operation, path string, followLast bool) (string, error) {
	if f.Fail != nil {
		if err := f.Fail(operation, path); err != nil {
			return "", &fs.PathError{Op: operation, Path: path, Err: err}
		}
	}
	return f.at(path, followLast)
}

// Exec calls Run.
func (f *Fake) Exec(ctx context.Context, c Command) (Result, error) {
	if f.Run == nil {
		return Result{}, fmt.Errorf("running %s: %w", c.Path, fs.ErrNotExist)
	}
	return f.Run(ctx, c)
}

// Read returns a file's content.
func (f *Fake) Read(path string) ([]byte, error) {
	at, err := f.try("read", path, true)
	if err != nil {
		return nil, err
	}
	return os.ReadFile(at)
}

// Open opens a file for reading.
func (f *Fake) Open(path string) (File, error) {
	at, err := f.try("open", path, true)
	if err != nil {
		return nil, err
	}
	return Local{}.Open(at)
}

// Stat describes a file.
func (f *Fake) Stat(path string) (fs.FileInfo, error) {
	at, err := f.try("stat", path, true)
	if err != nil {
		return nil, err
	}
	return os.Lstat(at)
}

// Lstat describes a file and does not follow a link.
func (f *Fake) Lstat(path string) (fs.FileInfo, error) {
	at, err := f.try("lstat", path, false)
	if err != nil {
		return nil, err
	}
	return os.Lstat(at)
}

// ReadDir lists a folder.
func (f *Fake) ReadDir(path string) ([]fs.DirEntry, error) {
	at, err := f.try("readdir", path, true)
	if err != nil {
		return nil, err
	}
	return os.ReadDir(at)
}

// Readlink returns the target of a link.
func (f *Fake) Readlink(path string) (string, error) {
	at, err := f.try("readlink", path, false)
	if err != nil {
		return "", err
	}
	return os.Readlink(at)
}

// RealPath returns the path of the host without links.
func (f *Fake) RealPath(path string) (string, error) {
	if _, err := f.Stat(path); err != nil {
		return "", err
	}
	return f.resolve(path, true)
}

// Glob lists the paths that match a pattern.
func (f *Fake) Glob(pattern string) ([]string, error) {
	found, err := filepath.Glob(filepath.Join(f.Root, pattern))
	for i := range found {
		found[i] = strings.TrimPrefix(found[i], f.Root)
	}
	return found, err
}

// Walk calls fn for a folder and everything below it.
func (f *Fake) Walk(root string, fn fs.WalkDirFunc) error {
	at, err := f.try("walk", root, true)
	if err != nil {
		return fn(root, nil, err)
	}
	return filepath.WalkDir(at, func(path string, d fs.DirEntry, err error) error {
		return fn(filepath.Join(root, strings.TrimPrefix(path, at)), d, err)
	})
}

// Write replaces a file's content atomically.
func (f *Fake) Write(path string, body []byte, perm os.FileMode) error {
	at, err := f.try("write", path, true)
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return Local{}.Write(at, body, perm)
}

// beneath returns the path on this machine of a path below a root. A link of the
// host in it is ErrLink.
func (f *Fake) beneath(operation, root, path string) (string, error) {
	if err := beneath(root, path); err != nil {
		return "", err
	}
	at, err := f.try(operation, path, true)
	if err == nil && at != filepath.Join(f.Root, path) {
		err = &fs.PathError{Op: operation, Path: path, Err: ErrLink}
	}
	return at, err
}

// ReadBeneath returns the content of a file below a root.
func (f *Fake) ReadBeneath(root, path string) ([]byte, error) {
	at, err := f.beneath("read", root, path)
	if err != nil {
		return nil, err
	}
	return Local{}.ReadBeneath(f.Root, at)
}

// WriteBeneath replaces the content of a file below a root.
func (f *Fake) WriteBeneath(root, path string, body []byte, as New) error {
	at, err := f.beneath("write", root, path)
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return Local{}.WriteBeneath(f.Root, at, body, as)
}

// RemoveBeneath removes a file below a root.
func (f *Fake) RemoveBeneath(root, path string) error {
	at, err := f.beneath("remove", root, path)
	if err != nil {
		return fmt.Errorf("removing %s: %w", path, err)
	}
	return Local{}.RemoveBeneath(f.Root, at)
}

// RmdirBeneath removes an empty folder below a root.
func (f *Fake) RmdirBeneath(root, path string) error {
	at, err := f.beneath("remove", root, path)
	if err != nil {
		return fmt.Errorf("removing the folder %s: %w", path, err)
	}
	return Local{}.RmdirBeneath(f.Root, at)
}

// Remove removes a file.
func (f *Fake) Remove(path string) error {
	at, err := f.try("remove", path, false)
	if err != nil {
		return fmt.Errorf("removing %s: %w", path, err)
	}
	return Local{}.Remove(at)
}

// RemoveAll removes a folder with its content, or a file.
func (f *Fake) RemoveAll(path string) error {
	at, err := f.try("remove", path, false)
	if err != nil {
		return fmt.Errorf("removing %s: %w", path, err)
	}
	if at == filepath.Clean(f.Root) {
		return fmt.Errorf("removing %s: %w", path, fs.ErrInvalid)
	}
	return os.RemoveAll(at)
}

// Mkdir makes a folder.
func (f *Fake) Mkdir(path string, perm os.FileMode) error {
	at, err := f.try("mkdir", path, false)
	if err != nil {
		return err
	}
	return Local{}.Mkdir(at, perm)
}

// Replaceable returns an error if Write would change the kind of what is at path.
func (f *Fake) Replaceable(path string) error {
	at, err := f.at(path, false)
	if err != nil {
		return err
	}
	if info, err := os.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if _, err := f.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s is a symbolic link to nothing", path)
		}
		if at, err = f.at(path, true); err != nil {
			return err
		}
	}
	return Local{}.Replaceable(at)
}

// FreeSpace is Space.
func (f *Fake) FreeSpace(path string) (int64, error) {
	at, err := f.try("statfs", path, true)
	if err != nil {
		return 0, err
	}
	free, err := Local{}.FreeSpace(at)
	if err == nil && f.Space > 0 {
		free = f.Space
	}
	return free, err
}

// Signal records the signal. A process that is not in Alive has ended.
func (f *Fake) Signal(pid int, sig syscall.Signal) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.Alive[pid] {
		return fmt.Errorf("signalling process %d: %w", pid, os.ErrProcessDone)
	}
	f.signals = append(f.signals, Sent{pid, sig})
	if sig == syscall.SIGKILL {
		delete(f.Alive, pid)
	}
	return nil
}

// Signals returns the sent signals, in order.
func (f *Fake) Signals() []Sent {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]Sent(nil), f.signals...)
}

// ProcFolder returns the folder of the host's /proc, below Root.
func (f *Fake) ProcFolder() string { return filepath.Join(f.Root, "proc") }

// Dial connects to the address of this machine that Listen has for address.
func (f *Fake) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	to, ok := f.Listen[address]
	if !ok {
		return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
	}
	return Local{}.Dial(ctx, to[0], to[1])
}

// SQL opens a pool to a database server of the host.
func (f *Fake) SQL(login Login) (*sql.DB, error) { return OpenSQL(login, f.Dial) }
