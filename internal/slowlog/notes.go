package slowlog

import "fmt"

// notes returns what was inferred and what limits the meaning of the numbers.
func (c *collector) notes() []string {
	var out []string
	say := func(n int64, format string) {
		if n > 0 {
			out = append(out, fmt.Sprintf(format, n))
		}
	}
	out = append(out, c.cutOff...)
	say(c.counts[bit(flagRate)], "%d entries come from a server that logs a sample (log_slow_rate_limit): counts and sums are of the sample")
	say(c.counts[bit(flagRoutine)], "%d statements ran inside stored routines: the time of the CALL includes theirs")
	say(c.counts[bit(flagOpen)], "%d statements end inside a string: they are cut off, or contain a line that looks like an entry")
	say(c.over, "%d statements share one row: the log has more digests than have rows")
	say(c.shapes.unfinished, "%d transactions have no COMMIT or ROLLBACK in the log")
	return out
}

func bit(c flags) int {
	n := 0
	for c > 1 {
		c >>= 1
		n++
	}
	return n
}
