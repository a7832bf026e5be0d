package slowlog

import "time"

// parsePGTime reads a time such as "2026-11-22 05:11:27.119 UTC" at the beginning
// of b. n is its length, 0 if b does not begin with a time. A time without a known
// zone is local.
func parsePGTime(b []byte) (ns int64, n int) {
	if len(b) < 19 || b[4] != '-' || b[7] != '-' || b[10] != ' ' || b[13] != ':' || b[16] != ':' {
		return 0, 0
	}
	two := func(i int) int { return int(b[i]-'0')*10 + int(b[i+1]-'0') }
	for _, i := range [...]int{0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18} {
		if b[i]-'0' > 9 {
			return 0, 0
		}
	}
	days := civilDays(two(0)*100+two(2), two(5), two(8))
	ns = (int64(days)*86400 + int64(two(11)*3600+two(14)*60+two(17))) * 1e9
	n = 19
	if n < len(b) && b[n] == '.' {
		unit := int64(1e9)
		for n++; n < len(b) && b[n]-'0' <= 9; n++ {
			unit /= 10
			ns += int64(b[n]-'0') * unit
		}
	}
	offset, length := zoneOffset(b[n:], ns)
	return ns - offset*1e9, n + length
}

// zoneHours are abbreviations of zones with their offsets from UTC, in hours.
var zoneHours = map[string]float64{
	"UTC": 0, "GMT": 0, "WET": 0, "WEST": 1, "BST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3, "MSK": 3, "IST": 5.5, "CST": -6, "CDT": -5,
	"EST": -5, "EDT": -4, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7, "JST": 9, "KST": 9, "AEST": 10, "AEDT": 11, "SGT": 8, "HKT": 8, "NZST": 12, "NZDT": 13,
}

// zoneOffset reads a zone such as " JST" or " +05:30" at the beginning of b and
// returns its offset from UTC in seconds. For an unknown zone it returns the local
// offset at the time ns.
func zoneOffset(b []byte, ns int64) (offset int64, length int) {
	if len(b) < 3 || b[0] != ' ' {
		return localOffset(ns), 0
	}
	end := 1
	for end < len(b) && end < 8 && (b[end] >= 'A' && b[end] <= 'Z' || b[end] == '+' || b[end] == '-' || b[end] == ':' || class[b[end]] == clDigit) {
		end++
	}
	for end > 1 && b[end-1] == ':' { // a prefix such as "%t:%r"
		end--
	}
	zone := b[1:end]
	if hours, ok := zoneHours[string(zone)]; ok {
		return int64(hours * 3600), end
	}
	if len(zone) >= 3 && (zone[0] == '+' || zone[0] == '-') && class[zone[1]] == clDigit && class[zone[2]] == clDigit {
		offset = (int64(zone[1]-'0')*10 + int64(zone[2]-'0')) * 3600
		length = 4
		minutes := zone[3:]
		if len(minutes) == 3 && minutes[0] == ':' {
			minutes, length = minutes[1:], length+1
		}
		if len(minutes) == 2 && class[minutes[0]] == clDigit && class[minutes[1]] == clDigit {
			offset += (int64(minutes[0]-'0')*10 + int64(minutes[1]-'0')) * 60
			length += 2
		}
		if zone[0] == '-' {
			offset = -offset
		}
		return offset, length
	}
	if len(zone) < 2 || zone[0] < 'A' || zone[len(zone)-1] < 'A' {
		return localOffset(ns), 0
	}
	return localOffset(ns), end
}

// localOffset returns the local offset from UTC, in seconds, at a local time.
func localOffset(ns int64) int64 {
	t := time.Unix(ns/1e9, 0).UTC()
	_, offset := time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.Local).Zone()
	return int64(offset)
}
