package peer

import (
	"io/fs"
	"syscall"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// A fileInfo is an fs.FileInfo on the stream. Sys is a *syscall.Stat_t, as that of the
// far end is.
type fileInfo struct {
	N    string
	S    int64
	M    fs.FileMode
	T    time.Time
	Stat *syscall.Stat_t
	Own  *host.Owner
}

func fileInfoOf(in fs.FileInfo) *fileInfo {
	out := &fileInfo{N: in.Name(), S: in.Size(), M: in.Mode(), T: in.ModTime()}
	switch sys := in.Sys().(type) {
	case *syscall.Stat_t:
		out.Stat = sys
	case host.Owner:
		out.Own = &sys
	}
	return out
}

// Name and the others implement fs.FileInfo.
func (i *fileInfo) Name() string       { return i.N }
func (i *fileInfo) Size() int64        { return i.S }
func (i *fileInfo) Mode() fs.FileMode  { return i.M }
func (i *fileInfo) ModTime() time.Time { return i.T }
func (i *fileInfo) IsDir() bool        { return i.M.IsDir() }

// Sys is a *syscall.Stat_t, or a host.Owner where that is all that is known.
func (i *fileInfo) Sys() any {
	switch {
	case i.Stat != nil:
		return i.Stat
	case i.Own != nil:
		return *i.Own
	}
	return nil
}

// A dirEntry is an fs.DirEntry on the stream: name and type, so that a folder of many
// files costs no description of each. A walk has the descriptions of files with their names:
// whoever walks asks for them, and each would be a round trip.
type dirEntry struct {
	N string
	M fs.FileMode
	I *fileInfo // nil where it was not asked for

	dir  string
	peer *Peer
}

// Name and the others implement fs.DirEntry.
func (e *dirEntry) Name() string      { return e.N }
func (e *dirEntry) IsDir() bool       { return e.M.IsDir() }
func (e *dirEntry) Type() fs.FileMode { return e.M }
func (e *dirEntry) Info() (fs.FileInfo, error) {
	if e.I != nil {
		return e.I, nil
	}
	return e.peer.Lstat(join(e.dir, e.N))
}
