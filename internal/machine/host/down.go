package host

import (
	"context"
	"database/sql"
	"io"
	"io/fs"
	"net"
	"os"
	"syscall"
	"time"
)

// A Down is a host that was not reached: all that is asked of it is that error.
type Down struct {
	Host string
	Err  error
}

var (
	_ Host   = Down{}
	_ Worker = Down{}
)

func (d Down) err() error { return &LostError{Host: d.Host, Err: d.Err} }

// Name is the host's name.
func (d Down) Name() string { return d.Host }

// ProcFolder is "": nothing of it can be read here.
func (d Down) ProcFolder() string { return "" }

// Exec and all others return the error.
func (d Down) Exec(context.Context, Command) (Result, error)          { return Result{}, d.err() }
func (d Down) Read(string) ([]byte, error)                            { return nil, d.err() }
func (d Down) Open(string) (File, error)                              { return nil, d.err() }
func (d Down) Stat(string) (fs.FileInfo, error)                       { return nil, d.err() }
func (d Down) Lstat(string) (fs.FileInfo, error)                      { return nil, d.err() }
func (d Down) ReadDir(string) ([]fs.DirEntry, error)                  { return nil, d.err() }
func (d Down) Readlink(string) (string, error)                        { return "", d.err() }
func (d Down) RealPath(string) (string, error)                        { return "", d.err() }
func (d Down) Glob(string) ([]string, error)                          { return nil, d.err() }
func (d Down) Walk(string, fs.WalkDirFunc) error                      { return d.err() }
func (d Down) Write(string, []byte, os.FileMode) error                { return d.err() }
func (d Down) ReadBeneath(string, string) ([]byte, error)             { return nil, d.err() }
func (d Down) WriteBeneath(string, string, []byte, New) error         { return d.err() }
func (d Down) RemoveBeneath(string, string) error                     { return d.err() }
func (d Down) RmdirBeneath(string, string) error                      { return d.err() }
func (d Down) Create(string, []byte, os.FileMode) error               { return d.err() }
func (d Down) Symlink(string, string) error                           { return d.err() }
func (d Down) Remove(string) error                                    { return d.err() }
func (d Down) RemoveAll(string) error                                 { return d.err() }
func (d Down) Rmdir(string) error                                     { return d.err() }
func (d Down) Mkdir(string, os.FileMode) error                        { return d.err() }
func (d Down) Chown(string, Owner) error                              { return d.err() }
func (d Down) Replaceable(string) error                               { return d.err() }
func (d Down) Hold(string) (io.Closer, error)                         { return nil, d.err() }
func (d Down) Account() (Owner, error)                                { return Owner{}, d.err() }
func (d Down) User(string) (User, error)                              { return User{}, d.err() }
func (d Down) FreeSpace(string) (int64, error)                        { return 0, d.err() }
func (d Down) Signal(int, syscall.Signal) error                       { return d.err() }
func (d Down) Dial(context.Context, string, string) (net.Conn, error) { return nil, d.err() }
func (d Down) SQL(Login) (*sql.DB, error)                             { return nil, d.err() }
func (d Down) Work(context.Context, string, any, any) error           { return d.err() }
func (d Down) Feed(context.Context, string, time.Duration, func() any, func(func(any) error) error) error {
	return d.err()
}
