package hoststat

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"
	"github.com/prometheus/procfs/blockdevice"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// counters are the host's own running totals at one instant.
type counters struct {
	user, system, iowait, idle, steal float64 // seconds of all cores
	ctxt                              uint64
	cores                             int
	running, blocked                  uint64           // processes at this instant: the two gauges of /proc/stat
	psi                               [3]time.Duration // some: cpu, io, memory
	disk                              diskCounters
	rx, tx                            uint64 // bytes, loopback left out
	swapIn, swapOut                   uint64 // pages
	drops, overflows, retrans         float64
}

type diskCounters struct {
	reads, writes, flushes uint64
	readBytes, writeBytes  uint64
	readTime, writeTime    time.Duration
	flushTime              time.Duration
	busy                   time.Duration
}

// psiNames are the resources of pressure stall information, in the order of counters.psi.
var psiNames = [3]string{"cpu", "io", "memory"}

// readCounters reads all running totals. If a kernel does not have a file
// (pressure, netstat), its fields stay 0.
func readCounters(fs procfs.FS, mount string) (counters, error) {
	var c counters
	st, err := fs.Stat()
	if err != nil {
		return c, fmt.Errorf("reading /proc/stat: %w", err)
	}
	t := st.CPUTotal
	c.user, c.system = t.User+t.Nice, t.System+t.IRQ+t.SoftIRQ
	c.iowait, c.idle, c.steal = t.Iowait, t.Idle, t.Steal
	c.ctxt = st.ContextSwitches
	c.cores, c.running, c.blocked = len(st.CPU), st.ProcessesRunning, st.ProcessesBlocked
	for i, name := range psiNames {
		if p, err := fs.PSIStatsForResource(name); err == nil && p.Some != nil {
			c.psi[i] = time.Duration(p.Some.Total) * time.Microsecond
		}
	}
	c.readDisks(mount)
	c.readNet(fs)
	c.swapIn, c.swapOut = readSwap(mount)
	return c, nil
}

// sector is the unit of /proc/diskstats, regardless of the sector size of the device.
const sector = 512

// readDisks sums up whole devices; partitions and stacked devices would be counted twice.
func (c *counters) readDisks(mount string) {
	fs, err := blockdevice.NewFS(mount, "/sys")
	if err != nil {
		return
	}
	stats, err := fs.ProcDiskstats()
	if err != nil {
		return
	}
	whole, err := fs.SysBlockDevices()
	if err != nil {
		return
	}
	isWhole := map[string]bool{}
	for _, name := range whole {
		isWhole[name] = !strings.HasPrefix(name, "loop") && !strings.HasPrefix(name, "dm-") && !strings.HasPrefix(name, "md") && !strings.HasPrefix(name, "ram")
	}
	for _, d := range stats {
		if !isWhole[filepath.Base(d.DeviceName)] {
			continue
		}
		c.disk.reads += d.ReadIOs
		c.disk.writes += d.WriteIOs
		c.disk.flushes += d.FlushRequestsCompleted
		c.disk.readBytes += d.ReadSectors * sector
		c.disk.writeBytes += d.WriteSectors * sector
		c.disk.readTime += time.Duration(d.ReadTicks) * time.Millisecond
		c.disk.writeTime += time.Duration(d.WriteTicks) * time.Millisecond
		c.disk.flushTime += time.Duration(d.TimeSpentFlushing) * time.Millisecond
		c.disk.busy += time.Duration(d.IOsTotalTicks) * time.Millisecond
	}
}

func (c *counters) readNet(fs procfs.FS) {
	if dev, err := fs.NetDev(); err == nil {
		for name, line := range dev {
			if name != "lo" {
				c.rx += line.RxBytes
				c.tx += line.TxBytes
			}
		}
	}
	self, err := fs.Self()
	if err != nil {
		return
	}
	if n, err := self.Netstat(); err == nil && n.ListenDrops != nil {
		c.drops = *n.ListenDrops
		if n.ListenOverflows != nil {
			c.overflows = *n.ListenOverflows
		}
	}
	if n, err := self.Snmp(); err == nil && n.RetransSegs != nil {
		c.retrans = *n.RetransSegs
	}
}

// Swapped counts the pages that a host swapped in and out since it booted; 0
// where its kernel does not report it.
func Swapped(h host.Host) (in, out uint64) {
	pages, _ := swapTask().On(context.Background(), h, nothing{}) // of a host that is lost: none
	return pages[0], pages[1]
}

// readSwap reads the pages swapped in and out from vmstat in /proc.
func readSwap(mount string) (in, out uint64) {
	data, err := os.ReadFile(filepath.Join(mount, "vmstat"))
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.ParseUint(value, 10, 64)
		switch {
		case err != nil:
		case name == "pswpin":
			in = n
		case name == "pswpout":
			out = n
		}
	}
	return in, out
}
