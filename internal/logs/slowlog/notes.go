package slowlog

import (
	"fmt"
	"time"
)

const (
	noteNoEntries  = "the log has no entries, only the header that the server writes when it starts"
	noteGeneral    = "a general log has no durations: rows are ordered by count"
	noteTraceReads = "the times of SELECT statements in SQLite traces end before their rows are read: they are too short"
)

// queryPlanNotes are, by format, the notes for logs whose entries have no query plan.
var queryPlanNotes = map[string]string{
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
	out = append(out, c.carried...)
	out = append(out, c.cutOff...)
	if c.opt.By == ByTable {
		out = append(out, "a statement counts for each of its tables")
	}
	if c.intake.Lines == 0 && c.intake.Bad == 0 && len(c.formats) > 0 {
		out = append(out, noteNoEntries)
	}
	if contains(c.formats, formatGeneral) {
		out = append(out, noteGeneral)
	}
	say(c.errors, "%d statements failed: PostgreSQL logs no duration for them, so they are not counted")
	say(c.untimed, "%d statements have no duration in the log: their time counts as 0; set log_min_duration_statement=0, or log_duration=on with log_statement='all'")
	say(c.loneDurations, "%d durations have no statement in the log and are not counted: they are those of parse and bind, or log_duration=on lacks log_statement='all'")
	say(c.counts[bit(flagClock)], "%d statements have a time of more than ten years, because the clock was set back: it counts as 0")
	say(c.counts[bit(flagRate)], "%d entries come from a server that logs a sample (log_slow_rate_limit): counts and sums are of the sample")
	say(c.counts[bit(flagRoutine)], "%d statements ran inside stored routines: the time of the CALL includes theirs")
	say(c.counts[bit(flagOpen)], "%d statements end inside a string: they are cut off, or contain a line that looks like an entry")
	say(c.over, "%d statements share one row: the log has more digests than have rows")
	say(c.shapes.unfinished, "%d transactions have no COMMIT or ROLLBACK in the log")
	if s := &c.shapes; s.implied > 0 {
		out = append(out, fmt.Sprintf("%d of %d COMMIT and ROLLBACK statements have no BEGIN in the log: they are attributed to the writes of their thread since its last COMMIT or ROLLBACK", s.implied, s.ends))
	}
	say(c.shapes.separated, "%d of these follow a write that is not part of them: it precedes transactions of many kinds, so such writes commit themselves")
	if why := c.incomplete(); why != "" {
		out = append(out, fmt.Sprintf("the transactions are unreliable, because %s: log all statements with long_query_time=0 and without log_slow_rate_limit", why))
	}
	if c.traceReads {
		out = append(out, noteTraceReads)
	}
	for _, format := range c.formats {
		if note := queryPlanNotes[format]; note != "" && !c.queryPlans && c.intake.Lines > 0 {
			return append(out, note)
		}
	}
	return out
}

const (
	// completeMin is the shortest time, in ns, above which all entries of a log are
	// only those that exceed long_query_time. A BEGIN takes some microseconds.
	completeMin = 100_000
	// completeCount is how many entries or transactions such a conclusion needs.
	completeCount = 20
	// completeEnds is the part of BEGIN statements without an end above which
	// entries are missing. Restarts and the ends of a log leave few.
	completeEnds = 0.2
	// A COMMIT right after another end has nothing to do, and is short. In a sample, the
	// statements before it are missing: such COMMITs are as long as those after writes.
	// Above bareShare of the COMMITs and bareTime of the mean time, entries are missing.
	bareShare, bareTime = 0.01, 0.4
)

// incomplete returns why the log lacks statements that transactions consist of, ""
// if it seems complete or has no transactions.
func (c *collector) incomplete() string {
	s := &c.shapes
	switch {
	case s.ends+s.begins == 0:
		return ""
	case c.counts[bit(flagRate)] > 0:
		return "the server logged a sample (log_slow_rate_limit)"
	case c.threads.statements >= completeCount && c.threads.shortest >= completeMin:
		return fmt.Sprintf("the shortest of all statements took %v, so the server logged only slow ones (long_query_time)", time.Duration(c.threads.shortest))
	case s.begins >= completeCount && float64(s.unfinished) > completeEnds*float64(s.begins):
		return fmt.Sprintf("%d of %d transactions have no end in the log, so the server logged a sample", s.unfinished, s.begins)
	case s.bare.statements >= completeCount && s.afterWrites.statements >= completeCount && float64(s.bare.statements) > bareShare*float64(s.implied) && s.bare.mean() > bareTime*s.afterWrites.mean():
		return fmt.Sprintf("%d COMMITs directly follow another end on their thread and took as long as those after writes, so the server logged a sample", s.bare.statements)
	}
	return ""
}

func (c costs) mean() float64 { return float64(c.total) / float64(max(c.statements, 1)) }

// noStatements is the error for logs without an entry, nil if they have only the
// header that a server writes.
func (c *collector) noStatements() error {
	for _, format := range c.formats {
		switch format {
		case formatPostgres, formatCSVLog, formatJSONLog:
			return &Error{"the log of PostgreSQL has no statements", []string{"set log_min_duration_statement=0 in postgresql.conf and reload the server"}}
		}
	}
	return nil
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
