package slowlog

import (
	"bytes"
	"encoding/json"

	"github.com/iikanji/iikanji/internal/logs/lines"
	"github.com/iikanji/iikanji/internal/logs/tally"
)

// A pgRecord is one message of a PostgreSQL log, from any of its formats.
type pgRecord struct {
	at                        int64 // Unix time in ns; 0 if unknown
	pid                       uint64
	user, db, host            []byte
	severity, message, detail []byte
	line                      int32 // in its block, from 1
}

// A pgScanner cuts a block into records. next returns the record at the position
// at and the position after it; why is the reason if the record cannot be read.
type pgScanner interface {
	next(data []byte, at int, r *pgRecord) (end int, why string)
}

// parsePostgres fills b from a block of records. The batch's data are the
// statements with their parameters in a comment after them.
func (b *batch) parsePostgres(blk *lines.Block, s pgScanner, fp *Fingerprinter) {
	b.reset(blk)
	line := int32(1)
	for at := 0; at < len(blk.Data); {
		r := pgRecord{line: line}
		end, why := s.next(blk.Data, at, &r)
		line += int32(bytes.Count(blk.Data[at:end], []byte{'\n'}))
		if why != "" {
			b.addBad(blk.Data[at:end], r.line, why)
		} else {
			b.addPostgres(&r, fp)
		}
		at = end
	}
	blk.Records = len(b.events) + len(b.bad)
}

// addPostgres adds the event of a record. Messages that are not about statements
// add none.
func (b *batch) addPostgres(r *pgRecord, fp *Fingerprinter) {
	if string(r.severity) != "LOG" {
		if string(r.severity) == "ERROR" {
			b.errors++
		}
		return
	}
	m, ok := parsePGMessage(r.message)
	if !ok {
		return
	}
	ev := event{at: r.at, query: m.took, thread: r.pid, line: r.line, start: int32(len(b.data))}
	ev.flag(!m.timed, flagUntimed)
	sql, detail := m.sql, r.detail
	switch {
	case m.verb == "parse":
		ev.kind = kindPrepare
		sql = prepareCommand
		fp.out = append(append(fp.out[:0], adminPrefix...), "Prepare"...)
		ev.digest = Digest(fp.out)
	case m.verb == "":
		ev.kind, sql = kindDuration, nil
	default:
		if prepared, ok := bytes.CutPrefix(detail, []byte("prepare: ")); ok {
			sql, detail = preparedText(prepared), nil
		}
		text := fp.Fingerprint(sql)
		ev.digest, ev.values = Digest(text), fp.values
		ev.kind = kindOf(text, sql)
		ev.flag(fp.unclosed, flagOpen)
		ev.flag(m.verb == "bind", flagBind)
		ev.flag(m.verb == "plan", flagPlan)
	}
	ev.sql = b.addText(sql)
	if params, ok := cutParameters(detail); ok && m.verb != "parse" && len(sql) > 0 {
		ev.values = tally.Hash(params, ev.values)
		b.data = append(append(append(b.data, " /* parameters: "...), bytes.ReplaceAll(params, []byte("*/"), []byte("* /"))...), " */"...)
		ev.sql.to = int32(len(b.data))
	}
	ev.user, ev.db, ev.host = b.addText(r.user), b.addText(r.db), b.addText(r.host)
	b.events = append(b.events, ev)
}

var prepareCommand = append(bytes.Clone(adminLine), "Prepare"...)

// addText appends a text to the batch's data, without white space and semicolons
// at its end.
func (b *batch) addText(text []byte) span {
	from := len(b.data)
	b.data = append(b.data, bytes.TrimRight(text, "; \t\r\n")...)
	return span{int32(from), int32(len(b.data))}
}

// cutParameters returns the parameters in the detail of an execution. PostgreSQL
// 16 and later write the first letter in upper case.
func cutParameters(detail []byte) ([]byte, bool) {
	if len(detail) == 0 {
		return nil, false
	}
	return bytes.CutPrefix(detail[1:], []byte("arameters: "))
}

// preparedText returns the statement of PREPARE name AS statement.
func preparedText(prepare []byte) []byte {
	low := bytes.ToLower(prepare)
	if i := bytes.Index(low, []byte(" as ")); i >= 0 && len(low) == len(prepare) {
		return prepare[i+len(" as "):]
	}
	return prepare
}

// A pgMessage is a message about a statement.
type pgMessage struct {
	took  int64 // ns
	timed bool
	verb  string // statement, parse, bind, execute, plan; "" for a duration alone
	sql   []byte
}

// parsePGMessage reads a message such as
//
//	duration: 0.247 ms  execute <unnamed>: SELECT 1
//
// where the duration or the statement may be missing. ok is false for messages
// about other things.
func parsePGMessage(msg []byte) (m pgMessage, ok bool) {
	if rest, found := bytes.CutPrefix(msg, []byte("duration: ")); found {
		ms, after, found := bytes.Cut(rest, []byte(" ms"))
		if m.took, ok = parseSeconds(ms); !found || !ok {
			return m, false
		}
		m.took /= 1000
		m.timed = true
		if msg = bytes.TrimLeft(after, " "); len(bytes.TrimSpace(msg)) == 0 {
			return m, true
		}
	}
	if sql, found := cutVerb(msg, "statement:"); found {
		m.verb, m.sql = "statement", sql
		return m, true
	}
	if plan, found := cutVerb(msg, "plan:"); found && m.timed {
		m.verb, m.sql = "plan", queryOfPlan(plan)
		return m, len(m.sql) > 0
	}
	for _, verb := range [...]string{"execute", "parse", "bind"} {
		if len(msg) <= len(verb) || string(msg[:len(verb)]) != verb || msg[len(verb)] != ' ' {
			continue
		}
		if name := bytes.IndexByte(msg, ':'); name >= 0 {
			if sql, found := cutVerb(msg[name:], ":"); found {
				m.verb, m.sql = verb, sql
				return m, true
			}
		}
	}
	return m, false
}

// cutVerb removes a word from a message and the white space behind it. A shipper that
// strips blanks at the ends of lines leaves the line end only.
func cutVerb(msg []byte, word string) (rest []byte, ok bool) {
	rest, ok = bytes.CutPrefix(msg, []byte(word))
	if !ok || len(rest) == 0 || rest[0] != ' ' && rest[0] != '\n' && rest[0] != '\r' {
		return nil, false
	}
	return bytes.TrimLeft(rest, " \t\r\n"), true
}

// queryOfPlan returns the statement of a plan that auto_explain logged, as text or as
// JSON; nil if there is none.
func queryOfPlan(plan []byte) []byte {
	if rest, ok := bytes.CutPrefix(plan, []byte("Query Text: ")); ok {
		end := 0
		for end < len(rest) {
			next := len(rest)
			if i := bytes.IndexByte(rest[end:], '\n'); i >= 0 {
				next = end + i + 1
			}
			line := bytes.TrimSpace(rest[end:next])
			if end > 0 && (bytes.Contains(line, []byte("  (cost=")) || bytes.HasPrefix(line, []byte("Query Parameters: "))) {
				break
			}
			end = next
		}
		return bytes.TrimSpace(rest[:end])
	}
	var object struct {
		Text string `json:"Query Text"`
	}
	if json.Unmarshal(plan, &object) != nil {
		return nil
	}
	return []byte(object.Text)
}
