package diagnose

import (
	"fmt"
	"math"
	"strconv"

	"github.com/iikanji/iikanji"
)

const (
	logFull  = 0.75    // of the log written in one run, from which on checkpoints are forced
	logRuns  = 2.0     // runs that the new log should hold
	logMost  = 4 << 30 // bytes; starting after a crash reads all of it
	logWaits = 10.0    // waits for the log's buffer or for a free page
	// logPressed is the share of what the log can hold between checkpoints from
	// which on InnoDB writes pages out in haste: at seven eighths writers help,
	// and each such turn takes it down some way.
	logPressed = 0.75
)

// logRoom is how many bytes lie between the last checkpoint and the point at
// which writers have to wait for the next one, as log0log.cc reckons it in MariaDB
// and MySQL up to 8.0: nine tenths, less 48 pages, of which nine tenths.
func logRoom(size float64) float64 { return 0.9 * (0.9*size - 48*16384) }

// db202 reports a redo log that one run fills: pages have to be written out
// before it can go on. That it fills is no harm by itself; waits are. Those for
// a checkpoint no counter tells of: they show in how far the last one is behind.
func db202(v *view) []iikanji.Finding {
	written := v.status["innodb_os_log_written"]
	size, known := v.bytes("innodb_log_file_size")
	if n, ok := v.bytes("innodb_log_files_in_group"); ok && n > 1 {
		size *= n
	}
	waits, free := v.status["innodb_log_waits"], v.status["innodb_buffer_pool_wait_free"]
	age, room := v.innodb("checkpoint_age"), logRoom(size)
	pressed := room > 0 && written >= room && age.After >= logPressed*room
	if !known || size <= 0 || written < logFull*size || size >= logMost || waits+free < logWaits && !pressed {
		return nil
	}
	writes := 0.0
	for _, d := range v.digests {
		if d.st != nil && d.st.verb != "select" {
			writes += d.q.Seconds
		}
	}
	want := min(logMost, math.Exp2(math.Ceil(math.Log2(written*logRuns))))
	f := iikanji.Finding{Code: "DB202", Where: "database",
		Claim: fmt.Sprintf("the run wrote %s into a redo log of %s, and statements waited %s times while pages were written out", iikanji.Bytes(written), iikanji.Bytes(size), people(waits+free)),
		Evidence: []iikanji.Evidence{{Source: "status", Text: fmt.Sprintf("Innodb_os_log_written +%.0f, Innodb_log_waits +%.0f, Innodb_buffer_pool_wait_free +%.0f", written, waits, free)},
			{Source: "variable", Text: "innodb_log_file_size = " + v.vars["innodb_log_file_size"]}},
		Gain: between(writes, 0, 0.3),
		Remedies: []iikanji.Remedy{{Kind: "mysqlconf", Target: "database", Says: fmt.Sprintf("a redo log of %s; starting after a crash takes longer", iikanji.Bytes(want)),
			Args: map[string]string{"innodb_log_file_size": strconv.FormatFloat(want, 'f', 0, 64)}}}}
	if waits+free < logWaits {
		f.Claim = fmt.Sprintf("the run wrote %s into a redo log of %s, which was full at the end: pages are written out in haste to make room", iikanji.Bytes(written), iikanji.Bytes(size))
	}
	if pressed {
		f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "innodb", Text: fmt.Sprintf("the last checkpoint was %s behind when the load ended (%s when it began), of %s at the most", iikanji.Bytes(age.After), iikanji.Bytes(age.Before), iikanji.Bytes(room))})
	}
	return []iikanji.Finding{f}
}
