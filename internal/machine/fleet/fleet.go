package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/peer"
	"github.com/iikanji/iikanji/internal/machine/sshdial"
	"github.com/iikanji/iikanji/internal/site/target"
)

// Options are how the machines of a site are opened.
type Options struct {
	// Write: files may be written, below the folders of the file's policy. Without it the
	// machines are read, which any number of commands may do at a time.
	Write bool
	// Folders are further folders and files, by machine, that this command writes.
	Folders map[string][]string
	// Claim says for whom is written; see peer.Claim.
	Claim peer.Claim
	// Program is iikanji's own file for machines; "": that of this process.
	Program string
	// AcceptNew: host keys that are not known are written into the site's own known_hosts.
	AcceptNew bool
	// Ask asks a person for a secret, such as the passphrase of a key; nil: nobody is asked.
	Ask func(prompt string) (string, error)
	// Known are the Identity.ID of machines by name, as they were seen before: another machine
	// in their place is an ExchangedError. Names that are missing are not compared.
	Known map[string]string
	// SSHArguments are further arguments of ssh -G, such as -F FILE.
	SSHArguments []string
	// Progress is called with what goes on, a line at a time; nil for no one. It may be
	// called from several goroutines.
	Progress func(line string)
	// Changed is called when a machine is connected (nil) and when its connection is lost, with
	// the reason; nil for no one. It may be called from several goroutines.
	Changed func(name string, lost error)
}

// A Fleet is the machines of a site other than this one.
type Fleet struct {
	names   []string // in the file's order
	members map[string]*Member
}

// Open connects to every machine of a file but this one, all at once. One that cannot be
// reached is no error: see Down. Close ends the connections.
func Open(ctx context.Context, f *target.File, o Options) (*Fleet, error) {
	fleet := &Fleet{members: map[string]*Member{}}
	programs := &programs{own: o.Program, read: map[string]*peer.Program{}}
	dialer := sshdial.New(sshdial.Options{AcceptNew: o.AcceptNew, Ask: o.Ask, Forbids: f.Contest.Forbids, Arguments: o.SSHArguments})
	for i := range f.Hosts {
		h := &f.Hosts[i]
		if h.Here() {
			continue
		}
		fleet.names = append(fleet.names, h.Name)
		fleet.members[h.Name] = newMember(f, h, o, programs, dialer)
	}
	var all sync.WaitGroup
	for _, m := range fleet.members {
		all.Go(func() { m.connectOnce(ctx) })
	}
	all.Wait()
	if ctx.Err() != nil {
		return nil, errors.Join(context.Cause(ctx), fleet.Close())
	}
	return fleet, nil
}

// Names are the names of the machines, in the file's order, without this one.
func (f *Fleet) Names() []string { return slices.Clone(f.names) }

// Hosts are the machines by their names, without this one. A machine that is down is among
// them: its calls are a host.LostError. Each implements host.Reconnector.
func (f *Fleet) Hosts() map[string]host.Host {
	out := map[string]host.Host{}
	for name, m := range f.members {
		out[name] = m
	}
	return out
}

// Member is the machine of a name; nil for none.
func (f *Fleet) Member(name string) *Member { return f.members[name] }

// Down are the machines that are not connected at this moment, with the reason.
func (f *Fleet) Down() map[string]error {
	out := map[string]error{}
	for name, m := range f.members {
		if _, err := m.live(); err != nil {
			out[name] = err
		}
	}
	return out
}

// Close ends all connections.
func (f *Fleet) Close() error {
	var errs []error
	for _, name := range f.names {
		errs = append(errs, f.members[name].close())
	}
	return errors.Join(errs...)
}

// programs are the files that machines get, each read once.
type programs struct {
	own  string
	mu   sync.Mutex
	read map[string]*peer.Program
}

func (p *programs) of(h *target.Host) (*peer.Program, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	path := p.own
	if h.Peer != "" {
		path = h.Peer
	}
	if path == "" {
		var err error
		if path, err = os.Executable(); err != nil {
			return nil, fmt.Errorf("finding the program of this process: %w", err)
		}
	}
	if p.read[path] == nil {
		one, err := peer.ReadProgram(path)
		if err != nil {
			return nil, err
		}
		p.read[path] = one
	}
	return p.read[path], nil
}
