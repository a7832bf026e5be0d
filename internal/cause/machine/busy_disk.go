package machine

import (
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

const (
	// busyDisk is the share of the time that a disk works from which on it is the
	// limit.
	busyDisk = 0.85
	// leastWaiting is the least share of all CPU time spent waiting for the disk.
	leastWaiting = 0.10
)

var diskLimit = cause.Declare(cause.PerHost, findBusyDisk,
	cause.Cause{Code: "OS107", Title: "disk is the limit", Of: iikanji.OfCPU, Relieves: cause.Disk | cause.Locks | cause.Pool,
		Line:     "reads, writes or syncs keep the disk busy without a pause",
		Remedies: []cause.Way{cause.Person}})

// findBusyDisk reports a disk that works all the time while the CPU waits for it.
func findBusyDisk(v *cause.View) []iikanji.Finding {
	m, h := v.Machine(), v.Host("host")
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
			m.DiskReads, cause.Brief(m.ReadTook), m.DiskWrites, cause.Brief(m.WriteTook), m.DiskFlushes, cause.Brief(m.FlushTook), h.Read, h.Written)}},
		Gain:     cause.Between(wait, 0.3, 0.9),
		Remedies: []iikanji.Remedy{iikanji.ByPerson("host", "write and sync less (see the findings on commits), or use a faster disk")}}}
}
