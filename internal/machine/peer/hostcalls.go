package peer

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"syscall"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// Exec runs a command on the host to its end. The end of ctx, or of the connection, kills
// its process group.
func (p *Peer) Exec(ctx context.Context, c host.Command) (host.Result, error) {
	var st status
	out, err := p.callBytes(ctx, "Exec", program{Path: c.Path, Args: c.Args, Env: c.Env, Dir: c.Dir, As: c.As}, nil, &st)
	if err != nil && ctx.Err() != nil {
		return host.Result{}, fmt.Errorf("running %s: %w", c.Path, ctx.Err())
	}
	if err != nil {
		return host.Result{}, err
	}
	return host.Result{Status: st.Status, Output: out}, nil
}

// Read returns a file's whole content.
func (p *Peer) Read(path string) ([]byte, error) {
	return p.callBytes(p.ctx, "Read", onePath{path}, nil, nil)
}

// ReadBeneath reads a file below a folder without following links.
func (p *Peer) ReadBeneath(root, path string) ([]byte, error) {
	return p.callBytes(p.ctx, "ReadBeneath", twoPaths{root, path}, nil, nil)
}

func (p *Peer) info(call string, args any) (fs.FileInfo, error) {
	var out fileInfo
	if err := p.call(p.ctx, call, args, nil, &out); err != nil {
		return nil, err
	}
	return &out, nil
}

// Stat describes a file.
func (p *Peer) Stat(path string) (fs.FileInfo, error) { return p.info("Stat", onePath{path}) }

// Lstat describes a file and does not follow a link.
func (p *Peer) Lstat(path string) (fs.FileInfo, error) { return p.info("Lstat", onePath{path}) }

// ReadDir lists a folder.
func (p *Peer) ReadDir(path string) ([]fs.DirEntry, error) { return p.readDir("ReadDir", path) }

// readDir lists a folder by a call.
func (p *Peer) readDir(call, path string) ([]fs.DirEntry, error) {
	var in []*dirEntry
	if err := p.call(p.ctx, call, onePath{path}, nil, &in); err != nil {
		return nil, err
	}
	out := make([]fs.DirEntry, 0, len(in))
	for _, e := range in {
		e.dir, e.peer = path, p
		out = append(out, e)
	}
	return out, nil
}

// Readlink returns the target of a symbolic link.
func (p *Peer) Readlink(path string) (out string, err error) {
	return out, p.call(p.ctx, "Readlink", onePath{path}, nil, &out)
}

// RealPath returns a path without links.
func (p *Peer) RealPath(path string) (out string, err error) {
	return out, p.call(p.ctx, "RealPath", onePath{path}, nil, &out)
}

// Glob lists the paths that match a pattern.
func (p *Peer) Glob(pattern string) (out []string, err error) {
	return out, p.call(p.ctx, "Glob", onePath{pattern}, nil, &out)
}

// Walk calls fn for a folder and everything below it, one round trip for each folder.
func (p *Peer) Walk(root string, fn fs.WalkDirFunc) error { return fs.WalkDir(tree{p}, root, fn) }

// A tree is a host's files for fs.WalkDir, which describes its root by Stat: like
// filepath.WalkDir, it does not follow a link there.
type tree struct{ p *Peer }

// Open implements fs.FS; fs.WalkDir does not call it.
func (t tree) Open(name string) (fs.File, error)          { return t.p.Open(name) }
func (t tree) Stat(name string) (fs.FileInfo, error)      { return t.p.Lstat(name) }
func (t tree) ReadDir(name string) ([]fs.DirEntry, error) { return t.p.readDir("ReadDirInfo", name) }

// Write replaces a file's content atomically.
func (p *Peer) Write(path string, body []byte, perm os.FileMode) error {
	return p.call(p.ctx, "Write", onePerm{path, perm}, body, nil)
}

// WriteBeneath writes a file below a folder without following links.
func (p *Peer) WriteBeneath(root, path string, body []byte, as host.New) error {
	return p.call(p.ctx, "WriteBeneath", beneath{root, path, as}, body, nil)
}

// RemoveBeneath removes a file below a folder without following links.
func (p *Peer) RemoveBeneath(root, path string) error {
	return p.call(p.ctx, "RemoveBeneath", twoPaths{root, path}, nil, nil)
}

// RmdirBeneath removes an empty folder below a folder without following links.
func (p *Peer) RmdirBeneath(root, path string) error {
	return p.call(p.ctx, "RmdirBeneath", twoPaths{root, path}, nil, nil)
}

// Create makes a new file.
func (p *Peer) Create(path string, body []byte, perm os.FileMode) error {
	return p.call(p.ctx, "Create", onePerm{path, perm}, body, nil)
}

// Symlink makes a symbolic link.
func (p *Peer) Symlink(target, path string) error {
	return p.call(p.ctx, "Symlink", twoPaths{target, path}, nil, nil)
}

// Remove removes a file durably.
func (p *Peer) Remove(path string) error { return p.call(p.ctx, "Remove", onePath{path}, nil, nil) }

// RemoveAll removes a folder with its content, or a file.
func (p *Peer) RemoveAll(path string) error {
	return p.call(p.ctx, "RemoveAll", onePath{path}, nil, nil)
}

// Rmdir removes an empty folder.
func (p *Peer) Rmdir(path string) error { return p.call(p.ctx, "Rmdir", onePath{path}, nil, nil) }

// Mkdir makes a folder.
func (p *Peer) Mkdir(path string, perm os.FileMode) error {
	return p.call(p.ctx, "Mkdir", onePerm{path, perm}, nil, nil)
}

// Chown gives a file or a link to another user and group.
func (p *Peer) Chown(path string, to host.Owner) error {
	return p.call(p.ctx, "Chown", chown{path, to}, nil, nil)
}

// Replaceable returns an error if Write would change the kind of what is at path.
func (p *Peer) Replaceable(path string) error {
	return p.call(p.ctx, "Replaceable", onePath{path}, nil, nil)
}

// Hold locks a file or a folder against other holders, until it is closed or the
// connection ends.
func (p *Peer) Hold(path string) (io.Closer, error) {
	var out held
	if err := p.call(p.ctx, "Hold", onePath{path}, nil, &out); err != nil || !out.Taken {
		return nil, err
	}
	return &farHandle{p, out.ID}, nil
}

// A farHandle is something that the far end keeps open.
type farHandle struct {
	p  *Peer
	id uint64
}

// Close gives it back.
func (h *farHandle) Close() error { return h.p.call(h.p.ctx, "Release", handle{h.id}, nil, nil) }

// Account is the account that acts on the host.
func (p *Peer) Account() (out host.Owner, err error) {
	return out, p.call(p.ctx, "Account", none{}, nil, &out)
}

// User looks an account of the host up.
func (p *Peer) User(name string) (out host.User, err error) {
	return out, p.call(p.ctx, "User", onePath{name}, nil, &out)
}

// FreeSpace is how many bytes an unprivileged user may still write.
func (p *Peer) FreeSpace(path string) (out int64, err error) {
	return out, p.call(p.ctx, "FreeSpace", onePath{path}, nil, &out)
}

// Signal sends a signal to a process of the host.
func (p *Peer) Signal(pid int, sig syscall.Signal) error {
	return p.call(p.ctx, "Signal", sendSignal{pid, int(sig)}, nil, nil)
}

// ProcFolder is "": the host's /proc is not a folder of this machine.
func (p *Peer) ProcFolder() string { return "" }

// SQL opens a pool to a database server of the host. Its sockets are connected by the far
// end, so that a login without a password is that of the account there.
func (p *Peer) SQL(login host.Login) (*sql.DB, error) { return p.SQLThrough(login, p.Dial) }

// SQLThrough is SQL whose connections are made by dial, which outlives this Peer.
func (p *Peer) SQLThrough(login host.Login, dial func(ctx context.Context, network, address string) (net.Conn, error)) (*sql.DB, error) {
	if login.User == "" {
		login.User = p.welcome.Login
	}
	return host.OpenSQL(login, dial)
}
