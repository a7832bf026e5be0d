package cause

import (
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
)

// A Binding is the resource that limited a run.
type Binding struct {
	Resource string // cpu, locks, disk, pool, generator; "" for none
	Who      string // the service that used most of it
	// Share of the resource that was used. For the CPU it is the part of the
	// stack's cores that Who used. The stack has all cores unless it is pinned.
	Share float64
	// Host is the machine of the resource; "" for the one that sends the load.
	Host string
}

// String names the resource, the service and, where it is another one, the machine.
func (b Binding) String() string {
	switch {
	case b.Resource == "":
		return ""
	case b.Host == "":
		return b.Resource + " (" + b.Who + ")"
	}
	return b.Resource + " (" + b.Who + " on " + b.Host + ")"
}

// The share from which on a resource is the limit: of the cores that a service
// may use, of the time in which any task waited for the disk, of the time of all
// statements that was spent waiting for locks.
const (
	full        = 0.85
	mostlyUsed  = 0.5 // of a quota that was used up: less is the work of other programs
	diskBound   = 0.5
	lockBound   = 0.3
	leastLocked = 0.5 // mean number of statements waiting for a lock
)

// Binding finds the resource that limited a run. Services that share cores share
// a limit: a second saved in one of them helps all. With idle cores the limit is
// the locks if statements wait for each other, the disk if processes wait for
// it, or the pool if all connections are busy.
func (in Input) Binding() Binding {
	run := in.Run
	if run == nil {
		return Binding{}
	}
	in = in.settle()
	if run.Load.Void || run.Load.CPUShare > full {
		return Binding{Resource: "generator", Who: "generator", Share: run.Load.CPUShare}
	}
	if b, ok := in.cpuBinding(run); ok {
		return b
	}
	for _, try := range []func() (Binding, bool){in.lockBinding, in.diskBinding, in.poolBinding} {
		if b, ok := try(); ok {
			if s, known := in.Target.Service(b.Who); known && b.Host == "" {
				b.Host = s.Host
			}
			return b
		}
	}
	return Binding{}
}

// cpuBinding reports whether the cores of the stack were used up on a machine; of several
// such machines it returns the fullest.
func (in Input) cpuBinding(run *iikanji.Run) (best Binding, found bool) {
	fullest := 0.0
	for _, name := range usageHosts(run) {
		if b, used, ok := cpuOf(run, name, in.MachineOf(name)); ok && used > fullest {
			best, found, fullest = b, true, used
		}
	}
	return best, found
}

// usageHosts are the machines in the usage of a run, the one that sends the load first.
func usageHosts(run *iikanji.Run) []string {
	names := []string{""}
	for _, u := range run.Usage {
		if !slices.Contains(names, u.Host) {
			names = append(names, u.Host)
		}
	}
	return names
}

// MachineOf is what the samples of a machine show, "" for the one that sends the load; nil where
// it was not sampled.
func (in Input) MachineOf(host string) *iikanji.MachineRow {
	if host == "" {
		host = ThisMachine
	}
	for _, p := range in.Profiles {
		if p.Source != iikanji.Host || p.Target != host || !in.Seen(p) {
			continue
		}
		for _, r := range p.Rows {
			if r.Host != nil && r.Host.Machine != nil {
				return r.Host.Machine
			}
		}
	}
	return nil
}

// cpuOf reports whether the cores of the stack were used up on one machine. If the stack
// is pinned there, only its own use counts: how much of the other processes' work ran
// on its cores is unknown. Where the machine was sampled, that of the busier half of the time
// counts: an outside benchmarker prepares and checks, too, and the site is idle then.
func cpuOf(run *iikanji.Run, host string, m *iikanji.MachineRow) (b Binding, share float64, ok bool) {
	all, cores, pinned := float64(run.CoresOf(host)), run.CapacityOf(host), false // shares are of all cores
	if host == "" {
		all = float64(max(run.Place.Cores, 1))
		cores, pinned = StackCores(run)
	}
	pinned = pinned || cores < all // by a quota: what others use of the machine is not the services'
	used, most := 0.0, iikanji.Usage{}
	for _, u := range run.Usage {
		if u.Host != host {
			continue
		}
		ours := u.Who != "generator" && u.Who != "other"
		if ours || !pinned {
			used += u.Share * all
		}
		if ours && u.Share > most.Share {
			most = u
		}
	}
	if m != nil && pinned {
		used = max(used, m.ServicesHalf)
	} else if m != nil {
		used = max(used, m.BusyHalf)
	}
	if run.UsedUp(host) && used >= mostlyUsed*cores {
		used = max(used, cores)
	}
	if most.Who == "" || used < full*cores {
		return Binding{}, 0, false
	}
	return Binding{Resource: "cpu", Who: most.Who, Share: most.Share * all / cores, Host: host}, used / cores, true
}

// StackCores is how many cores the stack has, and whether it is pinned to them.
func StackCores(run *iikanji.Run) (n float64, pinned bool) {
	if n := coresIn(run.Place.Stack); n > 0 {
		return float64(n), true
	}
	return float64(max(run.Place.Cores, 1)), false
}

// coresIn counts the CPUs of a list as in "0,2-3"; 0 for "all" and for anything
// that is not a list.
func coresIn(list string) int {
	n := 0
	for part := range strings.SplitSeq(list, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(part), "-")
		a, err := strconv.Atoi(from)
		b := a
		if err == nil && isRange {
			b, err = strconv.Atoi(to)
		}
		if err != nil || b < a {
			return 0
		}
		n += b - a + 1
	}
	return n
}

// lockBinding reports whether the statements of a database mostly waited for
// each other's locks. Of several such databases it returns the one with the
// longest waits.
func (in Input) lockBinding() (best Binding, found bool) {
	most := 0.0
	for _, s := range in.Target.WithRole(iikanji.RoleDatabase) {
		d := in.of(s)
		waited, took := d.Locked(), d.statementSeconds()
		if took == 0 || waited < lockBound*took || waited < leastLocked*in.Run.Took.Seconds() || waited <= most {
			continue
		}
		most, best, found = waited, Binding{Resource: "locks", Who: s.Name, Share: waited / took}, true
	}
	return best, found
}

// statementSeconds is the total time of the statements of the Slow profiles.
func (in Input) statementSeconds() float64 {
	took := 0.0
	for _, r := range in.Rows(iikanji.Slow) {
		took += r.Total.Seconds()
	}
	return took
}

// diskBinding reports whether the processes of a host mostly waited for the disk.
// Of several such hosts it returns the one that waited most.
func (in Input) diskBinding() (best Binding, found bool) {
	for _, p := range in.Profiles {
		if p.Source != iikanji.Host || !in.Seen(p) {
			continue
		}
		if b, ok := diskOf(p); ok && (!found || b.Share > best.Share) {
			best, found = b, true
		}
	}
	return best, found
}

// diskOf is the binding of one host's disk.
func diskOf(p iikanji.Profile) (Binding, bool) {
	share, who, most := 0.0, "", iikanji.Bytes(0)
	for _, r := range p.Rows {
		if r.Host == nil {
			continue
		}
		if m := r.Host.Machine; m != nil {
			share = m.PressureIO
			if m.Wall > 0 {
				share = max(share, m.IOWait.Seconds()/m.Wall.Seconds())
			}
			continue
		}
		if used := r.Host.Read + r.Host.Written; r.Key != "generator" && r.Key != "other" && used > most {
			who, most = r.Key, used
		}
	}
	b := Binding{Resource: "disk", Who: who, Share: share}
	if p.Target != ThisMachine {
		b.Host = p.Target
	}
	return b, share >= diskBound && who != ""
}

// poolBinding reports whether all connections of an app to a database were
// busy. Of several such pools it returns the busiest.
func (in Input) poolBinding() (best Binding, found bool) {
	for _, s := range in.Target.WithRole(iikanji.RoleDatabase) {
		for _, p := range in.Pools(s) {
			if p.Starved() && (!found || p.Busy > best.Share) {
				best, found = Binding{Resource: "pool", Who: p.App, Share: p.Busy}, true
			}
		}
	}
	return best, found
}

// Rows are the rows of all profiles of a source, none when its sensor is blind.
func (in Input) Rows(s iikanji.Source) []iikanji.Row {
	var out []iikanji.Row
	for _, p := range in.Profiles {
		if p.Source == s && in.Seen(p) {
			out = append(out, p.Rows...)
		}
	}
	return out
}
