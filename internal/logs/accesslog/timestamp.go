package accesslog

import (
	"encoding/binary"
	"time"
)

// A clock reads timestamps. Most lines have the same timestamp as the line
// before, so it keeps the last result.
type clock struct {
	w0, w1, w2 uint64
	w3         uint16
	at         int64 // the time that w0 to w3 spell, ns since 1970

	text []byte // the last timestamp of another form
	when int64
}

const localLen = len("19/Nov/2026:04:04:05 +0900")

// local reads a time of the common log format at the start of b.
func (c *clock) local(b []byte) (at int64, ok bool) {
	if len(b) < localLen {
		return 0, false
	}
	w0, w1 := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	w2, w3 := binary.LittleEndian.Uint64(b[16:]), binary.LittleEndian.Uint16(b[24:])
	if w1 == c.w1 && w2 == c.w2 && w0 == c.w0 && w3 == c.w3 {
		return c.at, true
	}
	at, ok = parseLocal(b)
	if ok {
		c.w0, c.w1, c.w2, c.w3, c.at = w0, w1, w2, w3, at
	}
	return at, ok
}

// any reads a timestamp of any known form that fills b.
func (c *clock) any(b []byte) (at int64, ok bool) {
	if len(b) == localLen && b[2] == '/' {
		return c.local(b)
	}
	if string(b) == string(c.text) {
		return c.when, len(b) > 0
	}
	if at, ok = parseStamp(b); ok {
		c.text, c.when = append(c.text[:0], b...), at
	}
	return at, ok
}

func two(b []byte) int {
	d, u := b[0]-'0', b[1]-'0'
	if d > 9 || u > 9 {
		return -1
	}
	return int(d)*10 + int(u)
}

func four(b []byte) int {
	hi, lo := two(b), two(b[2:])
	if hi < 0 || lo < 0 {
		return -1
	}
	return hi*100 + lo
}

// month reads "Jan" to "Dec".
func month(b []byte) int {
	const names = "JanFebMarAprMayJunJulAugSepOctNovDec"
	for i := 0; i < len(names); i += 3 {
		if names[i] == b[0] && names[i+1] == b[1] && names[i+2] == b[2] {
			return i/3 + 1
		}
	}
	return -1
}

// parseLocal reads "19/Nov/2026:04:04:05 +0900".
func parseLocal(b []byte) (int64, bool) {
	if b[2] != '/' || b[6] != '/' || b[11] != ':' || b[14] != ':' || b[17] != ':' || b[20] != ' ' {
		return 0, false
	}
	sec, ok := unix(four(b[7:]), month(b[3:]), two(b), two(b[12:]), two(b[15:]), two(b[18:]))
	zone, good := zoneOf(b[21:26])
	return (sec - zone) * 1e9, ok && good
}

// zoneOf reads "+0900", "+09:00" or "Z" as seconds east of Greenwich.
func zoneOf(b []byte) (int64, bool) {
	if len(b) == 1 && (b[0] == 'Z' || b[0] == 'z') {
		return 0, true
	}
	if len(b) == 6 && b[3] == ':' {
		b = []byte{b[0], b[1], b[2], b[4], b[5]}
	}
	if len(b) != 5 || b[0] != '+' && b[0] != '-' {
		return 0, false
	}
	h, m := two(b[1:]), two(b[3:])
	if h < 0 || m < 0 || h > 26 || m > 59 {
		return 0, false
	}
	s := int64(h*3600 + m*60)
	if b[0] == '-' {
		s = -s
	}
	return s, true
}

// unix returns the time of a date in UTC, in s since 1970. Days are counted
// from March, so that the leap day is the last day of its year.
func unix(year, mon, day, hour, minute, sec int) (int64, bool) {
	if year < 1970 || year > 2200 || mon < 1 || mon > 12 || day < 1 || day > 31 ||
		hour < 0 || hour > 24 || minute < 0 || minute > 59 || sec < 0 || sec > 60 {
		return 0, false
	}
	y, m := int64(year), int64(mon)
	if m <= 2 {
		y--
		m += 12
	}
	days := 365*y + y/4 - y/100 + y/400 + (153*(m-3)+2)/5 + int64(day) - 1 - 719468
	return days*86400 + int64(hour*3600+minute*60+sec), true
}

// parseStamp reads ISO 8601 ("2026-11-19T04:04:05.123+09:00", a space for the
// T, no zone meaning UTC) or a time since 1970 in s, ms, µs or ns.
func parseStamp(b []byte) (int64, bool) {
	if len(b) >= 19 && b[4] == '-' && b[7] == '-' && (b[10] == 'T' || b[10] == ' ' || b[10] == '\t') && b[13] == ':' && b[16] == ':' {
		return parseISO(b)
	}
	if len(b) >= 19 && b[4] == '/' && b[7] == '/' { // Go's log package and gin
		if sec, ok := unix(four(b), two(b[5:]), two(b[8:]), two(b[11:]), two(b[14:]), two(b[17:])); ok && b[10] == ' ' {
			return sec * 1e9, true
		}
	}
	if at, ok := parseEpoch(b); ok {
		return at, true
	}
	if !beginsWithDay(b) { // most fields that are tried are no times, and time.Parse makes an error for each
		return 0, false
	}
	for _, form := range []string{time.RFC1123, time.RFC1123Z, time.ANSIC, time.UnixDate, time.RFC850} {
		if t, err := time.Parse(form, string(b)); err == nil {
			return t.UnixNano(), true
		}
	}
	return 0, false
}

// beginsWithDay reports whether a text begins with the name of a day of the week, in
// letters of any case, as time.Parse reads it.
func beginsWithDay(b []byte) bool {
	if len(b) < 3 {
		return false
	}
	switch [3]byte{b[0] | 0x20, b[1] | 0x20, b[2] | 0x20} {
	case [3]byte{'m', 'o', 'n'}, [3]byte{'t', 'u', 'e'}, [3]byte{'w', 'e', 'd'}, [3]byte{'t', 'h', 'u'},
		[3]byte{'f', 'r', 'i'}, [3]byte{'s', 'a', 't'}, [3]byte{'s', 'u', 'n'}:
		return true
	}
	return false
}

func parseISO(b []byte) (int64, bool) {
	sec, ok := unix(four(b), two(b[5:]), two(b[8:]), two(b[11:]), two(b[14:]), two(b[17:]))
	if !ok {
		return 0, false
	}
	rest, ns := b[19:], int64(0)
	if len(rest) > 0 && (rest[0] == '.' || rest[0] == ',') {
		f, end := digits(rest, 1)
		if end == 1 || end > 10 {
			return 0, false
		}
		ns, rest = f*pow10[10-end], rest[end:]
	}
	if len(rest) > 0 && rest[0] == ' ' {
		rest = rest[1:]
	}
	zone := int64(0)
	if len(rest) > 0 && string(rest) != "UTC" {
		if zone, ok = zoneOf(rest); !ok {
			return 0, false
		}
	}
	return (sec-zone)*1e9 + ns, true
}

// lastYear is the end of the year 2200, in ns since 1970. Later times are
// rejected.
const lastYear = 7289654400e9

// parseEpoch finds the unit of a time since 1970 by its size: 1e9 s is the year
// 2001, 1e11 s would be the year 5138.
func parseEpoch(b []byte) (int64, bool) {
	n, end := digits(b, 0)
	if end == 0 || n < 1e8 {
		return 0, false
	}
	unit := int64(1e9)
	for n > 1e11 && unit > 1 {
		n, unit = n/1000, unit/1000
	}
	whole, _ := digits(b, 0)
	if whole > lastYear/unit {
		return 0, false
	}
	at := whole * unit
	if end == len(b) {
		return at, true
	}
	if b[end] != '.' || end+1 == len(b) {
		return 0, false
	}
	f, stop := digits(b, end+1)
	if stop != len(b) || stop-end-1 > 9 {
		return 0, false
	}
	return at + f*unit/pow10[stop-end-1], true
}
