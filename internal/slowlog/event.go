package slowlog

import (
	"bytes"
)

// An event is one entry of a slow log. Its spans point into the block that
// holds it; durations are nanoseconds.
type event struct {
	at       int64 // Unix ns from the entry itself; 0 where it has none
	query    int64
	lock     int64
	sent     int64
	examined int64
	affected int64
	bytes    int64
	thread   uint64
	digest   uint64
	values   uint64 // hash of the values in the statement
	start    int32  // of the entry in its block
	sql      span
	db       span // empty where the entry names none
	user     span
	host     span
	flags    flags
	kind     kind
}

// A span is data[from:to] of a block.
type span struct{ from, to int32 }

func (s span) of(data []byte) []byte { return data[s.from:s.to] }

type flags uint16

const (
	flagFullScan flags = 1 << iota
	flagFullJoin
	flagFilesort
	flagTmpTable
	flagTmpDisk
	flagError
	flagRoutine // inside a stored routine: its CALL counts the time again
	flagRestart // the server says it started right after this entry
	flagUse     // db comes from a use line, so it holds for entries that follow
	flagRate    // the server logged a sample only
	flagOpen    // the statement ends inside a string
	flagReadFirst
	flagNone // no entry: only its other flags count
)

// A kind is what a statement means for the transaction of its thread.
type kind uint8

const (
	kindOther kind = iota
	kindRead
	kindBegin
	kindCommit
	kindChain // COMMIT AND CHAIN
	kindRollback
	kindAutocommitOff
	kindAutocommitOn
	kindDDL // commits implicitly
	kindPrepare
	kindExecute
	kindClose
	kindQuit // also everything else that ends a session
	kindPing
)

var (
	userHost  = []byte("# User@Host: ")
	nlUser    = []byte("\n# User@Host: ")
	timeLine  = []byte("# Time: ")
	adminLine = []byte("# administrator command: ")
	setTime   = []byte("SET timestamp=")
	banner    = []byte("started with:\n")
)

// ahead is how far beyond its start the beginning of an entry is looked at.
const ahead = 1200

// startsEntry says whether an entry starts at p: a User@Host line that another
// header line follows, so that one inside a string of a statement is none.
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
	case bytes.HasPrefix(next, []byte("# Query_time: ")), bytes.HasPrefix(next, []byte("# Thread_id: ")), bytes.HasPrefix(next, []byte("# Schema: ")):
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

// A parser reads entries of one block. Reused; not safe for concurrent use.
type parser struct {
	data []byte
	pos  int
	fp   Fingerprinter
	// time is that of the # Time: line before the next entry, 0 for none. MySQL
	// 5.7 and later write one before each; others one a second.
	time int64
	cut  bool // the last entry is longer than what is read of it
	rest int  // where an unfinished entry begins that next found behind its own; 0 for none
}

// next reads the entry at the position into ev and moves behind it. why is ""
// or says what is wrong with it.
func (p *parser) next(ev *event) (why string) {
	*ev = event{start: int32(p.pos), at: p.time}
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

// endOfEntry returns where the entry ends that reaches beyond from, the start
// of a line.
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

// tail cuts off what does not belong to the statement though it stands before
// the next entry: the # Time: line of that entry, and the lines with which a
// server says that it started. It returns where the statement ends.
func (p *parser) tail(end int, ev *event) int {
	from := max(end-48, int(ev.start))
	for {
		i := bytes.IndexByte(p.data[from:end], '#')
		if i < 0 {
			break
		}
		from += i
		if (from == 0 || p.data[from-1] == '\n') && bytes.HasPrefix(p.data[from:end], timeLine) {
			if t, ok := parseTimeLine(p.data[from+len(timeLine) : end]); ok {
				p.time = t
				end = from
			}
			break
		}
		from++
	}
	if b := p.data[max(end-10, 0):end]; bytes.HasSuffix(b, []byte("Argument\n")) {
		if i := bytes.LastIndex(p.data[ev.start:end], banner); i >= 0 {
			ev.flags |= flagRestart
			end = int(ev.start) + bytes.LastIndexByte(p.data[ev.start:int(ev.start)+i], '\n') + 1
		}
	}
	return end
}

// preamble reads the lines "use db;" and "SET timestamp=…;" that the server
// puts before a statement.
func (p *parser) preamble(at int, ev *event) (int, string) {
	data := p.data
	if at+4 < len(data) && data[at] == 'u' && string(data[at:at+4]) == "use " {
		nl := bytes.IndexByte(data[at:], '\n')
		if nl > 5 && data[at+nl-1] == ';' && p.isPreamble(at+nl+1) {
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

// isPreamble says whether the SET line of an entry is at the place.
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

// unfinished finds the header of an entry that the log ends in, behind the
// statement in data[from:to]; 0 for none.
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

// adminPrefix begins the fingerprints of what is no statement.
const adminPrefix = "administrator command: "

// admin reads the name of a command of the protocol that is no statement.
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

// kindOf tells what a statement means for its transaction.
func kindOf(fp, sql []byte) kind {
	if len(fp) < 4 {
		return kindOther
	}
	switch fp[0] {
	case 's':
		if fp[2] == 'l' || fp[1] == 'h' { // select, show
			return kindRead
		}
		return kindOfS(fp, sql)
	case 'b':
		if s := string(fp); s == "begin" || s == "begin work" {
			return kindBegin
		}
	case 'c':
		switch {
		case bytes.HasPrefix(fp, []byte("commit")):
			if bytes.Contains(fp, []byte("and chain")) && !bytes.Contains(fp, []byte("no chain")) {
				return kindChain
			}
			return kindCommit
		case bytes.HasPrefix(fp, []byte("create ")):
			return kindDDL
		}
	case 'r':
		if bytes.HasPrefix(fp, []byte("rollback")) && !bytes.Contains(fp, []byte(" to ")) {
			return kindRollback
		}
		if bytes.HasPrefix(fp, []byte("rename table ")) {
			return kindDDL
		}
	case 'a', 'd', 't':
		if bytes.HasPrefix(fp, []byte("alter ")) || bytes.HasPrefix(fp, []byte("drop ")) || bytes.HasPrefix(fp, []byte("truncate ")) {
			return kindDDL
		}
	}
	return kindOther
}

func kindOfS(fp, sql []byte) kind {
	if bytes.HasPrefix(fp, []byte("start transaction")) {
		return kindBegin
	}
	if !bytes.HasPrefix(fp, []byte("set ")) {
		return kindOther
	}
	i := bytes.Index(bytes.ToLower(sql[:min(len(sql), 200)]), []byte("autocommit"))
	if i < 0 {
		return kindOther
	}
	v := bytes.ToLower(bytes.TrimLeft(sql[i+len("autocommit"):], "` \t=:"))
	switch {
	case bytes.HasPrefix(v, []byte("0")), bytes.HasPrefix(v, []byte("off")), bytes.HasPrefix(v, []byte("false")):
		return kindAutocommitOff
	case bytes.HasPrefix(v, []byte("1")), bytes.HasPrefix(v, []byte("on")), bytes.HasPrefix(v, []byte("true")):
		return kindAutocommitOn
	}
	return kindOther
}
