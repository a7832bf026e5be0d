package slowlog

import "fmt"

const (
	noteNoEntries  = "the log has no entries, only the header that the server writes when it starts"
	noteTraceReads = "the times of SELECT statements in SQLite traces end before their rows are read: they are too short"
)

// planNotes are, by format, the notes for logs whose entries have no plan.
var planNotes = map[string]string{
	formatMariaDB: "the log has no plans, so the plan column is empty: SET GLOBAL log_slow_verbosity='query_plan' adds them",
	formatMySQL:   "the log has no plans, so the plan column is empty: SET GLOBAL log_slow_extra=ON adds them (MySQL 8.0.14 and later)",
	formatPercona: "the log has no plans, so the plan column is empty: SET GLOBAL log_slow_verbosity='full' adds them",
}

// notes returns what was inferred and what limits the meaning of the numbers.
func (c *collector) notes() []string {
	var out []string
	say := func(n int64, format string) {
		if n > 0 {
			out = append(out, fmt.Sprintf(format, n))
		}
	}
	out = append(out, c.cutOff...)
	if c.intake.Lines == 0 && c.intake.Bad == 0 && len(c.formats) > 0 {
		out = append(out, noteNoEntries)
	}
	say(c.counts[bit(flagRate)], "%d entries come from a server that logs a sample (log_slow_rate_limit): counts and sums are of the sample")
	say(c.counts[bit(flagRoutine)], "%d statements ran inside stored routines: the time of the CALL includes theirs")
	say(c.counts[bit(flagOpen)], "%d statements end inside a string: they are cut off, or contain a line that looks like an entry")
	say(c.over, "%d statements share one row: the log has more digests than have rows")
	say(c.shapes.unfinished, "%d transactions have no COMMIT or ROLLBACK in the log")
	if c.traceReads {
		out = append(out, noteTraceReads)
	}
	for _, format := range c.formats {
		if note := planNotes[format]; note != "" && !c.plans && c.intake.Lines > 0 {
			return append(out, note)
		}
	}
	return out
}

// bit returns the index of a flag.
func bit(f flags) int {
	n := 0
	for f > 1 {
		f >>= 1
		n++
	}
	return n
}
