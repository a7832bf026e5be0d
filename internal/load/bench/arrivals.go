package bench

// nextDue computes the schedule of arrivals: the due time after due, for a
// caller that became free at now, and the number of due times dropped in
// between. With queue no due time is dropped: those that have passed are served
// late, one after the other, with their own time. Otherwise the next due time is
// the first one at or after now.
func nextDue(due, now, period int64, queue bool) (next, dropped int64) {
	next = due + period
	if queue || next >= now {
		return next, 0
	}
	dropped = (now - next + period - 1) / period
	return next + dropped*period, dropped
}
