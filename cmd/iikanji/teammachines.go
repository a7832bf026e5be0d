package main

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/machine/fleet"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/hoststat"
	"github.com/iikanji/iikanji/internal/show/ui"
	"github.com/iikanji/iikanji/internal/site/target"
)

// Times of the samples for the page of a team.
const (
	machinesEvery = time.Second
	machinesKeep  = 60              // samples of a machine
	machinesIdle  = 2 * time.Minute // without a reader the connections end
)

// teamMachines samples the machines of a site while a page shows them.
type teamMachines struct {
	e      *env
	target *namedTarget
	ctx    context.Context // of the server

	mu      sync.Mutex
	asked   time.Time
	running bool
	rows    []ui.Machine
}

// now are the latest samples. The first call begins the sampling.
func (m *teamMachines) now() []ui.Machine {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.asked = m.e.Now(); !m.running {
		m.running, m.rows = true, nil
		for _, one := range machinesOf(m.target) {
			m.rows = append(m.rows, ui.Machine{Name: one.name})
		}
		go m.run()
	}
	return slices.Clone(m.rows)
}

// machinesOf are the machines of a site, without connections. This one is among them if it has
// a service or a [[host]].
func machinesOf(t *namedTarget) (all []onePlace) {
	for i := range t.file.Hosts {
		h := &t.file.Hosts[i]
		all = append(all, onePlace{name: h.Name, host: host.Local{}, address: h.Address})
	}
	if !slices.ContainsFunc(t.file.Hosts, func(h target.Host) bool { return h.Here() }) && (len(all) == 0 || slices.Contains(hostsOf(t.file), "")) {
		all = append([]onePlace{{name: "this machine", host: host.Local{}}}, all...)
	}
	return all
}

// run samples until nobody has asked for a while, or the server ends.
func (m *teamMachines) run() {
	ctx, cancel := context.WithCancel(m.ctx)
	defer cancel()
	lost := watchLost(ctx, m.e, m.target)
	defer lost.sending.Wait()
	defer func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.running = false
	}()
	ids, err := m.target.identities()
	var f *fleet.Fleet
	if err == nil {
		f, err = fleet.Open(ctx, m.target.file, fleet.Options{Known: ids, Changed: lost.changed})
	}
	if err != nil {
		m.allLost(err)
		<-time.After(machinesEvery)
		return
	}
	for name, why := range f.Down() {
		lost.changed(name, why)
	}
	var all sync.WaitGroup
	for i, one := range machinesOf(m.target) {
		if member := f.Member(one.name); member != nil {
			one.host = member
		}
		all.Go(func() { m.follow(ctx, i, one.host) })
	}
	tick := time.NewTicker(machinesEvery)
	defer tick.Stop()
	for ctx.Err() == nil && !m.idle() {
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
	cancel()
	all.Wait()
	_ = f.Close() // an error is that of a machine that was lost
}

// idle reports whether nobody has asked for a while.
func (m *teamMachines) idle() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.e.Now().Sub(m.asked) > machinesIdle
}

// allLost notes that no machine is reached.
func (m *teamMachines) allLost(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.rows {
		m.rows[i].Lost = err.Error()
	}
}

// follow takes the samples of one machine, and connects again when it was lost.
func (m *teamMachines) follow(ctx context.Context, i int, h host.Host) {
	for ctx.Err() == nil {
		err := hoststat.Follow(ctx, h, machinesEvery, func(s hoststat.Sample) { m.took(i, &s) })
		if ctx.Err() != nil {
			return
		}
		m.gone(i, err)
		if _, may := host.As[host.Reconnector](h); may {
			err = host.Reconnect(ctx, h)
		}
		if err != nil {
			m.gone(i, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(machinesEvery):
		}
	}
}

// gone notes that a machine is not reached.
func (m *teamMachines) gone(i int, err error) {
	if err == nil {
		return
	}
	var lost *host.LostError
	if errors.As(err, &lost) && lost.Err != nil { // without what was asked of it
		err = lost.Err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rows[i].Lost = err.Error()
}

// took keeps a sample. Its time is that of this machine's clock.
func (m *teamMachines) took(i int, s *hoststat.Sample) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := &m.rows[i]
	r.Lost, r.At, r.Free = "", m.e.Now(), s.MemAvailable
	r.CPU = (s.User + s.System) / max(float64(s.Cores), 1)
	r.Read, r.Written, r.In, r.Out = s.DiskIn, s.DiskOut, s.NetIn, s.NetOut
	minute := append(slices.Clone(r.Minute), r.CPU) // a reader has the former one
	r.Minute = minute[max(0, len(minute)-machinesKeep):]
}
