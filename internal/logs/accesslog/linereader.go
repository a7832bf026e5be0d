package accesslog

import "bytes"

// A lineReader is a format with a reading function of its own, for lines whose
// fields are not separated by fixed texts.
type lineReader struct {
	title  string
	fields []field
	// read sets the fields of rec; false if the line is not of this format.
	read func(line []byte, rec *record, clk *clock) bool
	// messages are the beginnings of lines that are not requests.
	messages []string
}

type lineParser struct {
	format *lineReader
	clk    clock
}

func (f *lineReader) name() string           { return f.title }
func (f *lineReader) parser(fieldSet) parser { return &lineParser{format: f} }
func (f *lineReader) explain(reason) string  { return "is not a line of " + f.title }
func (f *lineReader) notes() []string        { return nil }

func (f *lineReader) has(want field) bool {
	for _, g := range f.fields {
		if g == want {
			return true
		}
	}
	return false
}

func (p *lineParser) parse(line []byte, rec *record) reason {
	rec.clear()
	if p.format.read(line, rec, &p.clk) {
		return 0
	}
	for _, m := range p.format.messages {
		if hasPrefix(line, m) {
			return otherLine
		}
	}
	return 1
}

// lineReaders are the formats that are read this way.
var lineReaders = []*lineReader{
	{"HAProxy", []field{request, status, size, took, upstream, stamp, address}, readHAProxy, nil},
	{"squid", []field{verb, uri, status, size, took, stamp, address, user}, readSquid, nil},
	{"gin", []field{verb, uri, status, took, stamp, address}, readGin, []string{"[GIN-debug]"}},
	{"uvicorn", []field{request, status, address}, readUvicorn, []string{"INFO:", "WARNING:", "ERROR:", "DEBUG:"}},
}

// word returns the next word of a line behind any spaces.
func word(line []byte) (w, rest []byte) {
	for len(line) > 0 && line[0] == ' ' {
		line = line[1:]
	}
	if i := bytes.IndexByte(line, ' '); i >= 0 {
		return line[:i], line[i:]
	}
	return line, nil
}

// readSquid reads squid's native format: time in seconds, duration in ms,
// client, result/status, bytes, method, URL, user, hierarchy, type.
func readSquid(line []byte, rec *record, clk *clock) (ok bool) {
	var w [10][]byte
	for i := range w {
		if w[i], line = word(line); len(w[i]) == 0 {
			return false
		}
	}
	if rec.at, ok = clk.any(w[0]); !ok {
		return false
	}
	ms, end := digits(w[1], 0)
	slash := bytes.IndexByte(w[3], '/')
	if end == 0 || end < len(w[1]) || slash <= 0 || ms > maxTook/1e6 {
		return false
	}
	rec.took, rec.addr, rec.uri, rec.user = ms*1e6, w[2], w[6], w[7]
	rec.setMethod(w[5])
	return rec.setText(status, w[3][slash+1:]) && rec.setText(size, w[4])
}

// readGin reads the lines of gin's logger:
// [GIN] 2026/11/19 - 04:04:05 | 200 | 1.2ms | 10.0.0.1 | GET "/path".
func readGin(line []byte, rec *record, clk *clock) (ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte("[GIN]"))
	if !ok {
		return false
	}
	var cells [5][]byte
	for i := range cells {
		sep := []byte("|")
		if i == 4 {
			sep = nil
		}
		if cells[i], rest, ok = cutCell(rest, sep); !ok {
			return false
		}
	}
	at := cells[0]
	if len(at) != len("2026/11/19 - 04:04:05") || string(at[10:13]) != " - " {
		return false
	}
	var text [19]byte
	copy(text[:], at[:11])
	copy(text[11:], at[13:])
	if rec.at, ok = clk.any(text[:]); !ok {
		return false
	}
	if rec.took, ok = durationValue(cells[2]); !ok {
		return false
	}
	method, path := word(cells[4])
	path = bytes.TrimSpace(path)
	if n := len(path); n > 1 && path[0] == '"' {
		path = bytes.TrimSuffix(path[1:], []byte(`"`))
	}
	rec.addr, rec.uri = cells[3], path
	rec.setMethod(method)
	return rec.setText(status, cells[1]) && len(path) > 0
}

// cutCell returns the text before a separator, without spaces around it, and
// the rest; an empty separator takes all.
func cutCell(b, sep []byte) (cell, rest []byte, ok bool) {
	if len(sep) == 0 {
		return bytes.TrimSpace(b), nil, true
	}
	cell, rest, ok = bytes.Cut(b, sep)
	return bytes.TrimSpace(cell), rest, ok
}

// readUvicorn reads the lines of uvicorn's access logger, perhaps with a time
// before them: INFO:     127.0.0.1:50000 - "GET /path HTTP/1.1" 200 OK.
func readUvicorn(line []byte, rec *record, clk *clock) bool {
	at := bytes.Index(line, []byte("INFO"))
	open := bytes.Index(line, []byte(` - "`))
	if at < 0 || at > 60 || open < at {
		return false
	}
	if stamp := bytes.Trim(line[:at], " []"); len(stamp) > 0 {
		rec.at, _ = clk.any(stamp)
	}
	end := bytes.LastIndexByte(line, '"')
	if end <= open+3 {
		return false
	}
	rec.setRequest(line[open+4 : end])
	rec.addr = line[bytes.LastIndexByte(line[:open], ' ')+1 : open]
	code, _ := word(line[end+1:])
	return rec.uri != nil && len(code) == 3 && rec.setText(status, code)
}

// readHAProxy reads HAProxy's HTTP log (option httplog), perhaps behind the
// header of syslog:
//
//	CLIENT:PORT [19/Nov/2026:04:04:05.123] FRONTEND BACKEND/SERVER TR/Tw/Tc/Tr/Ta STATUS BYTES … "REQUEST"
//
// Ta is the time of the request, Tr that of the server, in ms; -1 is none.
func readHAProxy(line []byte, rec *record, clk *clock) bool {
	open := bytes.Index(line, []byte(" ["))
	for open >= 0 && !isHAProxyTime(line[open+2:]) {
		next := bytes.Index(line[open+1:], []byte(" ["))
		if next < 0 {
			return false
		}
		open += 1 + next
	}
	if open < 0 {
		return false
	}
	rec.addr = line[bytes.LastIndexByte(line[:open], ' ')+1 : open]
	rec.at = haproxyTime(line[open+2:], clk)
	_, rest := word(line[open+2+len("19/Nov/2026:04:04:05.123]"):]) // frontend
	_, rest = word(rest)                                            // backend/server
	timers, rest := word(rest)
	code, rest := word(rest)
	bytesRead, rest := word(rest)
	var parts [5][]byte
	for i := range parts {
		parts[i], timers, _ = bytes.Cut(timers, []byte("/"))
	}
	if len(timers) > 0 || len(parts[4]) == 0 || len(code) == 0 || len(bytesRead) == 0 {
		return false
	}
	var ok [2]bool
	rec.upstream, ok[0] = timeValue(parts[3], 1e6)
	rec.took, ok[1] = timeValue(bytes.TrimPrefix(parts[4], []byte("+")), 1e6)
	quote := bytes.IndexByte(rest, '"')
	if !ok[0] || !ok[1] || quote < 0 {
		return false
	}
	rec.setRequest(bytes.TrimSuffix(rest[quote+1:], []byte(`"`)))
	return rec.setText(status, code) && rec.setText(size, bytes.TrimPrefix(bytesRead, []byte("+")))
}

func isHAProxyTime(b []byte) bool {
	return len(b) > 25 && b[2] == '/' && b[6] == '/' && b[11] == ':' && b[20] == '.' && b[24] == ']'
}

// haproxyTime reads 19/Nov/2026:04:04:05.123, which has no zone.
func haproxyTime(b []byte, clk *clock) int64 {
	var text [localLen]byte
	copy(text[:], b[:20])
	copy(text[20:], " +0000")
	at, ok := clk.local(text[:])
	ms, end := digits(b[:24], 21)
	if !ok || end != 24 {
		return noTime
	}
	return at + ms*1e6
}
