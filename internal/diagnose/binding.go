package diagnose

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
)

// A Binding is the resource that a run had too little of.
type Binding struct {
	Resource string // cpu, locks, disk, pool, generator, or "" when none was used up
	Who      string // the service that used most of it
	// Share of the resource that was used. For the CPU it is what Who used of
	// the cores that the stack has: all of the machine's, unless it is pinned.
	Share float64
}

// From which share on a resource is the limit: of the cores that a service may
// use, of the time in which somebody waited for the disk, of the time of all
// statements that went into waiting for locks.
const (
	full        = 0.85
	diskBound   = 0.5
	lockBound   = 0.3
	leastOwn    = 0.4 // of the cores, that the app's own code is told of
	leastLocked = 0.5 // statements that waited for a lock at any moment, on average
)

// BindingOf tells from a run's usage alone what bound it; [Input.Binding] knows more.
func BindingOf(run *iikanji.Run) Binding { return Input{Run: run}.Binding() }

// Binding tells what bound a run. Services that share cores share a limit: a
// second saved in one of them serves all. Idle cores with statements that wait
// for each other point to locks, with processes that wait for the disk to the
// disk, and with all connections busy to the pool.
func (in Input) Binding() Binding {
	run := in.Run
	if run == nil {
		return Binding{}
	}
	if run.Load.Void || run.Load.CPUShare > full {
		return Binding{"generator", "generator", run.Load.CPUShare}
	}
	if b, ok := cpuBinding(run); ok {
		return b
	}
	for _, try := range []func() (Binding, bool){in.lockBinding, in.diskBinding, in.poolBinding} {
		if b, ok := try(); ok {
			return b
		}
	}
	return Binding{}
}

// cpuBinding says whether the cores of the stack were used up. A stack that is
// pinned has those cores only; others' work on them is not known apart from
// work elsewhere, so that only what the stack itself used counts then.
func cpuBinding(run *iikanji.Run) (Binding, bool) {
	all := float64(max(run.Place.Cores, 1))
	cores, pinned := stackCores(run)
	used, most := 0.0, iikanji.Usage{}
	for _, u := range run.Usage {
		ours := u.Who != "generator" && u.Who != "other"
		if ours || !pinned {
			used += u.Share * all
		}
		if ours && u.Share > most.Share {
			most = u
		}
	}
	if most.Who == "" || used < full*cores {
		return Binding{}, false
	}
	return Binding{"cpu", most.Who, most.Share * all / cores}, true
}

// stackCores is how many cores the stack has, and whether it is pinned to them.
func stackCores(run *iikanji.Run) (n float64, pinned bool) {
	if n := coresIn(run.Place.Stack); n > 0 {
		return float64(n), true
	}
	return float64(max(run.Place.Cores, 1)), false
}

// coresIn counts the CPUs of a list as in "0,2-3"; 0 for "all" and what is no list.
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

// lockBinding says whether statements mostly waited for each other.
func (in Input) lockBinding() (Binding, bool) {
	waited, took := in.locked(), 0.0
	for _, r := range in.rows(iikanji.Slow) {
		took += r.Total.Seconds()
	}
	if took == 0 || waited < lockBound*took || waited < leastLocked*in.Run.Took.Seconds() {
		return Binding{}, false
	}
	return Binding{"locks", "database", waited / took}, true
}

// diskBinding says whether processes mostly waited for the disk.
func (in Input) diskBinding() (Binding, bool) {
	share, who, most := 0.0, "", iikanji.Bytes(0)
	for _, r := range in.rows(iikanji.Host) {
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
	return Binding{"disk", who, share}, share >= diskBound && who != ""
}

// poolBinding says whether the app's connections to the database were all busy.
func (in Input) poolBinding() (Binding, bool) {
	p := in.pool()
	return Binding{"pool", "app", p.busy}, p.starved()
}

// rows are the rows of one side, when it was seen.
func (in Input) rows(s iikanji.Source) []iikanji.Row {
	var out []iikanji.Row
	for _, p := range in.Profiles {
		if p.Source == s && !slices.Contains(in.Blind, s) {
			out = append(out, p.Rows...)
		}
	}
	return out
}

// ben101 says that the load generator was the limit, so that nothing else is
// worth being believed.
func ben101(v *view) []iikanji.Finding {
	b := v.in.Binding()
	if b.Resource != "generator" {
		return nil
	}
	g := v.in.Run.Load
	f := iikanji.Finding{Code: "BEN101", Where: "generator",
		Claim:    fmt.Sprintf("the load generator used %.0f %% of its cores: the score says how fast it is, not the target", 100*g.CPUShare),
		Evidence: []iikanji.Evidence{{Source: "generator", Text: fmt.Sprintf("CPU share %.2f of %d cores, sending late by %s (p99)", g.CPUShare, g.Cores, g.LagP99)}},
		Remedies: []iikanji.Remedy{{Kind: "topology", Target: "generator", Says: "give the generator more cores or another machine"}},
	}
	if g.Why != "" {
		f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "generator", Text: g.Why})
	}
	return []iikanji.Finding{f}
}

// app101 says that the app's own code takes most of the cores that the stack
// has, and that they are full.
func app101(v *view) []iikanji.Finding {
	b := v.in.Binding()
	if b.Resource != "cpu" || b.Who != "app" || b.Share < leastOwn {
		return nil
	}
	run := v.in.Run
	all := float64(max(run.Place.Cores, 1))
	cores, pinned := stackCores(run)
	of := "the machine, and the machine is full"
	if pinned && cores < all {
		of = fmt.Sprintf("the %.0f of %.0f cores that the stack may use, and they are full", cores, all)
	}
	var out []iikanji.Finding
	for _, u := range run.Usage {
		if u.Who != "app" {
			continue
		}
		seconds := (u.User + u.System).Seconds()
		may, why := v.mayUse("app")
		if may == 0 {
			may, why = cores, "nothing is known to hold it to fewer"
		}
		out = append(out, iikanji.Finding{Code: "APP101", Where: "app",
			Claim: fmt.Sprintf("the app's own code uses %.0f %% of %s", 100*u.Share*all/cores, of),
			Evidence: []iikanji.Evidence{{Source: "usage", Text: fmt.Sprintf("app: %.1f s user, %.1f s system; %.1f of %.0f cores",
				u.User.Seconds(), u.System.Seconds(), u.Share*all, cores)},
				{Source: "process", Text: fmt.Sprintf("the app can use %s: %s", plural(min(may, cores), "core"), why)}},
			Gain:     between(seconds, 0.05, 0.5),
			Remedies: []iikanji.Remedy{{Kind: "patch", Target: "app", Says: "profile the app under this load; do less per request"}, {Kind: "topology", Target: "app", Says: "give the app a machine of its own"}},
		})
	}
	return out
}
