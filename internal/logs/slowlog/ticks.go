package slowlog

// tick counts an entry over the time in which its statement ran. When the entry
// was written, the statement had just ended. Without that time, the statement
// began in the second of the entry's timestamp.
func (c *collector) tick(ev *event, d *digest) {
	w := c.opt.Ticks
	var from, to int64
	if w.Written != nil {
		from, to = w.Written(c.batch.offset + int64(ev.start))
	}
	switch {
	case from != 0 && to != 0:
		d.ticks.Add(w, from-ev.query, to)
	case ev.at != 0:
		d.ticks.Add(w, ev.at, ev.at+wholeSecond(ev.at)+ev.query)
	}
}

// wholeSecond is how much later than its timestamp an entry may be: a second if
// the timestamp has no fraction.
func wholeSecond(at int64) int64 {
	if at%1e9 == 0 {
		return 1e9
	}
	return 0
}
