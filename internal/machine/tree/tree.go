package tree

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// A Host is a host on which whole folders are listed, sent, received and renamed: this
// machine, or one behind a connection whose far end does the work.
type Host interface {
	// ListTree lists a folder without sums; nil for one that is missing.
	ListTree(ctx context.Context, dir string) (Manifest, error)
	// PackTree is the stream of a folder without the files that have has.
	PackTree(ctx context.Context, dir string, have Manifest) (io.ReadCloser, error)
	// UnpackTree makes a folder from a stream, or goes on with it, and returns its content
	// with sums.
	UnpackTree(ctx context.Context, dir string, r io.Reader) (Manifest, error)
	// OfferTree serves a folder once, at a free port of an address, until wait is called and
	// has returned.
	OfferTree(ctx context.Context, dir, address string) (o Offer, wait func() error, err error)
	// TakeTree makes a folder from what another host offers, as UnpackTree does.
	TakeTree(ctx context.Context, dir string, o Offer) (Manifest, error)
	// RenameTree renames a file or folder durably; nothing is overwritten.
	RenameTree(from, to string) error
}

// ErrNoTrees is the error of a host on which whole folders cannot be copied.
var ErrNoTrees = errors.New("whole folders cannot be copied on this host")

// On is the Host of a host. One that is reached through others says it by Unwrap.
func On(h host.Host) (Host, error) {
	if t, ok := host.As[Host](h); ok {
		return t, nil
	}
	if _, ok := host.As[host.Local](h); ok {
		return Local{}, nil
	}
	return nil, ErrNoTrees
}

// Local is this machine.
type Local struct{}

var _ Host = Local{}

// ListTree implements Host, as do the other methods.
func (Local) ListTree(_ context.Context, dir string) (Manifest, error) { return list(dir) }

// PackTree sends while it is read.
func (Local) PackTree(ctx context.Context, dir string, have Manifest) (io.ReadCloser, error) {
	r, w := io.Pipe()
	go func() { w.CloseWithError(pack(ctx, dir, have, w)) }() // ends when r is closed
	return r, nil
}

// UnpackTree implements Host.
func (Local) UnpackTree(ctx context.Context, dir string, r io.Reader) (Manifest, error) {
	return unpack(ctx, dir, r)
}

// RenameTree implements Host.
func (Local) RenameTree(from, to string) error { return rename(from, to) }

// Directly copies a folder from one host to another at an address of the first one.
func Directly(ctx context.Context, from Host, source, address string, to Host, dir string) (Manifest, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	o, wait, err := from.OfferTree(ctx, source, address)
	if err != nil {
		return nil, fmt.Errorf("offering %s: %w", source, err)
	}
	m, err := to.TakeTree(ctx, dir, o)
	if err != nil {
		cancel() // nobody takes it any more
	}
	return m, errors.Join(err, wait())
}
