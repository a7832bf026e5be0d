package peer

import (
	"context"
	"errors"
	"fmt"
	"io"

	trees "github.com/iikanji/iikanji/internal/machine/tree"
)

var _ trees.Host = (*Peer)(nil)

// The arguments of the calls about whole folders.
type (
	packArgs struct {
		Dir  string
		Have trees.Manifest
	}
	offerArgs struct{ Dir, Address string }
	takeArgs  struct {
		Dir   string
		Offer trees.Offer
	}
)

// ListTree lists a folder of the host without sums.
func (p *Peer) ListTree(ctx context.Context, dir string) (m trees.Manifest, err error) {
	return m, p.call(ctx, "ListTree", onePath{dir}, nil, &m)
}

// PackTree is the stream of a folder of the host.
func (p *Peer) PackTree(ctx context.Context, dir string, have trees.Manifest) (io.ReadCloser, error) {
	return p.begin(ctx, "PackTree", packArgs{dir, have}, nil, 0, nil)
}

// UnpackTree makes a folder of the host from a stream.
func (p *Peer) UnpackTree(ctx context.Context, dir string, r io.Reader) (m trees.Manifest, err error) {
	rest, err := p.begin(ctx, "UnpackTree", onePath{dir}, r, -1, &m)
	if err != nil {
		return nil, err
	}
	return m, rest.Close()
}

// OfferTree serves a folder of the host to another one.
func (p *Peer) OfferTree(ctx context.Context, dir, address string) (o trees.Offer, wait func() error, err error) {
	rest, err := p.begin(ctx, "OfferTree", offerArgs{dir, address}, nil, 0, &o)
	if err != nil {
		return o, nil, err
	}
	return o, func() error {
		defer rest.Close()
		text, err := io.ReadAll(rest)
		switch {
		case err != nil:
			return p.broken(ctx, err)
		case len(text) > 0:
			return errors.New(string(text))
		}
		return nil
	}, nil
}

// TakeTree makes a folder of the host from what another one offers.
func (p *Peer) TakeTree(ctx context.Context, dir string, o trees.Offer) (m trees.Manifest, err error) {
	return m, p.call(ctx, "TakeTree", takeArgs{dir, o}, nil, &m)
}

// RenameTree renames a file or folder of the host.
func (p *Peer) RenameTree(from, to string) error {
	return p.call(p.ctx, "RenameTree", twoPaths{from, to}, nil, nil)
}

// folders is the host of the far end for whole folders, behind the fence.
func (s *server) folders(writes ...string) (trees.Host, error) {
	f, err := s.began()
	if err != nil {
		return nil, err
	}
	for _, path := range writes {
		if err := f.keep(path); err != nil {
			return nil, err
		}
	}
	t, err := trees.On(s.h)
	if err != nil {
		return nil, fmt.Errorf("this host: %w", err)
	}
	return t, nil
}
