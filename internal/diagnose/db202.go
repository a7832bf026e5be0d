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
)

// db202 reports a redo log that one run fills: pages have to be written out
// before it can go on. That it fills is no harm by itself; waits are.
func db202(v *view) []iikanji.Finding {
	written := v.status["innodb_os_log_written"]
	size, known := v.bytes("innodb_log_file_size")
	if n, ok := v.bytes("innodb_log_files_in_group"); ok && n > 1 {
		size *= n
	}
	waits, free := v.status["innodb_log_waits"], v.status["innodb_buffer_pool_wait_free"]
	if !known || size <= 0 || written < logFull*size || size >= logMost || waits+free < logWaits {
		return nil
	}
	writes := 0.0
	for _, d := range v.digests {
		if d.st != nil && d.st.verb != "select" {
			writes += d.q.Seconds
		}
	}
	want := min(logMost, math.Exp2(math.Ceil(math.Log2(written*logRuns))))
	return []iikanji.Finding{{Code: "DB202", Where: "database",
		Claim: fmt.Sprintf("the run wrote %s into a redo log of %s, and statements waited %s times while pages were written out", iikanji.Bytes(written), iikanji.Bytes(size), people(waits+free)),
		Evidence: []iikanji.Evidence{{Source: "status", Text: fmt.Sprintf("Innodb_os_log_written +%.0f, Innodb_log_waits +%.0f, Innodb_buffer_pool_wait_free +%.0f", written, waits, free)},
			{Source: "variable", Text: "innodb_log_file_size = " + v.vars["innodb_log_file_size"]}},
		Gain: between(writes, 0, 0.3),
		Remedies: []iikanji.Remedy{{Kind: "mysqlconf", Target: "database", Says: fmt.Sprintf("a redo log of %s; starting after a crash takes longer", iikanji.Bytes(want)),
			Args: map[string]string{"innodb_log_file_size": strconv.FormatFloat(want, 'f', 0, 64)}}},
	}}
}
