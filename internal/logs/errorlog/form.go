package errorlog

import (
	"bytes"
	"encoding/json"
	"strings"
)

// A Form is the format of a log's lines.
type Form uint8

const (
	Any     Form = iota // the output of any program: every line is valid
	Nginx               // 2026/11/21 11:57:21 [warn] 12#12: *3 message, client: …
	MariaDB             // 2026-11-21 11:57:21 0 [Warning] message
)

// A parsed line. The strings share the line's memory.
type parsed struct {
	level   string // of levels, "" for none
	message string
	request string // as in "GET /path HTTP/1.1", "" for none
	// cont marks a line that continues the one before, such as a line of a stack.
	cont bool
	bad  bool // the line does not have the log's form
}

func (f Form) parse(line string) parsed {
	switch f {
	case Nginx:
		return parseNginx(line)
	case MariaDB:
		return parseMariaDB(line)
	}
	return parseAny(line)
}

// digitsAt reports whether a text begins like shape, in which 0 means any digit.
func digitsAt(s, shape string) bool {
	if len(s) < len(shape) {
		return false
	}
	for i := range len(shape) {
		if shape[i] == '0' {
			if s[i] < '0' || s[i] > '9' {
				return false
			}
		} else if s[i] != shape[i] {
			return false
		}
	}
	return true
}

const nginxStamp = "0000/00/00 00:00:00 ["

// parseNginx reads a line of nginx's error log. It removes what nginx appends
// about the connection (client, server, request, upstream …) from the message.
func parseNginx(line string) parsed {
	if !digitsAt(line, nginxStamp) {
		return parsed{message: line, bad: true}
	}
	level, rest, ok := strings.Cut(line[len(nginxStamp):], "] ")
	if level = levels[level]; !ok || level == "" {
		return parsed{message: line, bad: true}
	}
	if _, after, ok := strings.Cut(rest, ": "); ok { // pid#tid
		rest = after
	}
	if strings.HasPrefix(rest, "*") { // the connection's number
		if _, after, ok := strings.Cut(rest, " "); ok {
			rest = after
		}
	}
	p := parsed{level: level, message: rest}
	for _, mark := range []string{" while ", ", client: ", ", server: "} {
		if i := strings.Index(p.message, mark); i > 0 {
			p.message = p.message[:i]
		}
	}
	if _, after, ok := strings.Cut(rest, `, request: "`); ok {
		p.request, _, _ = strings.Cut(after, `"`)
	}
	return p
}

const mariaStamp = "0000-00-00 "

// parseMariaDB reads a line of MariaDB's or MySQL's error log. Lines of a
// monitor's output and of a crash's stack have no time and continue the message
// before.
func parseMariaDB(line string) parsed {
	if !digitsAt(line, mariaStamp) {
		return parsed{message: line, cont: true}
	}
	_, rest, ok := strings.Cut(line, " [")
	if !ok {
		return parsed{message: line, cont: true}
	}
	level, message, ok := strings.Cut(rest, "] ")
	if level = levels[strings.ToLower(level)]; !ok || level == "" {
		return parsed{message: line, bad: true}
	}
	return parsed{level: level, message: strings.TrimSpace(message)}
}

// parseAny reads a line of any program.
func parseAny(line string) parsed {
	trimmed := strings.TrimLeft(line, " \t")
	if strings.HasPrefix(trimmed, "{") && strings.HasSuffix(trimmed, "}") {
		if p, ok := parseJSON(trimmed); ok {
			return p
		}
	}
	if len(trimmed) < len(line) {
		return parsed{message: trimmed, cont: true}
	}
	p := parsed{message: line}
	if digitsAt(line, "0000/00/00 00:00:00") { // package log of Go
		p.message = strings.TrimLeft(line[len("0000/00/00 00:00:00"):], ".0123456789 ")
	}
	p.level = levelIn(line)
	if method, _, ok := strings.Cut(p.message, " "); ok && methods[method] {
		p.request = p.message
	}
	return p
}

// methods are the words that begin a request in a log.
var methods = map[string]bool{"GET": true, "HEAD": true, "POST": true, "PUT": true, "PATCH": true, "DELETE": true, "OPTIONS": true}

// fields are the usual field names of JSON loggers.
type fields struct {
	Level    any    `json:"level"`
	Severity string `json:"severity"`
	Msg      string `json:"msg"`
	Message  string `json:"message"`
	Error    any    `json:"error"`
	Method   string `json:"method"`
	URI      string `json:"uri"`
	Path     string `json:"path"`
	Status   any    `json:"status"`
}

// parseJSON reads a line that is one JSON object. ok is false for other lines.
func parseJSON(line string) (parsed, bool) {
	var f fields
	if json.NewDecoder(strings.NewReader(line)).Decode(&f) != nil {
		return parsed{}, false
	}
	level, _ := f.Level.(string)
	if level == "" {
		level = f.Severity
	}
	p := parsed{level: levels[strings.ToLower(level)], message: f.Msg}
	if p.message == "" {
		p.message = f.Message
	}
	if s, ok := f.Error.(string); ok && s != "" {
		p.message = strings.TrimPrefix(p.message+": "+s, ": ")
	}
	if f.URI == "" {
		f.URI = f.Path
	}
	if methods[f.Method] && f.URI != "" {
		p.request = f.Method + " " + f.URI
		if p.message == "" && f.Status != nil {
			p.message = requestLine
		}
	}
	if p.message == "" {
		p.message = line
	}
	return p, true
}

// levels maps the levels of other loggers to nginx's.
var levels = map[string]string{
	"trace": "debug", "debug": "debug", "dbg": "debug", "fine": "debug", "verbose": "debug",
	"info": "info", "information": "info", "note": "notice", "notice": "notice", "system": "notice",
	"warn": "warn", "warning": "warn", "error": "error", "err": "error", "severe": "error",
	"crit": "crit", "critical": "crit", "fatal": "crit", "panic": "crit", "alert": "alert", "emerg": "emerg", "emergency": "emerg",
}

// levelWithin is how many bytes from the beginning of a line its level may be.
const levelWithin = 64

// levelIn finds a level near the beginning of a line: in capitals, in brackets,
// before a colon or after "level=". A word of prose ("error" in lower case between
// spaces) is not a level.
func levelIn(line string) string {
	line = line[:min(len(line), levelWithin)]
	for i := 0; i < len(line); {
		if !letter(line[i]) {
			i++
			continue
		}
		j := i
		for j < len(line) && letter(line[j]) {
			j++
		}
		word := line[i:j]
		if level := levels[strings.ToLower(word)]; level != "" {
			before, after := byte(' '), byte(' ')
			if i > 0 {
				before = line[i-1]
			}
			if j < len(line) {
				after = line[j]
			}
			capitals := strings.ToUpper(word) == word
			if before == '[' || after == ']' || before == '<' || before == '=' || capitals && !letter(after) || i == 0 && after == ':' {
				return level
			}
		}
		i = j
	}
	return ""
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// blank reports whether a line consists of white space.
func blank(line []byte) bool { return len(bytes.TrimSpace(line)) == 0 }
