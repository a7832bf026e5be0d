package sshdial

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"syscall"

	"golang.org/x/crypto/ssh"

	"github.com/iikanji/iikanji/internal/machine/peer"
)

// Options are what all machines of one command have in common.
type Options struct {
	// AcceptNew writes host keys that are not known into Address.KnownHosts.
	AcceptNew bool
	// Ask asks a person for a passphrase; nil: nobody is asked.
	Ask func(prompt string) (string, error)
	// Forbids reports whether a name, or an IP address with a port, is never connected to.
	Forbids func(host string) bool
	// Arguments are further ones of ssh -G, such as -F FILE.
	Arguments []string
}

// A Dialer reaches machines. It is safe for concurrent use.
type Dialer struct {
	options  Options
	keys     *keys
	hostKeys *hostKeys
}

// New makes a Dialer.
func New(o Options) *Dialer {
	if o.Forbids == nil {
		o.Forbids = func(string) bool { return false }
	}
	return &Dialer{o, &keys{ask: o.Ask, opened: map[string]ssh.Signer{}, refused: map[string]error{}},
		&hostKeys{acceptNew: o.AcceptNew}}
}

// Shell starts a shell of a machine and returns its standard input and output. The context
// is for the attempt; Close ends the connection and those of the jumps.
func (d *Dialer) Shell(ctx context.Context, a Address) (net.Conn, error) {
	c, err := d.client(ctx, a, 0)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", a.Name, err)
	}
	s, err := c.shell(ctx)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting a shell on %s: %w", a.Name, err), c.close())
	}
	return s, nil
}

// A client is a connection to a machine, with those that it goes through.
type client struct {
	*ssh.Client
	through []*client
}

func (c *client) close() error {
	err := c.Close()
	for i := len(c.through) - 1; i >= 0; i-- {
		err = errors.Join(err, c.through[i].close())
	}
	if errors.Is(err, net.ErrClosed) { // it was lost
		return nil
	}
	return err
}

// mostJumps bounds the machines between this one and another one.
const mostJumps = 8

// client connects to a machine as its configuration says.
func (d *Dialer) client(ctx context.Context, a Address, depth int) (*client, error) {
	if depth > mostJumps {
		return nil, fmt.Errorf("more than %d jumps", mostJumps)
	}
	c, err := configOf(ctx, a, d.options.Arguments)
	if err != nil {
		return nil, err
	}
	if d.options.Forbids(c.hostname) || d.options.Forbids(a.Name) {
		return nil, &ForbiddenError{a.Name}
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	if len(c.jumps) == 0 {
		conn, err := d.transport(ctx, c)
		if err != nil {
			return nil, err
		}
		return d.login(ctx, c, conn)
	}
	var through []*client
	fail := func(err error) (*client, error) {
		for i := len(through) - 1; i >= 0; i-- {
			err = errors.Join(err, through[i].close())
		}
		return nil, err
	}
	for i, text := range c.jumps {
		next, err := d.hop(ctx, text, a.KnownHosts, through, depth+i+1)
		if err != nil {
			return fail(fmt.Errorf("by way of %s: %w", text, err))
		}
		through = append(through, next)
	}
	conn, err := through[len(through)-1].DialContext(ctx, "tcp", c.address())
	if err != nil {
		return fail(fmt.Errorf("by way of %s: %w", c.jumps[len(c.jumps)-1], err))
	}
	out, err := d.login(ctx, c, conn)
	if err != nil {
		return fail(err)
	}
	out.through = through
	return out, nil
}

// hop connects to one of the jumps: the first as its configuration says, the others
// through the one before.
func (d *Dialer) hop(ctx context.Context, text, known string, before []*client, depth int) (*client, error) {
	a, err := jump(text)
	if err != nil {
		return nil, err
	}
	a.KnownHosts = known
	if len(before) == 0 {
		return d.client(ctx, a, depth)
	}
	c, err := configOf(ctx, a, d.options.Arguments)
	if err != nil {
		return nil, err
	}
	if d.options.Forbids(c.hostname) || d.options.Forbids(a.Name) {
		return nil, &ForbiddenError{a.Name}
	}
	conn, err := before[len(before)-1].DialContext(ctx, "tcp", c.address())
	if err != nil {
		return nil, err
	}
	return d.login(ctx, c, conn)
}

// A ForbiddenError is a machine that the rules of a contest forbid to connect to.
type ForbiddenError struct{ Host string }

func (e *ForbiddenError) Error() string {
	return e.Host + " is a host that this contest forbids to connect to"
}

// transport is the stream to a machine without jumps.
func (d *Dialer) transport(ctx context.Context, c *config) (net.Conn, error) {
	if c.proxyCommand != "" {
		// It lives as long as the connection, not as long as the attempt.
		return peer.Command(exec.Command("sh", "-c", "exec "+c.command()))
	}
	dialer := net.Dialer{Control: func(_, address string, _ syscall.RawConn) error {
		if d.options.Forbids(address) {
			return &ForbiddenError{c.name}
		}
		return nil
	}}
	return dialer.DialContext(ctx, c.network, c.address())
}

// login opens an SSH connection on a stream; an error closes the stream.
func (d *Dialer) login(ctx context.Context, c *config, conn net.Conn) (*client, error) {
	check, kinds, err := d.hostKeys.check(c)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	var refused *HostKeyError // x/crypto keeps only the text of an error
	accepted := false
	signers, done := d.keys.signers(c)
	defer done()
	settings := &ssh.ClientConfig{
		User: c.user, Auth: []ssh.AuthMethod{ssh.PublicKeys(signers...)}, HostKeyAlgorithms: kinds,
		HostKeyCallback: func(name string, remote net.Addr, key ssh.PublicKey) error {
			err := check(name, remote, key)
			errors.As(err, &refused)
			accepted = err == nil
			return err
		},
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	raw, channels, requests, err := ssh.NewClientConn(conn, c.address(), settings)
	if !stop() && err == nil {
		err = errors.Join(context.Cause(ctx), raw.Close())
	}
	switch {
	case err == nil:
		return &client{Client: ssh.NewClient(raw, channels, requests)}, nil
	case refused != nil:
		err = refused
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case accepted: // what follows the host key is the login
		err = &LoginError{User: c.user, Keys: len(signers), Err: err}
	}
	closing := conn.Close()
	if s, ok := conn.(*peer.Stream); ok && s.Said() != "" {
		err = fmt.Errorf("%w; the proxy command said: %s", err, s.Said())
	} else if closing != nil && !errors.Is(closing, net.ErrClosed) {
		err = errors.Join(err, closing)
	}
	return nil, err
}

// A LoginError is a login that a machine refuses.
type LoginError struct {
	User string
	Keys int // that were offered
	Err  error
}

func (e *LoginError) Error() string {
	return fmt.Sprintf("it refuses the login of %s with %d keys: %v", e.User, e.Keys, e.Err)
}

func (e *LoginError) Unwrap() error { return e.Err }

// Hints say what else can be done.
func (e *LoginError) Hints() []string {
	return []string{`iikanji logs in by key only; for another way write via = ["ssh", "NAME"] in place of address`}
}
