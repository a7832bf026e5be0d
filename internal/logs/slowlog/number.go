package slowlog

import "time"

// digits reads the decimal number at the beginning of b, 0 for none. It returns
// the largest int64 for larger numbers.
func digits(b []byte) int64 {
	var n uint64
	for _, c := range b {
		d := uint64(c - '0')
		if d > 9 {
			break
		}
		if n > (1<<63-1-d)/10 {
			return 1<<63 - 1
		}
		n = n*10 + d
	}
	return int64(n)
}

// parseSeconds reads seconds, as in 12.000345, and returns nanoseconds. It drops
// decimals after the ninth and ignores bytes after the number. The largest result
// is 292 years.
func parseSeconds(b []byte) (ns int64, ok bool) {
	var n uint64
	i := 0
	for ; i < len(b) && b[i]-'0' <= 9; i++ {
		if n = n*10 + uint64(b[i]-'0'); n > 9_223_372_035 {
			n = 9_223_372_035
		}
	}
	if i == 0 {
		return 0, false
	}
	n *= 1e9
	if i < len(b) && b[i] == '.' {
		frac, unit := uint64(0), uint64(1e9)
		for i++; i < len(b) && b[i]-'0' <= 9 && unit > 1; i++ {
			unit /= 10
			frac = frac*10 + uint64(b[i]-'0')
		}
		n += frac * unit
	}
	return int64(n), true
}

// parseTimeLine reads the time after "# Time: ", as in 2026-11-21T05:23:44.123456Z
// (MySQL 5.7 and later; also with an offset such as +09:00). For the older form,
// "261121  5:23:44", it returns 0 and true: that form has no zone, and SET
// timestamp has the same time with one.
func parseTimeLine(b []byte) (ns int64, ok bool) {
	if len(b) < 15 {
		return 0, false
	}
	if len(b) > 20 && b[4] == '-' && b[10] == 'T' {
		return parseISO(b)
	}
	for i := range 6 {
		if b[i]-'0' > 9 {
			return 0, false
		}
	}
	return 0, b[6] == ' ' && b[9] == ':' && b[12] == ':'
}

func parseISO(b []byte) (ns int64, ok bool) {
	two := func(i int) int { return int(b[i]-'0')*10 + int(b[i+1]-'0') }
	for _, i := range [...]int{0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18} {
		if b[i]-'0' > 9 {
			return 0, false
		}
	}
	days := civilDays(two(0)*100+two(2), two(5), two(8))
	ns = (int64(days)*86400 + int64(two(11)*3600+two(14)*60+two(17))) * 1e9
	i := 19
	if b[i] == '.' {
		unit := int64(1e9)
		for i++; i < len(b) && b[i]-'0' <= 9; i++ {
			unit /= 10
			ns += int64(b[i]-'0') * unit
		}
	}
	if i+5 < len(b) && (b[i] == '+' || b[i] == '-') && b[i+3] == ':' {
		off := int64(two(i+1)*3600+two(i+4)*60) * 1e9
		if b[i] == '-' {
			off = -off
		}
		ns -= off
	}
	return ns, true
}

// civilDays returns the number of days from 1970-01-01 to a date of the Gregorian
// calendar. It counts years from March, so that the leap day is the last day.
func civilDays(y, m, d int) int {
	if m <= 2 {
		y--
		m += 12
	}
	era := y / 400
	yoe := y - era*400
	doy := (153*(m-3)+2)/5 + d - 1
	doe := yoe*365 + yoe/4 - yoe/100 + doy
	return era*146097 + doe - 719468
}

func unixTime(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(ns/1e9, ns%1e9).UTC()
}
