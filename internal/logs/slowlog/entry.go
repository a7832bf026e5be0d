package slowlog

import (
	"bytes"
	"slices"
)

var (
	userHost  = []byte("# User@Host: ")
	nlUser    = []byte("\n# User@Host: ")
	timeLine  = []byte("# Time: ")
	adminLine = []byte("# administrator command: ")
	setTime   = []byte("SET timestamp=")
	banner    = []byte("started with:\n")
)

// ahead is how many bytes of an entry startsEntry may read.
const ahead = 1200

// startsEntry reports whether an entry starts at p: a User@Host line followed by
// another header line. A single such line may be part of a string in a statement.
func startsEntry(data []byte, p int) bool {
	b := data[p:min(len(data), p+ahead)]
	if !bytes.HasPrefix(b, userHost) {
		return false
	}
	nl := bytes.IndexByte(b, '\n')
	if nl < 0 || len(b) < nl+6 {
		return false
	}
	switch next := b[nl+1:]; {
	case bytes.HasPrefix(next, []byte("# Query_time: ")), bytes.HasPrefix(next, []byte("# Thread_id: ")), bytes.HasPrefix(next, []byte("# Schema: ")),
		bytes.HasPrefix(next, []byte("# Conn_ID: ")), bytes.HasPrefix(next, []byte("# Session_alias: ")): // TiDB
		return true
	}
	return false
}

// findEntry is the Find of the boundary of slow logs.
func findEntry(data []byte, from int) int {
	for {
		i := bytes.Index(data[from-1:], nlUser)
		if i < 0 {
			return -1
		}
		from += i
		if startsEntry(data, from) {
			return from
		}
		from++
	}
}

// A parser reads the entries of a block. It can be reused, but is not safe for
// concurrent use.
type parser struct {
	data []byte
	pos  int
	fp   Fingerprinter
	// time is the time of the # Time: line before the next entry, 0 for none. MySQL
	// 5.7 and later write one before each entry, other servers one per second.
	time int64
	tidb bool // the entry is one of TiDB, which writes no SET timestamp
	cut  bool // the last entry is longer than the block
	rest int  // beginning of an unfinished entry after the one that next read; 0 for none
}

// next reads the entry at the position into ev and moves past it. why is the
// reason if the entry cannot be read, "" otherwise.
func (p *parser) next(ev *event) (why string) {
	*ev = event{start: int32(p.pos), at: p.time}
	p.tidb = false
	p.time, p.rest = 0, 0
	body, why := p.header(ev)
	if why != "" {
		end := p.endOfEntry(p.pos + 1)
		p.tail(end, ev)
		p.pos = end
		return why
	}
	body, why = p.preamble(body, ev)
	end := p.endOfEntry(max(body-1, p.pos+1)) // the statement may be missing
	sqlEnd := p.tail(end, ev)
	p.pos = end
	if why != "" {
		return why
	}
	return p.statement(min(body, sqlEnd), sqlEnd, ev)
}

// endOfEntry returns the end of the entry that contains from: the beginning of the
// next entry or the end of the block.
func (p *parser) endOfEntry(from int) int {
	data := p.data
	for {
		i := bytes.IndexByte(data[from:], '\n')
		if i < 0 {
			return len(data)
		}
		if from += i + 1; from >= len(data) {
			return len(data)
		}
		if data[from] == '#' && startsEntry(data, from) {
			return from
		}
	}
}

// tail removes lines before the next entry that do not belong to the statement:
// the # Time: line of the next entry and the headers of server starts.
// FLUSH SLOW LOGS writes such a header, too. It returns the end of the statement.
func (p *parser) tail(end int, ev *event) int {
	end = p.tailTime(end, ev)
	for {
		at := p.tailHeader(end, ev)
		if at == end {
			return end
		}
		end = p.tailTime(at, ev)
	}
}

// tailTime removes a # Time: line at the end.
func (p *parser) tailTime(end int, ev *event) int {
	end = p.tailTiDB(end, ev)
	from := max(end-48, int(ev.start))
	for {
		i := bytes.IndexByte(p.data[from:end], '#')
		if i < 0 {
			return end
		}
		from += i
		if (from == 0 || p.data[from-1] == '\n') && bytes.HasPrefix(p.data[from:end], timeLine) {
			t, ok := parseTimeLine(p.data[from+len(timeLine) : end])
			if !ok {
				return end
			}
			if p.time == 0 { // the last # Time: line counts, which is removed first
				p.time = t
			}
			return from
		}
		from++
	}
}

// tidbLines begin the lines that TiDB writes between the # Time: line and that of the
// user.
var tidbLines = [][]byte{[]byte("# Txn_start_ts: "), []byte("# Keyspace_name: "), []byte("# Keyspace_ID: ")}

// tailTiDB removes these lines at the end.
func (p *parser) tailTiDB(end int, ev *event) int {
	for end > int(ev.start) && p.data[end-1] == '\n' {
		from := bytes.LastIndexByte(p.data[ev.start:end-1], '\n') + 1 + int(ev.start)
		line := p.data[from:end]
		if line[0] != '#' || !slices.ContainsFunc(tidbLines, func(begin []byte) bool { return bytes.HasPrefix(line, begin) }) {
			return end
		}
		end = from
	}
	return end
}

// tailHeader removes the header of a server start at the end.
func (p *parser) tailHeader(end int, ev *event) int {
	if !bytes.HasSuffix(p.data[max(end-10, 0):end], []byte("Argument\n")) {
		return end
	}
	text := p.data[ev.start:end]
	i := bytes.LastIndex(text, banner)
	if i < 0 || !isHeaderRest(text[i+len(banner):]) {
		return end
	}
	ev.flags |= flagRestart
	return int(ev.start) + bytes.LastIndexByte(text[:i], '\n') + 1
}

// isHeaderRest reports whether b is the second and third line of a server header:
// "Tcp port: …" and "Time  Id Command  Argument".
func isHeaderRest(b []byte) bool {
	ports, columns, ok := bytes.Cut(b, []byte{'\n'})
	return ok && len(ports) > 8 && foldEqual(ports[:8], "tcp port") && bytes.HasPrefix(columns, []byte("Time")) && bytes.Count(columns, []byte{'\n'}) == 1
}

// preamble reads the lines "use db;" and "SET timestamp=…;" that the server
// puts before a statement.
func (p *parser) preamble(at int, ev *event) (int, string) {
	data := p.data
	if at+4 < len(data) && data[at] == 'u' && string(data[at:at+4]) == "use " {
		nl := bytes.IndexByte(data[at:], '\n')
		if nl > 5 && data[at+nl-1] == ';' && (p.tidb || p.isPreamble(at+nl+1)) {
			ev.db = span{int32(at + 4), int32(at + nl - 1)}
			ev.flags |= flagUse
			if n := at + nl - 2; data[at+4] == '`' && data[n] == '`' && n > at+4 {
				ev.db = span{int32(at + 5), int32(n)}
			}
			at += nl + 1
		}
	}
	if !p.isPreamble(at) {
		return at, ""
	}
	nl := bytes.IndexByte(data[at:], '\n')
	if nl < 0 {
		return at, whyCut
	}
	line := data[at : at+nl]
	if i := bytes.Index(line, []byte("timestamp=")); i >= 0 {
		if t, ok := parseSeconds(line[i+len("timestamp="):]); ok && ev.at == 0 {
			ev.at = t
		}
	}
	return at + nl + 1, ""
}

// isPreamble reports whether the SET line of an entry begins at the position.
func (p *parser) isPreamble(at int) bool {
	if at+14 > len(p.data) {
		return false
	}
	b := p.data[at:]
	return bytes.HasPrefix(b, setTime) || bytes.HasPrefix(b, []byte("SET last_insert_id=")) || bytes.HasPrefix(b, []byte("SET insert_id="))
}

// statement reads the statement of an entry in data[from:to].
func (p *parser) statement(from, to int, ev *event) string {
	data := p.data
	for to > from && (data[to-1] == '\n' || data[to-1] == '\r') {
		to--
	}
	if to == from {
		return whyNone
	}
	switch {
	case data[to-1] == ';':
		to--
	case p.cut && p.pos == len(data):
	default:
		if p.rest = p.unfinished(from, to); p.rest == 0 {
			return whyCut
		}
		to = p.rest - 2
	}
	ev.sql = span{int32(from), int32(to)}
	sql := data[from:to]
	if bytes.HasPrefix(sql, adminLine) {
		p.admin(bytes.TrimSuffix(sql[len(adminLine):], []byte{';'}), ev)
		return ""
	}
	fp := p.fp.Fingerprint(sql)
	ev.digest, ev.values = Digest(fp), p.fp.values
	ev.kind = kindOf(fp, sql)
	if p.fp.unclosed {
		ev.flags |= flagOpen
	}
	return ""
}

// unfinished returns the beginning of an unfinished last entry after the
// statement in data[from:to], 0 for none.
func (p *parser) unfinished(from, to int) int {
	for end := to; end > from; {
		i := bytes.LastIndexByte(p.data[from:end], '\n')
		if i < 0 || p.data[from+i+1] != '#' {
			return 0
		}
		if i > 0 && p.data[from+i-1] == ';' {
			return from + i + 1
		}
		end = from + i
	}
	return 0
}

// adminPrefix begins the fingerprints of protocol commands.
const adminPrefix = "administrator command: "

// admin handles a protocol command that is not a statement.
func (p *parser) admin(name []byte, ev *event) {
	p.fp.out = append(append(p.fp.out[:0], adminPrefix...), name...)
	ev.digest = Digest(p.fp.out)
	ev.kind = kindPing
	switch string(name) {
	case "Prepare":
		ev.kind = kindPrepare
	case "Execute":
		ev.kind = kindExecute
	case "Close stmt":
		ev.kind = kindClose
	case "Quit", "Change user", "Reset Connection", "Reset connection", "Connect":
		ev.kind = kindQuit
	}
}
