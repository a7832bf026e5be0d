package hoststat

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// A Sample is the activity of a host in one interval. CPU figures are in cores (0.5 is
// half a core), rates are per second.
type Sample struct {
	At    time.Time     `json:"at"` // the end of the interval
	Over  time.Duration `json:"over_ns"`
	Cores int           `json:"cores"`

	User   float64 `json:"user"`
	System float64 `json:"system"`
	IOWait float64 `json:"iowait"`
	Idle   float64 `json:"idle"`
	Steal  float64 `json:"steal"`

	Runnable int64   `json:"runnable"` // processes that run or wait for a core, at the end
	Blocked  int64   `json:"blocked"`  // processes that wait for I/O, at the end
	Switches float64 `json:"context_switches"`
	// The pressures are the shares of the interval in which at least one process
	// waited for the resource (PSI "some"), 0..1.
	PressureCPU    float64 `json:"pressure_cpu"`
	PressureIO     float64 `json:"pressure_io"`
	PressureMemory float64 `json:"pressure_memory"`

	MemTotal     iikanji.Bytes `json:"mem_total"`
	MemAvailable iikanji.Bytes `json:"mem_available"`
	SwapUsed     iikanji.Bytes `json:"swap_used"`
	SwapIn       float64       `json:"swap_in_pages"`
	SwapOut      float64       `json:"swap_out_pages"`

	DiskReads   float64       `json:"disk_reads"`
	DiskWrites  float64       `json:"disk_writes"`
	DiskFlushes float64       `json:"disk_flushes"`
	DiskIn      float64       `json:"disk_read_bytes"`
	DiskOut     float64       `json:"disk_write_bytes"`
	DiskBusy    float64       `json:"disk_busy"`     // share of the interval, summed over devices
	ReadTook    time.Duration `json:"disk_read_ns"`  // mean of the reads of the interval
	WriteTook   time.Duration `json:"disk_write_ns"` // mean of the writes
	FlushTook   time.Duration `json:"disk_flush_ns"` // mean of the flushes

	NetIn       float64 `json:"net_in_bytes"` // loopback left out
	NetOut      float64 `json:"net_out_bytes"`
	ListenDrops float64 `json:"listen_drops"`
	// ListenOverflows are the drops caused by a full queue of a socket.
	ListenOverflows float64 `json:"listen_overflows"`
	Retransmits     float64 `json:"retransmits"`

	Services []ServiceSample `json:"services"` // in the order of the request, then "other"
	// Others are the programs of "other" with the most CPU time, the heaviest first.
	Others []Program `json:"others,omitempty"`
}

// A Program is the activity, in the interval, of all processes with one name that
// belong to no service.
type Program struct {
	Name      string  `json:"name"` // the kernel's name of the process, cut after 15 bytes
	Processes int     `json:"processes"`
	User      float64 `json:"user"` // cores
	System    float64 `json:"system"`
}

// mostOthers limits the programs that are listed in Others.
const mostOthers = 5

// A ServiceSample is the activity of one service in the interval.
type ServiceSample struct {
	Name      string        `json:"name"`
	Processes int           `json:"processes"`
	Threads   int           `json:"threads"`
	User      float64       `json:"user"` // cores
	System    float64       `json:"system"`
	RSS       iikanji.Bytes `json:"rss"`
	Read      float64       `json:"read_bytes"`  // from disk, per second
	Written   float64       `json:"write_bytes"` // to disk, per second
	FDs       int           `json:"descriptors"` // of the process with the most
	FDLimit   int64         `json:"descriptor_limit"`
	Sockets   int           `json:"sockets"`          // open sockets of all its processes, listening ones included
	Switches  float64       `json:"context_switches"` // of all its threads
	Busiest   float64       `json:"busiest_thread"`   // cores of the thread that ran most; 0 if the kernel does not report it
}

// A Service is a name with root processes; it includes their descendants.
type Service struct {
	Name string
	PIDs []int
}

// A Sampler turns the kernel's running totals into Samples. It is not safe
// for concurrent use.
type Sampler struct {
	fs    procfs.FS
	mount string
	last  time.Time
	prev  counters
	procs map[procKey]procCounters
	limit map[procKey]int64
	buf   []byte
}

// A procKey identifies a process; a later process with the same pid has another key.
type procKey struct {
	pid   int
	start uint64
}

type procCounters struct {
	user, system  time.Duration
	named         bool // belongs to a service; the fields below were read only then
	read, written uint64
	threads       map[int]threadCounter
}

// NewSampler returns a Sampler of a host and reads the totals once: the first
// interval begins now.
func NewSampler(h host.Host, now time.Time) (*Sampler, error) {
	fs, mount, err := procOf(h)
	if err != nil {
		return nil, err
	}
	s := &Sampler{fs: fs, mount: mount, procs: map[procKey]procCounters{}, limit: map[procKey]int64{}, buf: make([]byte, 256)}
	_, err = s.Sample(now, nil)
	return s, err
}

// Sample ends the interval that began with the last call and returns its sample.
func (s *Sampler) Sample(now time.Time, services []Service) (*Sample, error) {
	c, err := readCounters(s.fs, s.mount)
	if err != nil {
		return nil, err
	}
	over := now.Sub(s.last)
	if over <= 0 {
		over = time.Nanosecond
	}
	out := &Sample{At: now, Over: over}
	out.rates(&s.prev, &c, over)
	if err := s.level(out, &c); err != nil {
		return nil, err
	}
	if err := s.services(out, services, over); err != nil {
		return nil, err
	}
	s.prev, s.last = c, now
	return out, nil
}

// rates sets the fields that are differences of totals.
func (o *Sample) rates(a, b *counters, over time.Duration) {
	sec := over.Seconds()
	rate := func(from, to uint64) float64 {
		if to < from { // a counter was reset
			return 0
		}
		return float64(to-from) / sec
	}
	o.User, o.System = (b.user-a.user)/sec, (b.system-a.system)/sec
	o.IOWait, o.Idle, o.Steal = max(b.iowait-a.iowait, 0)/sec, (b.idle-a.idle)/sec, (b.steal-a.steal)/sec
	o.Switches = rate(a.ctxt, b.ctxt)
	share := func(i int) float64 { return min(float64(b.psi[i]-a.psi[i])/float64(over), 1) }
	o.PressureCPU, o.PressureIO, o.PressureMemory = share(0), share(1), share(2)
	o.SwapIn, o.SwapOut = rate(a.swapIn, b.swapIn), rate(a.swapOut, b.swapOut)
	o.NetIn, o.NetOut = rate(a.rx, b.rx), rate(a.tx, b.tx)
	o.ListenDrops, o.ListenOverflows, o.Retransmits = (b.drops-a.drops)/sec, (b.overflows-a.overflows)/sec, (b.retrans-a.retrans)/sec

	d, e := a.disk, b.disk
	o.DiskReads, o.DiskWrites, o.DiskFlushes = rate(d.reads, e.reads), rate(d.writes, e.writes), rate(d.flushes, e.flushes)
	o.DiskIn, o.DiskOut = rate(d.readBytes, e.readBytes), rate(d.writeBytes, e.writeBytes)
	o.DiskBusy = float64(e.busy-d.busy) / float64(over)
	o.ReadTook = mean(e.readTime-d.readTime, e.reads-d.reads)
	o.WriteTook = mean(e.writeTime-d.writeTime, e.writes-d.writes)
	o.FlushTook = mean(e.flushTime-d.flushTime, e.flushes-d.flushes)
}

func mean(total time.Duration, n uint64) time.Duration {
	if n == 0 || total < 0 {
		return 0
	}
	return total / time.Duration(n)
}

// level sets the fields that are gauges, not rates.
func (s *Sampler) level(o *Sample, c *counters) error {
	o.Cores, o.Runnable, o.Blocked = c.cores, int64(c.running), int64(c.blocked)
	m, err := s.fs.Meminfo()
	if err != nil {
		return fmt.Errorf("reading /proc/meminfo: %w", err)
	}
	size := func(kib *uint64) iikanji.Bytes {
		if kib == nil {
			return 0
		}
		return iikanji.Bytes(*kib) << 10
	}
	o.MemTotal, o.MemAvailable = size(m.MemTotal), size(m.MemAvailable)
	o.SwapUsed = size(m.SwapTotal) - size(m.SwapFree)
	return nil
}

// services charges every process to its service; the rest is "other".
func (s *Sampler) services(o *Sample, services []Service, over time.Duration) error {
	procs, err := s.fs.AllProcs()
	if err != nil {
		return fmt.Errorf("listing processes: %w", err)
	}
	stats, root := map[int]procfs.ProcStat{}, map[int]string{}
	for _, p := range procs {
		if st, err := p.Stat(); err == nil {
			stats[p.PID] = st
		}
	}
	index := map[string]int{}
	for i, sv := range services {
		index[sv.Name] = i
		o.Services = append(o.Services, ServiceSample{Name: sv.Name})
		for _, pid := range sv.PIDs {
			root[pid] = sv.Name
		}
	}
	other := len(o.Services)
	o.Services = append(o.Services, ServiceSample{Name: Other})
	seen, others := map[procKey]procCounters{}, map[string]*Program{}
	for _, p := range procs {
		st, ok := stats[p.PID]
		if !ok {
			continue
		}
		at, named := index[groupOf(p.PID, stats, root)]
		if !named {
			at = other
		}
		user, system := s.charge(&o.Services[at], p, st, named, over, seen)
		if !named {
			count(others, st.Comm, user, system)
		}
	}
	o.Others = heaviest(others)
	s.procs = seen
	for k := range s.limit {
		if _, alive := seen[k]; !alive {
			delete(s.limit, k)
		}
	}
	return nil
}

// count adds a process of no service to its program.
func count(others map[string]*Program, name string, user, system float64) {
	g := others[name]
	if g == nil {
		g = &Program{Name: name}
		others[name] = g
	}
	g.Processes, g.User, g.System = g.Processes+1, g.User+user, g.System+system
}

// heaviest are the programs with the most CPU time, at most mostOthers, without those
// that used none.
func heaviest(others map[string]*Program) []Program {
	var out []Program
	for _, g := range others {
		if g.User+g.System > 0 {
			out = append(out, *g)
		}
	}
	slices.SortFunc(out, func(a, b Program) int {
		return cmp.Or(cmp.Compare(b.User+b.System, a.User+a.System), cmp.Compare(a.Name, b.Name))
	})
	return out[:min(len(out), mostOthers)]
}

// charge adds one process to its service and returns the cores that it used.
// Descriptors, sockets and disk bytes are read only for named services: for all
// processes, reading them would cost more than the rest of the sample.
func (s *Sampler) charge(sv *ServiceSample, p procfs.Proc, st procfs.ProcStat, named bool, over time.Duration, seen map[procKey]procCounters) (user, system float64) {
	key := procKey{p.PID, st.Starttime}
	now := procCounters{user: time.Duration(st.UTime) * tick, system: time.Duration(st.STime) * tick, named: named}
	if named {
		if io, err := p.IO(); err == nil {
			now.read, now.written = io.ReadBytes, io.WriteBytes
		}
		now.threads = threadsOf(s.mount, p.PID, s.buf)
		s.descriptors(sv, p, key)
	}
	seen[key] = now
	sv.Processes++
	sv.Threads += st.NumThreads
	sv.RSS += iikanji.Bytes(st.ResidentMemory())
	before, known := s.procs[key]
	if !known && s.last.IsZero() {
		return 0, 0
	}
	sec := over.Seconds()
	user, system = (now.user-before.user).Seconds()/sec, (now.system-before.system).Seconds()/sec
	sv.User += user
	sv.System += system
	if known && !before.named { // its totals cover its whole lifetime
		return user, system
	}
	sv.Read += float64(now.read-min(before.read, now.read)) / sec
	sv.Written += float64(now.written-min(before.written, now.written)) / sec
	turns, longest := threadsBetween(before.threads, now.threads)
	sv.Switches += float64(turns) / sec
	sv.Busiest = max(sv.Busiest, longest.Seconds()/sec)
	return user, system
}

// descriptors counts a process's open files and sockets, and reads its limit once.
func (s *Sampler) descriptors(sv *ServiceSample, p procfs.Proc, key procKey) {
	fds, sockets, err := countDescriptors(filepath.Join(s.mount, strconv.Itoa(p.PID), "fd"), s.buf)
	if err != nil { // the process belongs to another user, or has ended
		return
	}
	sv.Sockets += sockets
	limit, known := s.limit[key]
	if !known {
		if l, err := p.Limits(); err == nil {
			limit = int64(l.OpenFiles)
		}
		s.limit[key] = limit
	}
	if fds >= sv.FDs {
		sv.FDs, sv.FDLimit = fds, limit
	}
}

// countDescriptors counts the entries of a process's fd folder, and those of
// them that are links to sockets. It reads each link relative to the open folder:
// for an app with a thousand connections, full paths would be most of the cost.
func countDescriptors(dir string, buf []byte) (fds, sockets int, err error) {
	d, err := os.Open(dir)
	if err != nil {
		return 0, 0, err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return 0, 0, err
	}
	const socket = "socket:"
	for _, name := range names {
		n, err := unix.Readlinkat(int(d.Fd()), name, buf)
		if err == nil && n > len(socket) && string(buf[:len(socket)]) == socket {
			sockets++
		}
	}
	return len(names), sockets, nil
}
