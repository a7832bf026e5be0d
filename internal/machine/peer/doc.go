// Package peer reaches a host through one stream of bytes: a Peer is the host.Host of
// the near end, Serve answers at the far end with the host.Local of that machine.
//
//  1. The stream may be anything that carries bytes both ways: an SSH session, the
//     standard input and output of a command that enters a container, a pipe. Join
//     makes a connection of two halves.
//  2. The stream carries HTTP/2 without TLS (RFC 9113, prior knowledge) from the
//     standard library: many calls at once, flow control, cancellation, pings. A call
//     is a POST whose body and answer are a value in encoding/gob, framed by its
//     length, and then bytes as they are.
//  3. The far end decides nothing. It refuses to write outside the folders that the
//     first call names, and takes the host's lock, so that two never write at once.
//  4. A lost connection is a host.LostError: whether the far end carried the call out is
//     unknown if it was sent.
package peer
