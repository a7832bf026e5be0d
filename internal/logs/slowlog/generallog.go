package slowlog

import (
	"bytes"
	"time"

	"github.com/iikanji/iikanji/internal/logs/lines"
)

// aheadGeneral is how many bytes of a line startsGeneral may read.
const aheadGeneral = 80

// generalBoundary cuts a general log of MySQL or MariaDB before each command.
var generalBoundary = lines.Boundary{Find: findGeneral, Ahead: aheadGeneral}

func findGeneral(data []byte, from int) int {
	for {
		i := bytes.IndexByte(data[from-1:], '\n')
		if i < 0 || from+i >= len(data) {
			return -1
		}
		if from += i; startsGeneral(data, from) {
			return from
		}
		from++
	}
}

// startsGeneral reports whether a command starts at p.
func startsGeneral(data []byte, p int) bool {
	_, ok := parseGeneral(data[p:min(len(data), p+aheadGeneral)])
	return ok
}

// A generalLine is the beginning of a command in a general log.
type generalLine struct {
	at       int64 // 0 if the line has no time
	thread   uint64
	command  []byte
	argument int // its position in the line
}

// generalCommands are the commands that a general log names.
var generalCommands = map[string]bool{
	"Query": true, "Execute": true, "Prepare": true, "Connect": true, "Quit": true, "Init DB": true, "Close stmt": true, "Reset stmt": true,
	"Field List": true, "Statistics": true, "Ping": true, "Change user": true, "Reset Connection": true, "Reset connection": true, "Long Data": true, "Fetch": true,
	"Set option": true, "Shutdown": true, "Binlog Dump": true, "Binlog Dump GTID": true, "Register Slave": true, "Register Replica": true, "Create DB": true, "Drop DB": true,
	"Refresh": true, "Processlist": true, "Kill": true, "Debug": true, "Daemon": true, "Error": true, "Connect Out": true, "Time": true, "Delayed insert": true, "Table Dump": true, "Sleep": true,
	"Bulk_execute": true, "Unimpl get tid": true, "Clone": true, "Subscribe Group Replication Stream": true,
}

// parseGeneral reads the beginning of a line such as
//
//	2026-11-21T05:24:10.123456Z	    8 Query	SELECT 1
//	261121  5:24:10	    25 Connect	root@localhost on isu
//			    25 Query	SELECT 1
//
// where the last form has the time of the line before.
func parseGeneral(b []byte) (g generalLine, ok bool) {
	tab := bytes.IndexByte(b, '\t')
	if tab < 0 || tab > 40 {
		return g, false
	}
	switch {
	case tab == 0 && len(b) > 1 && b[1] == '\t':
		tab = 1
	case tab > 20 && b[4] == '-' && b[10] == 'T':
		if g.at, ok = parseISO(b[:tab]); !ok {
			return g, false
		}
	case tab == 15 || tab == 14:
		if g.at, ok = parseGeneralTime(b[:tab]); !ok {
			return g, false
		}
	default:
		return g, false
	}
	i := tab + 1
	for i < len(b) && b[i] == ' ' {
		i++
	}
	from := i
	for i < len(b) && class[b[i]] == clDigit {
		i++
	}
	if i == from || i >= len(b) || b[i] != ' ' {
		return g, false
	}
	g.thread = uint64(digits(b[from:i]))
	end := bytes.IndexByte(b[i:], '\t')
	if end < 0 {
		return g, false
	}
	g.command, g.argument = b[i+1:i+end], i+end+1
	return g, generalCommands[string(g.command)]
}

// parseGeneralTime reads a local time such as "261121  5:24:10".
func parseGeneralTime(b []byte) (ns int64, ok bool) {
	t, err := time.ParseInLocation("060102 15:04:05", string(bytes.Replace(b, []byte("  "), []byte(" 0"), 1)), time.Local)
	if err != nil {
		return 0, false
	}
	return t.UnixNano(), true
}

// A login is what a connection's commands apply to.
type login struct{ user, host, db []byte }

// parseGeneral fills b from a block of a general log.
func (b *batch) parseGeneral(blk *lines.Block, p *parser) {
	b.reset(blk)
	p.data = blk.Data
	line := int32(1)
	for at := 0; at < len(blk.Data); {
		end := findGeneral(blk.Data, at+1)
		if end < 0 {
			end = len(blk.Data)
		}
		record := blk.Data[at:end]
		if g, ok := parseGeneral(record[:min(len(record), aheadGeneral)]); ok {
			b.addGeneral(&g, record[g.argument:], line, p)
		}
		line += int32(bytes.Count(record, []byte{'\n'}))
		at = end
	}
	blk.Records = len(b.events)
}

// addGeneral adds the event of a command.
func (b *batch) addGeneral(g *generalLine, argument []byte, line int32, p *parser) {
	ev := event{at: g.at, thread: g.thread, line: line, start: int32(len(b.data)), flags: flagNoTimes}
	if cut := p.headerIn(argument); cut >= 0 {
		argument = argument[:cut]
		ev.flags |= flagRestart
	}
	argument = bytes.TrimRight(argument, "\r\n")
	switch string(g.command) {
	case "Query", "Execute":
		if len(bytes.TrimSpace(argument)) == 0 {
			return
		}
		fp := p.fp.Fingerprint(argument)
		ev.digest, ev.values = Digest(fp), p.fp.values
		ev.kind = kindOf(fp, argument)
		ev.flag(p.fp.unclosed, flagOpen)
		if string(fp) == "use ?" {
			ev.db = b.addText(bytes.Trim(bytes.TrimSpace(argument[3:]), "`; "))
		}
		ev.sql = b.addText(argument)
	default:
		p.admin(g.command, &ev)
		ev.sql = b.addText(append(bytes.Clone(adminLine), g.command...))
		switch string(g.command) {
		case "Connect":
			who, on, _ := bytes.Cut(argument, []byte(" on "))
			user, host, _ := bytes.Cut(who, []byte{'@'})
			db, _, _ := bytes.Cut(on, []byte(" using "))
			ev.user, ev.host, ev.db = b.addText(user), b.addText(host), b.addText(bytes.TrimSpace(db))
		case "Init DB":
			ev.db = b.addText(argument)
		}
	}
	b.events = append(b.events, ev)
}

// headerIn returns the position of a server header at the end of a command's text,
// -1 for none.
func (p *parser) headerIn(text []byte) int {
	h := parser{data: text}
	if end := h.tail(len(text), &event{}); end < len(text) {
		return end
	}
	return -1
}

// resolve sets the user, host and database of an event from its connection, and
// its time from the line before. Both are logged only when they change.
func (c *collector) resolve(ev *event) (user, host, db []byte) {
	if ev.at == 0 {
		ev.at = c.generalAt
	}
	c.generalAt = ev.at
	data := c.batch.data
	l := c.logins[ev.thread]
	if l == nil || ev.user.to > ev.user.from {
		if len(c.logins) >= maxThreads {
			clear(c.logins)
		}
		l = &login{user: bytes.Clone(ev.user.of(data)), host: bytes.Clone(ev.host.of(data))}
		c.logins[ev.thread] = l
	}
	if ev.db.to > ev.db.from {
		l.db = bytes.Clone(ev.db.of(data))
	}
	return l.user, l.host, l.db
}
