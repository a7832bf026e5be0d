package slowlog

import (
	"bytes"
)

// header reads the lines of an entry that begin with #, starting at its User@Host
// line, and returns their end. It skips unknown lines and fields (profiles,
// explain, warnings), because servers add new ones.
func (p *parser) header(ev *event) (end int, why string) {
	data := p.data
	at := p.pos
	nl := bytes.IndexByte(data[at:], '\n')
	if nl < 0 {
		return at, whyCut
	}
	p.who(at+len(userHost), at+nl, ev)
	timed := false
	for at += nl + 1; at < len(data) && (data[at] == '#' || isBareHeader(data[at:])); at += nl + 1 {
		nl = bytes.IndexByte(data[at:], '\n')
		if nl < 0 {
			return at, whyCut
		}
		if data[at] != '#' {
			p.fields(at+2, at+nl, ev)
			continue
		}
		if nl < 4 {
			continue // "#" around explain lines
		}
		switch data[at+2] {
		case 'Q', 'T', 'S', 'R', 'B', 'F', 'L', 'C', 'D':
			timed = p.fields(at+2, at+nl, ev) || timed
		case 'U':
			if startsEntry(data, at) {
				return at, whyNone
			}
		case 'a':
			if bytes.HasPrefix(data[at:], adminLine) {
				return at, untimed(timed)
			}
		}
	}
	if at >= len(data) {
		return at, whyNone
	}
	return at, untimed(timed)
}

// isBareHeader reports whether a line is a header line that lost its #, as Percona Server
// 8.0 writes the counts of temporary tables.
func isBareHeader(b []byte) bool {
	return len(b) > 4 && b[0] == ' ' && b[1] == ' ' && b[2] == 'T' && bytes.HasPrefix(b[2:], []byte("Tmp_tables: "))
}

func untimed(timed bool) string {
	if timed {
		return ""
	}
	return "the entry has no Query_time"
}

// who reads "user[user] @ host [ip]  Id:   12".
func (p *parser) who(from, to int, ev *event) {
	line := p.data[from:to]
	i := bytes.IndexByte(line, '[')
	if i < 0 {
		return
	}
	ev.user = span{int32(from), int32(from + i)}
	j := bytes.Index(line[i:], []byte("] @ "))
	if j < 0 {
		return
	}
	if i == 0 { // a proxy or an init thread: [name]
		ev.user = span{int32(from + 1), int32(from + i + j)}
	}
	h := i + j + 4
	k := bytes.IndexByte(line[h:], '[')
	if k < 0 {
		return
	}
	name := bytes.TrimRight(line[h:h+k], " ")
	ev.host = span{int32(from + h), int32(from + h + len(name))}
	ip := h + k + 1
	e := bytes.IndexByte(line[ip:], ']')
	if e < 0 {
		return
	}
	if len(name) == 0 {
		ev.host = span{int32(from + ip), int32(from + ip + e)}
	}
	rest := line[ip+e+1:]
	if d := bytes.Index(rest, []byte("Id:")); d >= 0 {
		ev.thread = uint64(digits(bytes.TrimLeft(rest[d+3:], " ")))
	}
}

// fields reads "Name: value  Name: value …" in data[at:to]. Values end at a space
// and may be empty. timed reports whether Query_time was among them.
func (p *parser) fields(at, to int, ev *event) (timed bool) {
	line := p.data[at:to]
	for i := 0; i < len(line); {
		k := i
		for i < len(line) && line[i] != ':' {
			i++
		}
		if i+1 >= len(line) {
			return timed
		}
		key := line[k:i]
		i++
		if line[i] == ' ' {
			i++
		}
		v := i
		for i < len(line) && line[i] != ' ' {
			i++
		}
		if p.field(key, line[v:i], int32(at+v), ev) {
			timed = true
		}
		for i < len(line) && line[i] == ' ' {
			i++
		}
	}
	return timed
}

// field sets one field and returns true for Query_time. MySQL 8 with
// log_slow_extra logs handler counters instead of a plan: a first read of an
// index followed by reads of the next row is a full scan.
func (p *parser) field(key, v []byte, at int32, ev *event) bool {
	switch string(key) {
	case "Query_time":
		t, ok := parseSeconds(v)
		ev.flag(t > maxDuration, flagClock)
		if t <= maxDuration {
			ev.query = t
		}
		return ok
	case "Lock_time":
		if t, _ := parseSeconds(v); t <= maxDuration {
			ev.lock = t
		}
	case "Rows_sent":
		ev.sent = digits(v)
	case "Rows_examined":
		ev.examined = digits(v)
	case "Rows_affected":
		ev.affected = digits(v)
	case "Bytes_sent":
		ev.bytes = digits(v)
	case "Conn_ID":
		ev.thread, p.tidb = uint64(digits(v)), true
	case "Thread_id":
		ev.thread = uint64(digits(v))
	case "Schema", "DB":
		ev.db = span{at, at + int32(len(v))}
	case "Errno", "Last_errno", "Killed":
		ev.flag(digits(v) > 0, flagError)
	case "QC_hit":
		ev.flag(yes(v), flagCached)
	case "Full_scan":
		ev.flags |= flagQueryPlan
		ev.flag(yes(v), flagFullScan)
	case "Full_join":
		ev.flag(yes(v), flagFullJoin)
	case "Filesort":
		ev.flag(yes(v), flagFilesort)
	case "Tmp_table":
		ev.flag(yes(v), flagTmpTable)
	case "Tmp_table_on_disk":
		ev.flag(yes(v), flagTmpDisk)
	case "Tmp_tables", "Created_tmp_tables":
		ev.flag(digits(v) > 0, flagTmpTable)
	case "Tmp_disk_tables", "Created_tmp_disk_tables":
		ev.flag(digits(v) > 0, flagTmpDisk|flagTmpTable)
	case "Sort_scan_count":
		ev.flag(digits(v) > 0, flagFilesort|flagFullScan)
	case "Sort_range_count", "Sort_rows":
		ev.flag(digits(v) > 0, flagFilesort)
	case "Read_first":
		ev.flags |= flagQueryPlan
		ev.flag(digits(v) > 0, flagReadFirst)
	case "Read_rnd_next":
		ev.flag(digits(v) > 0 && ev.flags&flagReadFirst != 0, flagFullScan)
	case "Stored_routine":
		ev.flag(len(v) > 0, flagRoutine)
	case "Log_slow_rate_limit":
		ev.flag(digits(v) > 1, flagRate)
	}
	return false
}

// maxDuration is the longest time of a statement that is believed, in ns: ten years. A
// clock that was set back in a statement makes the server write one near 2^64 µs.
const maxDuration = 10 * 365 * 86400 * 1e9

func (ev *event) flag(is bool, f flags) {
	if is {
		ev.flags |= f
	}
}

func yes(v []byte) bool { return len(v) == 3 && v[0] == 'Y' }
