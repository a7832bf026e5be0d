package peer

import (
	"errors"
	"io"
	"net"
	"time"
)

// Join makes a connection of the two halves of a stream, as the standard output and
// input of a child. Close closes both. Deadlines are not kept: pings find a dead
// stream.
func Join(in io.ReadCloser, out io.WriteCloser) net.Conn { return &joined{in, out} }

type joined struct {
	in  io.ReadCloser
	out io.WriteCloser
}

func (j *joined) Read(p []byte) (int, error)     { return j.in.Read(p) }
func (j *joined) Write(p []byte) (int, error)    { return j.out.Write(p) }
func (j *joined) Close() error                   { return errors.Join(j.out.Close(), j.in.Close()) }
func (*joined) LocalAddr() net.Addr              { return named{"stream", "near"} }
func (*joined) RemoteAddr() net.Addr             { return named{"stream", "far"} }
func (*joined) SetDeadline(time.Time) error      { return nil }
func (*joined) SetReadDeadline(time.Time) error  { return nil }
func (*joined) SetWriteDeadline(time.Time) error { return nil }

// named is an address of a connection that has none of this machine.
type named struct{ network, address string }

func (a named) Network() string { return a.network }
func (a named) String() string  { return a.address }
