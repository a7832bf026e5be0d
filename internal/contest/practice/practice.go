// Package practice puts an arena onto machines of a lab as a foreign site, as on the day of a
// contest: on each machine all services are systemd units, with the same content, and only
// the first machine is used.
package practice

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/contest/lab"
)

// Options are how many machines there are, and for whom.
type Options struct {
	// Dir is a folder for the machines' files, not below /home, /root or /tmp.
	Dir   string
	Hosts int
	// Keys are public keys that may log in, a line each.
	Keys string
	// Sizes are how large the machines are, relative to each other; nil: all the same.
	Sizes []int
	// Of is for how many machines of size 1 the cores are divided; 0: for those that there are.
	// One machine of three is as large as each of three machines.
	Of int
	// Traps are the names of what is planted on the machines once they answer.
	Traps    []string
	Progress func(line string)
}

// A Park is an arena on machines.
type Park struct {
	Machines []*lab.Machine
	link     *lab.Link
	site     *site
	watches  sync.WaitGroup
	closing  context.CancelFunc
}

// account is that of contests.
const account, accountID = "isucon", 61000

// An UnsupportedError is an arena that cannot be put onto machines yet.
type UnsupportedError struct{ Arena, Why string }

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("the arena %s cannot be put onto machines yet: %s", e.Arena, e.Why)
}

// Check says whether an arena can be put onto machines: one nginx, one MariaDB, SQLite files and
// apps in Go.
func Check(a *arena.Arena) error {
	count := map[iikanji.Engine]int{}
	for _, s := range a.Services {
		switch s.Engine {
		case iikanji.EngineNginx, iikanji.EngineMariaDB, iikanji.EngineSQLite, iikanji.EngineGo:
			count[s.Engine]++
		default:
			return &UnsupportedError{a.Name, fmt.Sprintf("service %s is of engine %s", s.Name, s.Engine)}
		}
		if s.Serve != nil || s.OnDemand || s.PerRun {
			return &UnsupportedError{a.Name, fmt.Sprintf("service %s is started by iikanji itself", s.Name)}
		}
	}
	if count[iikanji.EngineNginx] != 1 || count[iikanji.EngineMariaDB] != 1 || count[iikanji.EngineGo] == 0 {
		return &UnsupportedError{a.Name, "it has not one nginx, one MariaDB and apps in Go"}
	}
	return nil
}

// Up boots the machines and waits until the site of each answers. Close ends them.
func Up(ctx context.Context, a *arena.Arena, o Options) (_ *Park, err error) {
	full, err := a.Complete()
	if err == nil {
		err = Check(full)
	}
	if err != nil {
		return nil, err
	}
	p := &Park{}
	live, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p.closing = cancel
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
		}
	}()
	o.Progress("building the apps and writing the data")
	if p.site, err = lay(ctx, full, o); err != nil {
		return nil, err
	}
	if p.link, err = lab.NewLink(ctx); err != nil {
		return nil, err
	}
	for n := range o.Hosts {
		m, err := lab.New(filepath.Join(o.Dir, fmt.Sprintf("host%d", n+1)), fmt.Sprintf("isu%d", n+1), "nginx", "mariadb")
		if err != nil {
			return nil, err
		}
		m.Join(p.link, 11+n)
		m.Limits = limits(n, o, runtime.NumCPU())
		p.Machines = append(p.Machines, m)
	}
	errs := make([]error, len(p.Machines))
	var all sync.WaitGroup
	for n, m := range p.Machines {
		o.Progress("booting " + m.Name)
		all.Go(func() { errs[n] = p.start(ctx, m, o) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if err := p.plant(ctx, o.Traps); err != nil {
		return nil, err
	}
	for _, m := range p.Machines {
		p.watches.Go(func() { p.watch(live, m, o.Progress) })
	}
	return p, nil
}

// spare is the share of the cores that the machines get, but for the first core: the rest is
// for this machine.
const spare = 0.9

// onTwo is what several machines get of two cores, both of which they run on: a third of a core
// answers few requests of an untouched app in time. The load generator has the rest.
const onTwo = 1.35

// limits of the n-th machine: core 0 is left for a load generator, but for several machines on
// two cores. On one core there are none.
func limits(n int, o Options, cores int) lab.Limits {
	if cores < 2 {
		return lab.Limits{}
	}
	size, all := 1, o.Hosts
	if len(o.Sizes) > 0 {
		size, all = o.Sizes[n], 0
		for _, s := range o.Sizes {
			all += s
		}
	}
	all, first, cpu := max(all, o.Of, 1), 1, spare*float64(cores-1)
	if cores == 2 && max(o.Hosts, o.Of) > 1 {
		first, cpu = 0, onTwo
	}
	return lab.Limits{CPU: cpu * float64(size) / float64(all), Cores: fmt.Sprintf("%d-%d", first, cores-1)}
}

// start prepares a machine, boots it, and makes its database.
func (p *Park) start(ctx context.Context, m *lab.Machine, o Options) error {
	err := errors.Join(m.SSHD(ctx, lab.Account{Name: account, UID: accountID, Keys: o.Keys, Sudo: true}), m.Database())
	if err == nil {
		err = m.Write("/etc/hosts", p.names(m), 0o644)
	}
	if err == nil {
		err = p.site.put(ctx, m, p.Machines[0].Address())
	}
	if err == nil {
		err = m.Boot(ctx)
	}
	if err == nil {
		err = p.site.begin(ctx, m)
	}
	if err != nil {
		return fmt.Errorf("machine %s: %w", m.Name, err)
	}
	return nil
}

// names are the names of all machines, as a machine's /etc/hosts.
func (p *Park) names(own *lab.Machine) string {
	text := "127.0.0.1 localhost\n"
	for _, m := range p.Machines {
		text += fmt.Sprintf("%s %s\n", m.Address(), m.Name)
	}
	return text + "127.0.1.1 " + own.Name + "\n"
}

// watch boots a machine again that was rebooted.
func (p *Park) watch(ctx context.Context, m *lab.Machine, progress func(string)) {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			return
		case <-m.Down():
		}
		if ctx.Err() != nil {
			return
		}
		progress(m.Name + " reboots")
		if err := m.Again(ctx); err != nil {
			progress(fmt.Sprintf("%s did not come back: %v", m.Name, err))
			return
		}
	}
}

// Config is a configuration of ssh for the machines. key is the path of a private key, "" for
// the user's own; knownHosts that of a file with the machines' keys.
func (p *Park) Config(key, knownHosts string) string {
	text := ""
	for _, m := range p.Machines {
		text += fmt.Sprintf("Host %s\n\tHostName %s\n\tUser %s\n\tUserKnownHostsFile %s\n", m.Name, m.Address(), account, knownHosts)
		if key != "" {
			text += fmt.Sprintf("\tIdentityFile %s\n", key)
		}
	}
	return text
}

// Here is the address at which the machines reach this one.
func (p *Park) Here() netip.Addr { return p.link.Address(1) }

// KnownHosts are the machines' keys, as a file of known hosts.
func (p *Park) KnownHosts() (string, error) {
	text := ""
	for _, m := range p.Machines {
		key, err := m.HostKey()
		if err != nil {
			return "", err
		}
		text += fmt.Sprintf("%s %s\n", m.Address(), key)
	}
	return text, nil
}

// Close ends the machines and removes their files.
func (p *Park) Close() error {
	p.closing()
	p.watches.Wait()
	var errs []error
	for _, m := range p.Machines {
		errs = append(errs, m.Close())
	}
	if p.link != nil {
		errs = append(errs, p.link.Close())
	}
	if p.site != nil {
		errs = append(errs, os.RemoveAll(p.site.dir))
	}
	return errors.Join(errs...)
}
