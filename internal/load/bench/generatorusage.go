package bench

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/logs/tally"
)

// dials counts connections: opened, closed and failed.
type dials struct {
	tried, faults  atomic.Int64
	noPort, noFile atomic.Int64 // faults because no local port or descriptor was free

	mu       sync.Mutex
	open     int64
	peak     int64
	recent   [timeWait]int64 // connections closed, by second
	waiting  int64           // sum of recent
	second   int64
	peakPort int64
}

// timeWait is how many seconds the kernel reserves the port of a closed
// connection (TCP_TIMEWAIT_LEN). The port is free sooner when the target closes
// first, so the count is an upper bound.
const timeWait = 60

func (d *dials) opened() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.advance(time.Now().Unix())
	d.open++
	d.peak = max(d.peak, d.open)
	d.peakPort = max(d.peakPort, d.open+d.waiting)
}

func (d *dials) closed() {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now().Unix()
	d.advance(now)
	d.open--
	d.recent[now%timeWait]++
	d.waiting++
}

// advance drops the counts of seconds more than timeWait ago.
func (d *dials) advance(now int64) {
	if now-d.second >= timeWait {
		d.recent, d.waiting, d.second = [timeWait]int64{}, 0, now
	}
	for d.second < now {
		d.second++
		slot := &d.recent[d.second%timeWait]
		d.waiting -= *slot
		*slot = 0
	}
}

// peaks returns the largest number of open connections and of ports in use.
func (d *dials) peaks() (conns, ports int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.peak, d.peakPort
}

// portRange returns the number of local ports that the kernel assigns.
func portRange() int64 {
	b, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	var low, high int64
	if err == nil {
		_, err = fmt.Sscan(string(b), &low, &high)
	}
	if err != nil || high <= low {
		return 28232 // the kernel's default range
	}
	return high - low + 1
}

// A watch measures the generator over the load phase.
type watch struct {
	began, ended  int64
	user, system  time.Duration // at the beginning; after stop: of the phase
	rss           iikanji.Bytes
	tried, faults int64
	cores         int
	goroutines    int
}

func usage() (user, system time.Duration, rss iikanji.Bytes) {
	var ru syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &ru); err != nil {
		panic("BUG: getrusage of this process: " + err.Error())
	}
	return time.Duration(ru.Utime.Nano()), time.Duration(ru.Stime.Nano()), iikanji.Bytes(ru.Maxrss * 1024)
}

// coresToUse is how many cores the generator can keep busy at once.
func coresToUse() int {
	n := runtime.GOMAXPROCS(0)
	if set, err := allowed(); err == nil {
		n = min(n, set.Count())
	}
	return n
}

func (s *session) startWatch() *watch {
	w := &watch{began: s.clock.now(), cores: coresToUse(), tried: s.dials.tried.Load(), faults: s.dials.faults.Load()}
	w.user, w.system, _ = usage()
	s.timer.probe(true)
	return w
}

// stop is called when the phase is over, before its actors have returned.
func (w *watch) stop(s *session) {
	user, system, rss := usage()
	w.user, w.system, w.rss = user-w.user, system-w.system, rss
	w.ended, w.goroutines = s.clock.now(), runtime.NumGoroutine()
}

func (w *watch) took() time.Duration { return time.Duration(w.ended - w.began) }

// share returns the part of n cores that the generator used.
func (w *watch) share(n int) float64 {
	return float64(w.user+w.system) / float64(w.took()) / float64(n)
}

// result is called after all actors have returned, because schedules report
// their lateness when they return.
func (w *watch) result(s *session, steps []iikanji.StepStat) (iikanji.Generator, iikanji.Usage) {
	lag := s.lateness()
	conns, ports := s.dials.peaks()
	var requests int64
	for i := range steps {
		requests += steps[i].Count
	}
	g := iikanji.Generator{
		CPUShare: w.share(w.cores), Cores: w.cores, LagP99: lag.Quantile(0.99), LagMax: lag.Max(), LagMean: lag.Mean(),
		Requests: requests, Dials: s.dials.tried.Load() - w.tried, DialFaults: s.dials.faults.Load() - w.faults,
		PeakConns: conns, PeakPorts: float64(ports) / float64(portRange()), Goroutines: w.goroutines,
	}
	var warning string
	strain := strainOf(&g, steps, lag.Count(), &s.dials)
	if g.Why, warning = limitOf(strain); warning != "" {
		s.warn("%s", warning)
	}
	g.Void = g.Why != ""
	g.Starved = g.Void && strain.starved()
	g.Busy = g.Void && strain.noPort == 0 && strain.noFile == 0
	return g, iikanji.Usage{Who: "generator", User: w.user, System: w.system, PeakRS: w.rss, Share: w.share(runtime.NumCPU())}
}

// lateness merges the lateness of the probe and of the schedules.
func (s *session) lateness() *tally.Sketch {
	lag := s.timer.probe(false)
	s.mu.Lock()
	defer s.mu.Unlock()
	lag.Merge(&s.sendLag)
	return &lag
}
