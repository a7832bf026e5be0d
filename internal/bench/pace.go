package bench

// nextDue is the schedule of arrivals as a pure function: the due time that
// follows due, for a caller that has become free at now, and how many due
// times were dropped in between. With queue none is dropped: due times that
// have passed are served late, one after the other, with their own time. Else
// the next is the first that has not passed; one at now itself has not.
func nextDue(due, now, period int64, queue bool) (next, dropped int64) {
	next = due + period
	if queue || next >= now {
		return next, 0
	}
	dropped = (now - next + period - 1) / period
	return next + dropped*period, dropped
}
