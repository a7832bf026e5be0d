package fleet

import (
	"context"
	"database/sql"
	"io"
	"io/fs"
	"net"
	"os"
	"syscall"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// The methods of host.Host are those of the present connection.

// Name is the name of the machine in iikanji.toml.
func (m *Member) Name() string { return m.host.Name }

// ProcFolder is "": the machine's /proc is not a folder of this one.
func (m *Member) ProcFolder() string { return "" }

// SQL opens a pool to a database server of the machine, which connects again after the
// connection to the machine was lost.
func (m *Member) SQL(login host.Login) (*sql.DB, error) {
	p, err := m.live()
	if err != nil {
		return nil, err
	}
	return p.SQLThrough(login, m.Dial)
}

// Exec implements host.Host.
func (m *Member) Exec(ctx context.Context, c host.Command) (host.Result, error) {
	p, err := m.live()
	if err != nil {
		return host.Result{}, err
	}
	return p.Exec(ctx, c)
}

// Read implements host.Host.
func (m *Member) Read(path string) ([]byte, error) {
	p, err := m.live()
	if err != nil {
		return nil, err
	}
	return p.Read(path)
}

// Open implements host.Host.
func (m *Member) Open(path string) (host.File, error) {
	p, err := m.live()
	if err != nil {
		return nil, err
	}
	return p.Open(path)
}

// Stat implements host.Host.
func (m *Member) Stat(path string) (fs.FileInfo, error) {
	p, err := m.live()
	if err != nil {
		return nil, err
	}
	return p.Stat(path)
}

// Lstat implements host.Host.
func (m *Member) Lstat(path string) (fs.FileInfo, error) {
	p, err := m.live()
	if err != nil {
		return nil, err
	}
	return p.Lstat(path)
}

// ReadDir implements host.Host.
func (m *Member) ReadDir(path string) ([]fs.DirEntry, error) {
	p, err := m.live()
	if err != nil {
		return nil, err
	}
	return p.ReadDir(path)
}

// Readlink implements host.Host.
func (m *Member) Readlink(path string) (string, error) {
	p, err := m.live()
	if err != nil {
		return "", err
	}
	return p.Readlink(path)
}

// RealPath implements host.Host.
func (m *Member) RealPath(path string) (string, error) {
	p, err := m.live()
	if err != nil {
		return "", err
	}
	return p.RealPath(path)
}

// Glob implements host.Host.
func (m *Member) Glob(pattern string) ([]string, error) {
	p, err := m.live()
	if err != nil {
		return nil, err
	}
	return p.Glob(pattern)
}

// Walk implements host.Host.
func (m *Member) Walk(root string, fn fs.WalkDirFunc) error {
	p, err := m.live()
	if err != nil {
		return err
	}
	return p.Walk(root, fn)
}

// Write implements host.Host.
func (m *Member) Write(path string, body []byte, perm os.FileMode) error {
	p, err := m.live()
	if err != nil {
		return err
	}
	return p.Write(path, body, perm)
}

// ReadBeneath implements host.Host.
func (m *Member) ReadBeneath(root, path string) ([]byte, error) {
	p, err := m.live()
	if err != nil {
		return nil, err
	}
	return p.ReadBeneath(root, path)
}

// WriteBeneath implements host.Host.
func (m *Member) WriteBeneath(root, path string, body []byte, as host.New) error {
	p, err := m.live()
	if err != nil {
		return err
	}
	return p.WriteBeneath(root, path, body, as)
}

// RemoveBeneath implements host.Host.
func (m *Member) RemoveBeneath(root, path string) error {
	p, err := m.live()
	if err != nil {
		return err
	}
	return p.RemoveBeneath(root, path)
}

// RmdirBeneath implements host.Host.
func (m *Member) RmdirBeneath(root, path string) error {
	p, err := m.live()
	if err != nil {
		return err
	}
	return p.RmdirBeneath(root, path)
}

// Create implements host.Host.
func (m *Member) Create(path string, body []byte, perm os.FileMode) error {
	p, err := m.live()
	if err != nil {
		return err
	}
	return p.Create(path, body, perm)
}

// Symlink implements host.Host.
func (m *Member) Symlink(target, path string) error {
	p, err := m.live()
	if err != nil {
		return err
	}
	return p.Symlink(target, path)
}

// Remove implements host.Host.
func (m *Member) Remove(path string) error {
	p, err := m.live()
	if err != nil {
		return err
	}
	return p.Remove(path)
}

// RemoveAll implements host.Host.
func (m *Member) RemoveAll(path string) error {
	p, err := m.live()
	if err != nil {
		return err
	}
	return p.RemoveAll(path)
}

// Rmdir implements host.Host.
func (m *Member) Rmdir(path string) error {
	p, err := m.live()
	if err != nil {
		return err
	}
	return p.Rmdir(path)
}

// Mkdir implements host.Host.
func (m *Member) Mkdir(path string, perm os.FileMode) error {
	p, err := m.live()
	if err != nil {
		return err
	}
	return p.Mkdir(path, perm)
}

// Chown implements host.Host.
func (m *Member) Chown(path string, to host.Owner) error {
	p, err := m.live()
	if err != nil {
		return err
	}
	return p.Chown(path, to)
}

// Replaceable implements host.Host.
func (m *Member) Replaceable(path string) error {
	p, err := m.live()
	if err != nil {
		return err
	}
	return p.Replaceable(path)
}

// Hold implements host.Host.
func (m *Member) Hold(path string) (io.Closer, error) {
	p, err := m.live()
	if err != nil {
		return nil, err
	}
	return p.Hold(path)
}

// Account implements host.Host.
func (m *Member) Account() (host.Owner, error) {
	p, err := m.live()
	if err != nil {
		return host.Owner{}, err
	}
	return p.Account()
}

// User implements host.Host.
func (m *Member) User(name string) (host.User, error) {
	p, err := m.live()
	if err != nil {
		return host.User{}, err
	}
	return p.User(name)
}

// FreeSpace implements host.Host.
func (m *Member) FreeSpace(path string) (int64, error) {
	p, err := m.live()
	if err != nil {
		return 0, err
	}
	return p.FreeSpace(path)
}

// Signal implements host.Host.
func (m *Member) Signal(pid int, sig syscall.Signal) error {
	p, err := m.live()
	if err != nil {
		return err
	}
	return p.Signal(pid, sig)
}

// Dial implements host.Host.
func (m *Member) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	p, err := m.live()
	if err != nil {
		return nil, err
	}
	return p.Dial(ctx, network, address)
}
