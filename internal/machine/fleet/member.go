package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/peer"
	"github.com/iikanji/iikanji/internal/machine/sshdial"
	"github.com/iikanji/iikanji/internal/site/target"
)

// A Member is a machine of a site. It is a host.Host whose connection may change.
type Member struct {
	host     *target.Host
	options  Options
	programs *programs
	dialer   *sshdial.Dialer
	folders  []string
	// knownHosts is the file with its host key.
	knownHosts string

	connecting sync.Mutex // one attempt at a time

	mu     sync.Mutex
	peer   *peer.Peer // nil before the first connection
	is     Identity   // as it is known, or of the first connection; Boot of the last one
	err    error      // why there is no connection
	closed bool
}

var _ host.Reconnector = (*Member)(nil)

// knownHosts is the site's own file of host keys, beside iikanji.toml.
const knownHosts = "known_hosts"

func newMember(f *target.File, h *target.Host, o Options, p *programs, d *sshdial.Dialer) *Member {
	m := &Member{host: h, options: o, programs: p, dialer: d, err: errors.New("it was never connected"),
		knownHosts: cmp.Or(h.KnownHosts, filepath.Join(filepath.Dir(f.Path), knownHosts))}
	m.is.ID = o.Known[h.Name]
	if o.Write && h.MayChange() {
		m.folders = slices.Concat(f.FoldersOn(h.Name), f.LogFoldersOn(h.Name), f.ProgramsOn(h.Name), o.Folders[h.Name])
	}
	return m
}

// An ExchangedError is another machine at the address of one that was known.
type ExchangedError struct{ Host string }

func (e *ExchangedError) Error() string {
	return fmt.Sprintf("another machine answers as %s: its host key or its machine-id is another one", e.Host)
}

// Hints say how to accept the machine.
func (e *ExchangedError) Hints() []string {
	return []string{"if it was exchanged: iikanji hosts accept " + e.Host}
}

// Identity is that of the machine at its last connection; zero before the first.
func (m *Member) Identity() Identity {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.is
}

// Hostname is what the machine calls itself; "" while it is down.
func (m *Member) Hostname() string {
	if p, err := m.live(); err == nil {
		return p.Hostname()
	}
	return ""
}

// live is the connection, or a LostError.
func (m *Member) live() (*peer.Peer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.peer == nil {
		return nil, &host.LostError{Host: m.host.Name, Err: m.err}
	}
	return m.peer, nil
}

// Unwrap is the present connection; nil while the machine is down.
func (m *Member) Unwrap() host.Host {
	if p, err := m.live(); err == nil {
		return p
	}
	return nil
}

// connectOnce connects and keeps the result.
func (m *Member) connectOnce(ctx context.Context) error {
	p, is, err := m.connect(ctx)
	if err = m.keep(p, is, err); err == nil && m.options.Changed != nil {
		m.options.Changed(m.host.Name, nil)
	}
	return err
}

// keep keeps the result of an attempt to connect.
func (m *Member) keep(p *peer.Peer, is Identity, err error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err == nil && m.closed {
		err = errors.Join(net.ErrClosed, p.Close())
	}
	if err == nil && m.is.ID != "" && m.is.ID != is.ID {
		err = errors.Join(&ExchangedError{m.host.Name}, p.Close())
	}
	if err != nil {
		m.err = err
		return err
	}
	m.peer, m.is = p, is
	go m.forget(p)
	return nil
}

// forget notes the end of a connection.
func (m *Member) forget(p *peer.Peer) {
	<-p.Lost()
	m.mu.Lock()
	present := m.peer == p // else it was closed
	if present {
		m.peer, m.err = nil, p.Cause()
		var lost *host.LostError
		if errors.As(m.err, &lost) { // live makes one of its own
			m.err = lost.Err
		}
	}
	why := m.err
	m.mu.Unlock()
	if present && m.options.Changed != nil {
		m.options.Changed(m.host.Name, why)
	}
}

// connectLimit is how long one attempt to connect may take: a program is sent once.
const connectLimit = 2 * time.Minute

func (m *Member) connect(ctx context.Context) (*peer.Peer, Identity, error) {
	ctx, cancel := context.WithTimeout(ctx, connectLimit)
	defer cancel()
	conn, err := m.shell(ctx)
	if err != nil {
		return nil, Identity{}, err
	}
	program, err := m.programs.of(m.host)
	if err != nil {
		return nil, Identity{}, errors.Join(err, conn.Close())
	}
	if conn, err = peer.Deliver(ctx, conn, program, m.host.Sudo != target.No); err != nil {
		return nil, Identity{}, fmt.Errorf("reaching %s: %w", m.host.Name, err)
	}
	p, err := peer.Connect(ctx, conn, peer.Setup{Name: m.host.Name, Folders: m.folders, Claim: m.options.Claim})
	if err != nil {
		return nil, Identity{}, err
	}
	is, err := IdentityOf(p)
	if err != nil {
		return nil, is, errors.Join(err, p.Close())
	}
	return p, is, nil
}

// shell is the standard input and output of a shell of the machine.
func (m *Member) shell(ctx context.Context) (net.Conn, error) {
	switch {
	case m.host.Peer == target.PeerNone:
		return nil, fmt.Errorf("machine %s has peer = none, which is not supported yet", m.host.Name)
	case len(m.host.Via) > 0:
		// The command lives as long as the connection, not as long as the attempt.
		s, err := peer.Command(exec.Command(m.host.Via[0], append(m.host.Via[1:len(m.host.Via):len(m.host.Via)], "sh")...))
		if err != nil {
			return nil, fmt.Errorf("reaching %s: %w", m.host.Name, err)
		}
		return s, nil
	}
	a, err := target.ParseSSH(m.host.Address)
	if err != nil {
		return nil, fmt.Errorf("reaching %s: %w", m.host.Name, err)
	}
	return m.dialer.Shell(ctx, sshdial.Address{User: a.User, Name: a.Name, Port: a.Port, KnownHosts: m.knownHosts})
}

// Reconnect connects again if the connection is lost, until lost_wait of the machine is
// over. The error of another machine at the address is an ExchangedError.
func (m *Member) Reconnect(ctx context.Context) error {
	m.connecting.Lock()
	defer m.connecting.Unlock()
	ctx, cancel := context.WithTimeout(ctx, m.host.Waits())
	defer cancel()
	for pause := 200 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		if _, err := m.live(); err == nil {
			return nil
		}
		err := m.connectOnce(ctx)
		var other *ExchangedError
		if err == nil || errors.As(err, &other) {
			return err
		}
		select {
		case <-ctx.Done():
			return &host.LostError{Host: m.host.Name, Err: err}
		case <-time.After(pause):
		}
	}
}

func (m *Member) close() error {
	m.mu.Lock()
	p := m.peer
	m.peer, m.err, m.closed = nil, net.ErrClosed, true
	m.mu.Unlock()
	if p == nil {
		return nil
	}
	return p.Close()
}
