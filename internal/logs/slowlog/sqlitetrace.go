package slowlog

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/logs/lines"
	"github.com/iikanji/iikanji/internal/logs/tally"
)

// A trace is one line of a SQLite trace. Some fields have several usual names.
type trace struct {
	Time      string            `json:"time"`
	Timestamp string            `json:"timestamp"`
	Statement string            `json:"statement"`
	SQL       string            `json:"sql"`
	Query     string            `json:"query"`
	Args      []json.RawMessage `json:"args"`
	Params    []json.RawMessage `json:"params"`
	QueryTime *float64          `json:"query_time"` // seconds
	Duration  *float64          `json:"duration"`   // seconds
	Affected  int64             `json:"affected_rows"`
	Affected2 int64             `json:"rows_affected"`
	Rows      int64             `json:"rows"`
	DB        string            `json:"db"`
	Conn      uint64            `json:"conn"`
	Thread    uint64            `json:"thread"`
	Error     string            `json:"error"`
}

// looksLikeTrace reports whether the first line of a log is a trace.
func looksLikeTrace(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n")
	if len(head) == 0 || head[0] != '{' {
		return false
	}
	line, _, _ := bytes.Cut(head, []byte{'\n'})
	t, ok := parseTrace(line)
	return ok && t.Statement != ""
}

func parseTrace(line []byte) (*trace, bool) {
	t := new(trace)
	if err := json.Unmarshal(line, t); err != nil {
		return nil, false
	}
	if t.Statement == "" {
		t.Statement = t.SQL + t.Query
	}
	if t.QueryTime == nil {
		t.QueryTime = t.Duration
	}
	return t, t.Statement != "" && t.QueryTime != nil && *t.QueryTime >= 0
}

// parseTraces fills b from a block of lines. The batch's data are the statements
// with their arguments in a comment after them.
func (b *batch) parseTraces(blk *lines.Block, fp *Fingerprinter) {
	b.reset(blk)
	n := int32(0)
	for line := range bytes.Lines(blk.Data) {
		n++
		if t, ok := parseTrace(line); ok {
			b.addTrace(t, n, fp)
		} else if len(bytes.TrimSpace(line)) > 0 {
			b.addBad(bytes.TrimRight(line, "\n"), n, "it is not a JSON object with statement and query_time")
		}
	}
	blk.Records = len(b.events) + len(b.bad)
}

// addTrace adds the event of a line.
func (b *batch) addTrace(t *trace, line int32, fp *Fingerprinter) {
	ev := event{start: int32(len(b.data)), line: line, query: int64(*t.QueryTime * 1e9), affected: t.Affected + t.Affected2, sent: t.Rows, thread: t.Conn + t.Thread}
	if at, err := time.Parse(time.RFC3339Nano, t.Time+t.Timestamp); err == nil {
		ev.at = at.UnixNano()
	}
	ev.flag(t.Error != "", flagError)
	text := fp.Fingerprint([]byte(t.Statement))
	ev.digest, ev.values = Digest(text), fp.values
	ev.kind = kindOf(text, []byte(t.Statement))
	ev.sql = b.addText([]byte(t.Statement))
	if args, _ := json.Marshal(append(t.Args, t.Params...)); len(t.Args)+len(t.Params) > 0 {
		ev.values = tally.Hash(args, ev.values)
		b.data = append(b.data, " /* args: "+strings.ReplaceAll(string(args), "*/", "* /")+" */"...)
		ev.sql.to = int32(len(b.data))
	}
	ev.db = b.addText([]byte(t.DB))
	b.events = append(b.events, ev)
}
