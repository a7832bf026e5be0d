package cause

import (
	"fmt"

	"github.com/iikanji/iikanji"
)

const (
	// busyDisk is the share of the time that a disk works from which on it is the
	// limit.
	busyDisk = 0.85
	// leastWaiting is the least share of all CPU time spent waiting for the disk.
	leastWaiting = 0.10
)

var diskLimit = Declare(PerHost, findBusyDisk,
	Cause{Code: "OS107", Title: "disk is the limit", Of: iikanji.OfCPU, Relieves: Disk | Locks | Pool,
		Line:     "reads, writes or syncs keep the disk busy without a pause",
		Remedies: []Way{Person}})

// findBusyDisk reports a disk that works all the time while the CPU waits for it.
func findBusyDisk(v *view) []iikanji.Finding {
	m, h := v.machine(), v.host("host")
	if m == nil || m.Wall <= 0 || m.DiskBusy < busyDisk {
		return nil
	}
	wait, all := m.IOWait.Seconds(), m.Wall.Seconds()*float64(max(m.Cores, 1))
	if wait < leastWaiting*all {
		return nil
	}
	return []iikanji.Finding{{Code: "OS107", Where: "host",
		Claim: fmt.Sprintf("the disk is busy %.0f %% of the time, and the CPU waits for it %.0f %%", 100*min(m.DiskBusy, 1), 100*wait/all),
		Evidence: []iikanji.Evidence{{Source: "host", Text: fmt.Sprintf("%d reads of %s each, %d writes of %s, %d flushes of %s; %s read, %s written",
			m.DiskReads, brief(m.ReadTook), m.DiskWrites, brief(m.WriteTook), m.DiskFlushes, brief(m.FlushTook), h.Read, h.Written)}},
		Gain:     between(wait, 0.3, 0.9),
		Remedies: []iikanji.Remedy{iikanji.ByPerson("host", "write and sync less (see the findings on commits), or use a faster disk")}}}
}
