package slowlog

import (
	"bytes"
	"encoding/json"

	"github.com/iikanji/iikanji/internal/logs/lines"
)

// aheadCSV is how many bytes of a line startsCSV may read.
const aheadCSV = 64

// csvBoundary cuts a csvlog before each line that begins with a time and a comma.
var csvBoundary = lines.Boundary{Find: findCSV, Ahead: aheadCSV}

func findCSV(data []byte, from int) int {
	for {
		i := bytes.IndexByte(data[from-1:], '\n')
		if i < 0 || from+i >= len(data) {
			return -1
		}
		if from += i; startsCSV(data, from) {
			return from
		}
		from++
	}
}

// startsCSV reports whether a record of a csvlog starts at p.
func startsCSV(data []byte, p int) bool {
	b := data[p:min(len(data), p+aheadCSV)]
	_, n := parsePGTime(b)
	return n > 0 && n < len(b) && b[n] == ','
}

// Columns of a csvlog, from 0.
const (
	csvUser     = 1
	csvDB       = 2
	csvPID      = 3
	csvHost     = 4
	csvSeverity = 11
	csvMessage  = 13
	csvDetail   = 14
)

// csvScanner reads logs of log_destination csvlog.
type csvScanner struct {
	message, detail []byte // unescaped, reused
}

func (s *csvScanner) next(data []byte, at int, r *pgRecord) (end int, why string) {
	if end = findCSV(data, at+1); end < 0 {
		end = len(data)
	}
	if !startsCSV(data, at) {
		return end, "" // the rest of a record before the log
	}
	record := data[at:end]
	r.at, _ = parsePGTime(record)
	for column, i := 0, 0; column <= csvDetail; column++ {
		field, next := csvField(record, i)
		if next < 0 {
			return end, whyCut
		}
		switch i = next; column {
		case csvUser:
			r.user = field
		case csvDB:
			r.db = field
		case csvPID:
			r.pid = uint64(digits(field))
		case csvHost:
			r.host, _, _ = bytes.Cut(field, []byte{':'})
		case csvSeverity:
			r.severity = field
		case csvMessage:
			s.message = appendUnquoted(s.message[:0], field)
			r.message = s.message
		case csvDetail:
			s.detail = appendUnquoted(s.detail[:0], field)
			r.detail = s.detail
		}
	}
	return end, ""
}

// csvField returns the field that begins at i, without its quotes, and the
// position after the comma or line end behind it, or -1 if the record ends before.
func csvField(b []byte, i int) (field []byte, next int) {
	if i >= len(b) {
		return nil, -1
	}
	if b[i] != '"' {
		for j := i; j < len(b); j++ {
			if b[j] == ',' || b[j] == '\n' {
				return b[i:j], j + 1
			}
		}
		return nil, -1
	}
	for j := i + 1; j < len(b); j++ {
		if b[j] != '"' {
			continue
		}
		if j+1 < len(b) && b[j+1] == '"' {
			j++
			continue
		}
		if j+1 >= len(b) || b[j+1] != ',' && b[j+1] != '\n' {
			return nil, -1
		}
		return b[i+1 : j], j + 2
	}
	return nil, -1
}

// appendUnquoted appends a field with its doubled quotes halved.
func appendUnquoted(out, field []byte) []byte {
	for {
		i := bytes.Index(field, []byte(`""`))
		if i < 0 {
			return append(out, field...)
		}
		out = append(out, field[:i+1]...)
		field = field[i+2:]
	}
}

// pgJSON is one line of a jsonlog.
type pgJSON struct {
	Timestamp string `json:"timestamp"`
	User      string `json:"user"`
	DB        string `json:"dbname"`
	PID       uint64 `json:"pid"`
	Host      string `json:"remote_host"`
	Severity  string `json:"error_severity"`
	Message   string `json:"message"`
	Detail    string `json:"detail"`
}

// jsonScanner reads logs of log_destination jsonlog, of PostgreSQL 15 and later.
type jsonScanner struct{}

func (jsonScanner) next(data []byte, at int, r *pgRecord) (end int, why string) {
	end = len(data)
	if i := bytes.IndexByte(data[at:], '\n'); i >= 0 {
		end = at + i + 1
	}
	line := bytes.TrimSpace(data[at:end])
	if len(line) == 0 {
		return end, ""
	}
	var j pgJSON
	if err := json.Unmarshal(line, &j); err != nil || j.Severity == "" {
		if end == len(data) && data[end-1] != '\n' {
			return end, whyCut
		}
		return end, "it is not a JSON object with error_severity"
	}
	r.at, _ = parsePGTime([]byte(j.Timestamp))
	r.pid, r.user, r.db, r.host = j.PID, []byte(j.User), []byte(j.DB), []byte(j.Host)
	r.severity, r.message, r.detail = []byte(j.Severity), []byte(j.Message), []byte(j.Detail)
	return end, ""
}
