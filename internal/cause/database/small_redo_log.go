package database

import (
	"fmt"
	"math"
	"strconv"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

const (
	logRuns  = 2.0     // number of runs that the new log should hold
	logMost  = 4 << 30 // bytes; recovery after a crash reads all of it
	logWaits = 10.0    // least number of waits for the log buffer
	// logWrite is the longest time of such a wait in seconds: the buffer is
	// written and synced.
	logWrite = 10e-3
	// logBuffer is the least proposed size of the buffer in bytes.
	logBuffer = 64 << 20
	// logPressed is the checkpoint age, as a share of logRoom, from which on
	// InnoDB flushes aggressively. At 7/8, writers have to flush too, and each
	// flush lowers the age again.
	logPressed = 0.75
)

// logRoom is the largest checkpoint age in bytes: above it, writers wait for a
// checkpoint. The formula is that of log0log.cc in MariaDB and in MySQL up to 8.0:
// 0.9 × (0.9 × size − 48 pages).
func logRoom(size float64) float64 { return 0.9 * (0.9*size - 48*16384) }

var smallRedoLog = cause.Declare(cause.PerDatabase, findSmallRedoLog,
	cause.Cause{Code: "DB202", Title: "redo log too small", Of: iikanji.OfStatements, Relieves: cause.Disk | cause.Locks | cause.Pool,
		Line:     "checkpoints flush pages while queries wait",
		Remedies: []cause.Way{cause.Plan("mysqlconf", "", iikanji.RoleDatabase)}})

// findSmallRedoLog reports a redo log that one run fills, so that pages must be flushed
// before writing can continue, and a log buffer that is too small for the
// transactions. A full log is harmless by itself, and no counter shows waits
// for a checkpoint: the evidence is the checkpoint age. The log buffer has a
// counter of its own, which is independent of the size of the log.
func findSmallRedoLog(v *cause.View) []iikanji.Finding {
	writes := 0.0
	for _, d := range v.Digests {
		if d.Parsed != nil && d.Parsed.Verb != "select" {
			writes += d.Left()
		}
	}
	var out []iikanji.Finding
	for _, try := range []func(*cause.View, float64) (iikanji.Finding, bool){fullLog, smallLogBuffer} {
		if f, ok := try(v, writes); ok && v.Worth(f.Gain) {
			out = append(out, f)
		}
	}
	return out
}

// fullLog is the finding about a log that the run filled. writes are the
// seconds of all statements that write.
func fullLog(v *cause.View, writes float64) (iikanji.Finding, bool) {
	name, size := redoLog(v)
	written, age, room := v.Status["innodb_os_log_written"], v.InnoDB("checkpoint_age"), logRoom(size)
	if room <= 0 || size >= logMost || written < room || age.After < logPressed*room {
		return iikanji.Finding{}, false
	}
	want := min(logMost, math.Exp2(math.Ceil(math.Log2(written*logRuns))))
	one, _ := bytes(v, name) // innodb_log_files_in_group files have this size
	return iikanji.Finding{Code: "DB202", Where: v.Self.Name,
		Claim: fmt.Sprintf("the run wrote %s into a redo log of %s, which was full at the end: pages are flushed in a hurry to make room", iikanji.Bytes(written), iikanji.Bytes(size)),
		Evidence: []iikanji.Evidence{
			{Source: "innodb", Text: fmt.Sprintf("the checkpoint age was %s at the end of the load (%s at its start), of at most %s", iikanji.Bytes(age.After), iikanji.Bytes(age.Before), iikanji.Bytes(room))},
			{Source: "status", Text: fmt.Sprintf("Innodb_os_log_written +%.0f", written)},
			{Source: "variable", Text: name + " = " + v.Variables[name]}},
		Gain:     cause.Between(writes, 0, 0.3),
		Remedies: []iikanji.Remedy{v.OnSelf("mysqlconf", fmt.Sprintf("use a redo log of %s; recovery after a crash takes longer", iikanji.Bytes(want)), map[string]string{name: strconv.FormatFloat(math.Ceil(want*one/size), 'f', 0, 64)})}}, true
}

// redoLog is the variable that sets the size of the redo log, and that size.
// MySQL 8.0.30 and later have one variable for all files, which supersedes the
// older ones.
func redoLog(v *cause.View) (name string, size float64) {
	name = "innodb_redo_log_capacity"
	if size, ok := bytes(v, name); ok {
		return name, size
	}
	name = "innodb_log_file_size"
	size, _ = bytes(v, name)
	if n, ok := bytes(v, "innodb_log_files_in_group"); ok && n > 1 {
		size *= n
	}
	return name, size
}

// smallLogBuffer is the finding about a log buffer that was full before it was
// written.
func smallLogBuffer(v *cause.View, writes float64) (iikanji.Finding, bool) {
	const name = "innodb_log_buffer_size"
	size, known := bytes(v, name)
	waits := v.Status["innodb_log_waits"]
	if !known || waits < logWaits {
		return iikanji.Finding{}, false
	}
	want := max(logBuffer, 2*size)
	return iikanji.Finding{Code: "DB202", Where: name,
		Claim: fmt.Sprintf("a log buffer of %s was too small: statements waited %s times until it was written", iikanji.Bytes(size), cause.Number(waits)),
		Evidence: []iikanji.Evidence{{Source: "status", Text: fmt.Sprintf("Innodb_log_waits +%.0f", waits)},
			{Source: "variable", Text: name + " = " + v.Variables[name]}},
		Gain:     iikanji.Range{Hi: cause.Round(min(writes, waits*logWrite))},
		Remedies: []iikanji.Remedy{v.OnSelf("mysqlconf", fmt.Sprintf("use a log buffer of %s", iikanji.Bytes(want)), map[string]string{name: strconv.FormatFloat(want, 'f', 0, 64)})}}, true
}
