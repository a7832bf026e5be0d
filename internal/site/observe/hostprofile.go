package observe

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/hoststat"
)

// sampleEvery is the length of an interval of the host's sensor.
const sampleEvery = time.Second

// pageSize is the unit, in bytes, in which the kernel counts swapping.
const pageSize = 4 << 10

// hostProfile sums up the samples of a host: one row for each service and one for
// the whole host, the heaviest first. Total is CPU time, Share the
// share of all cores.
func hostProfile(samples []hoststat.Sample) *iikanji.Profile {
	p := &iikanji.Profile{Version: iikanji.ProfileVersion, Source: iikanji.Host, Target: thisMachine, Intake: iikanji.Intake{Format: "proc", Lines: int64(len(samples))}}
	if len(samples) == 0 {
		return p
	}
	p.First, p.Last = samples[0].At.Add(-samples[0].Over), samples[len(samples)-1].At
	host := iikanji.Row{Key: hoststat.Host, Host: &iikanji.HostRow{Machine: &iikanji.MachineRow{}}}
	rows := map[string]*iikanji.Row{}
	for i := range samples {
		s := &samples[i]
		addHost(&host, s)
		for j := range s.Services {
			v := &s.Services[j]
			r := rows[v.Name]
			if r == nil {
				r = &iikanji.Row{Key: v.Name, Host: &iikanji.HostRow{}}
				rows[v.Name] = r
			}
			addService(r, v, s.Over)
		}
		addOthers(rows[hoststat.Other], s)
	}
	m := host.Host.Machine
	for _, f := range []*float64{&m.Runnable, &m.PressureCPU, &m.PressureIO, &m.PressureMemory, &m.DiskBusy} {
		*f /= m.Wall.Seconds()
	}
	m.ReadTook, m.WriteTook, m.FlushTook = over(m.ReadTook, m.DiskReads), over(m.WriteTook, m.DiskWrites), over(m.FlushTook, m.DiskFlushes)
	m.BusyHalf, m.ServicesHalf = busiestHalf(samples, wholeHost), busiestHalf(samples, servicesOnly)
	rankOthers(rows[hoststat.Other], m.Wall*time.Duration(max(m.Cores, 1)))
	p.Rows = append(p.Rows, host)
	for _, r := range rows {
		p.Rows = append(p.Rows, *r)
	}
	for i := range p.Rows {
		r := &p.Rows[i]
		r.Count = int64(len(samples))
		r.Total = r.Host.User + r.Host.System
		r.Share = r.Total.Seconds() / (m.Wall.Seconds() * float64(max(m.Cores, 1)))
	}
	slices.SortFunc(p.Rows, func(a, b iikanji.Row) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Key, b.Key))
	})
	return p
}

// leastHalf is how many samples make a half: the use of one second is no state of a machine.
const leastHalf = 3

// busiestHalf is the mean CPU use, in cores, of the half of the samples, one after the other,
// in which it was greatest; 0 for too few samples.
func busiestHalf(samples []hoststat.Sample, used func(*hoststat.Sample) float64) (most float64) {
	n := (len(samples) + 1) / 2
	if n < leastHalf {
		return 0
	}
	sum := 0.0
	for i := range samples {
		sum += used(&samples[i])
		if i >= n {
			sum -= used(&samples[i-n])
		}
		if i >= n-1 {
			most = max(most, sum/float64(n))
		}
	}
	return most
}

func wholeHost(s *hoststat.Sample) float64 { return s.User + s.System }

// servicesOnly leaves out the load generator and the programs of no service.
func servicesOnly(s *hoststat.Sample) (cores float64) {
	for i := range s.Services {
		if v := &s.Services[i]; v.Name != Generator && v.Name != hoststat.Other && !strings.HasPrefix(v.Name, hoststat.Other+"/") {
			cores += v.User + v.System
		}
	}
	return cores
}

func over(total time.Duration, n int64) time.Duration {
	if n == 0 {
		return 0
	}
	return total / time.Duration(n)
}

// spent is a rate in cores over an interval, as time.
func spent(cores float64, d time.Duration) time.Duration { return time.Duration(cores * float64(d)) }

// addHost adds what the whole host did in one interval. Means are kept as sums
// over time until the end.
func addHost(r *iikanji.Row, s *hoststat.Sample) {
	h, m, sec := r.Host, r.Host.Machine, s.Over.Seconds()
	h.User += spent(s.User, s.Over)
	h.System += spent(s.System, s.Over)
	h.Peak = max(h.Peak, s.User+s.System)
	h.Switches += int64(s.Switches * sec)
	h.Read += iikanji.Bytes(s.DiskIn * sec)
	h.Written += iikanji.Bytes(s.DiskOut * sec)
	h.PeakRSS = max(h.PeakRSS, s.MemTotal-s.MemAvailable)

	m.Cores, m.MemTotal = s.Cores, s.MemTotal
	m.Wall += s.Over
	m.IOWait += spent(s.IOWait, s.Over)
	m.Steal += spent(s.Steal, s.Over)
	m.Idle += spent(s.Idle, s.Over)
	m.Runnable += float64(s.Runnable) * sec
	m.PressureCPU += s.PressureCPU * sec
	m.PressureIO += s.PressureIO * sec
	m.PressureMemory += s.PressureMemory * sec
	if m.MemLeast == 0 || s.MemAvailable < m.MemLeast {
		m.MemLeast = s.MemAvailable
	}
	m.SwapUsed = max(m.SwapUsed, s.SwapUsed)
	m.SwapIn += iikanji.Bytes(s.SwapIn * sec * pageSize)
	m.SwapOut += iikanji.Bytes(s.SwapOut * sec * pageSize)
	reads, writes, flushes := s.DiskReads*sec, s.DiskWrites*sec, s.DiskFlushes*sec
	m.DiskReads += int64(reads + 0.5)
	m.DiskWrites += int64(writes + 0.5)
	m.DiskFlushes += int64(flushes + 0.5)
	m.ReadTook += time.Duration(reads * float64(s.ReadTook))
	m.WriteTook += time.Duration(writes * float64(s.WriteTook))
	m.FlushTook += time.Duration(flushes * float64(s.FlushTook))
	m.DiskBusy += s.DiskBusy * sec
	m.ListenDrops += int64(s.ListenDrops*sec + 0.5)
	m.ListenOverflows += int64(s.ListenOverflows*sec + 0.5)
	m.Retransmits += int64(s.Retransmits*sec + 0.5)
}

// addService adds what one service did in one interval.
func addService(r *iikanji.Row, v *hoststat.ServiceSample, d time.Duration) {
	h, sec := r.Host, d.Seconds()
	h.User += spent(v.User, d)
	h.System += spent(v.System, d)
	h.Peak = max(h.Peak, v.User+v.System)
	h.Switches += int64(v.Switches * sec)
	h.Read += iikanji.Bytes(v.Read * sec)
	h.Written += iikanji.Bytes(v.Written * sec)
	h.Busiest += spent(v.Busiest, d)
	h.PeakRSS = max(h.PeakRSS, v.RSS)
	h.Processes, h.Threads, h.Sockets = max(h.Processes, v.Processes), max(h.Threads, v.Threads), max(h.Sockets, v.Sockets)
	if v.FDs >= h.FDs {
		h.FDs, h.FDLimit = v.FDs, v.FDLimit
	}
}

// addOthers adds the programs of no service that used most in one interval.
func addOthers(other *iikanji.Row, s *hoststat.Sample) {
	if other == nil {
		return
	}
	of := &other.Host.Programs
	for _, g := range s.Others {
		i := slices.IndexFunc(*of, func(u iikanji.Usage) bool { return u.Who == g.Name })
		if i < 0 {
			i = len(*of)
			*of = append(*of, iikanji.Usage{Who: g.Name})
		}
		(*of)[i].User += spent(g.User, s.Over)
		(*of)[i].System += spent(g.System, s.Over)
	}
}

// mostPrograms is how many programs of no service are kept of a run.
const mostPrograms = 5

// rankOthers keeps the programs that used most, with their share of all cores.
func rankOthers(other *iikanji.Row, all time.Duration) {
	if other == nil {
		return
	}
	of := other.Host.Programs
	slices.SortFunc(of, func(a, b iikanji.Usage) int {
		return cmp.Or(cmp.Compare(b.User+b.System, a.User+a.System), cmp.Compare(a.Who, b.Who))
	})
	of = of[:min(len(of), mostPrograms)]
	for i := range of {
		of[i].Share = float64(of[i].User+of[i].System) / float64(all)
	}
	other.Host.Programs = of
}
