package app

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// An appServer is an app server with the use of its processes in the run.
type appServer struct {
	fact.Workers
	name  string
	slots int     // requests that it can compute at once
	load  float64 // requests under way, on average
	cpu   float64 // cores that it used
	wall  float64 // seconds
	cores float64 // of the machine that the stack may use
	idle  float64 // cores that were idle
}

// appServers are the app servers of the run whose use is known.
func appServers(v *cause.View) []appServer {
	var out []appServer
	for f, w := range fact.TopicWorkers.In(v.Input.Facts) {
		if w.Processes < 1 || w.Threads < 1 {
			continue
		}
		a := appServer{Workers: w, name: f.Target, slots: w.Processes * w.Threads}
		m, h := v.MachineOf(f.Target), v.Host(f.Target)
		if m == nil || h == nil || m.Wall <= 0 || v.Input.Run == nil {
			continue
		}
		a.wall, a.cores = m.Wall.Seconds(), float64(m.Cores)
		if s, _ := v.Input.Target.Service(f.Target); s.Host == "" { // the stack of this machine may be pinned
			a.cores = coresOf(v.Input.Run.Place.Stack, m.Cores)
		}
		a.idle = min(m.Idle.Seconds()/a.wall, a.cores)
		a.cpu = (h.User + h.System).Seconds() / a.wall
		a.load = loadOf(v, f.Target)
		out = append(out, a)
	}
	return out
}

// loadOf is the number of requests that were under way in the app, on average: from the
// times that web servers waited for it, else from the times of the load's steps. It is 0
// if other apps that listen may share them.
func loadOf(v *cause.View, app string) float64 {
	took := v.Input.Run.Took.Seconds()
	if took <= 0 {
		return 0
	}
	for _, s := range v.Input.Target.WithRole(iikanji.RoleApp) {
		if s.Name != app && (s.Address != "" || s.Socket != "") {
			return 0
		}
	}
	waited := 0.0
	if !v.Blind(iikanji.Access) && !v.Partly() {
		for _, r := range v.Input.Rows(iikanji.Access) {
			if r.Web != nil {
				waited += r.Web.Upstream.Seconds()
			}
		}
	}
	if waited == 0 {
		for _, s := range v.Input.Run.Steps {
			waited += s.Total.Seconds()
		}
	}
	return waited / took
}

// most is the number of processes for which memory and the connections of the databases
// suffice with so many threads each.
func (a appServer) most(v *cause.View, threads int) int {
	n := math.MaxInt
	if a.Private > 0 {
		free := float64(a.Available) - memoryKept*float64(a.Memory)
		n = a.Processes + int(max(0, free)/float64(a.Private))
	}
	for _, d := range v.Databases {
		if limit, err := strconv.Atoi(d.Variables["max_connections"]); err == nil && limit > 0 {
			n = min(n, max(1, (limit-connectionsKept)/threads))
		}
	}
	return n
}

// use is the evidence of how busy the processes were.
func (a appServer) use() iikanji.Evidence {
	return iikanji.Evidence{Source: "process", Text: fmt.Sprintf("%s runs %d × %d threads (%s decides) and used %.2f of %.3g cores; %.1f requests were under way on average, %.2f cores were idle",
		a.Server, a.Processes, a.Threads, a.ProcessesBy, a.cpu, a.cores, a.load, a.idle)}
}

// price is the evidence of what further processes take.
func (a appServer) price(n int) iikanji.Evidence {
	more := max(0, n-a.Processes)
	return iikanji.Evidence{Source: "process", Text: fmt.Sprintf("%d more processes take up to %s each (%s together), and %s are available", more, a.Private, a.Private*iikanji.Bytes(more), a.Available)}
}

// kept is the evidence of what the app keeps in the memory of its process; nothing if it
// keeps nothing.
func (a appServer) kept() []iikanji.Evidence {
	var out []iikanji.Evidence
	for _, one := range []struct {
		what   string
		places []string
	}{{"sessions", a.Sessions}, {"values", a.Values}, {"a connection that threads would share", a.Connections}} {
		if len(one.places) > 0 {
			places := slices.Clone(one.places)
			out = append(out, iikanji.Evidence{Source: "source", Text: fmt.Sprintf("the process keeps %s in its memory: %s", one.what, cause.Cut(fmt.Sprint(places), 200))})
		}
	}
	if a.Unread {
		out = append(out, iikanji.Evidence{Source: "source", Text: "the source was not read: what the process keeps in its memory is unknown"})
	}
	return out
}
