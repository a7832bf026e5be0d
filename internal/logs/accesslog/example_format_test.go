package accesslog

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
)

// chi is the format of the logger of the Go router chi.
var chi = &lineReader{"chi", []field{request, status, size, took, stamp, address}, readChi, nil}

// readChi reads a line of chi's logger:
// 2026/11/19 04:04:05 "GET http://host/path HTTP/1.1" from ADDRESS - 200 12B in 1.5ms
func readChi(line []byte, rec *record, clk *clock) bool {
	at, rest, hasRequest := bytes.Cut(line, []byte(` "`))
	req, rest, hasAddress := bytes.Cut(rest, []byte(`" from `))
	addr, rest, hasStatus := bytes.Cut(rest, []byte(" - "))
	code, rest := word(rest)
	sent, rest := word(rest)
	in, rest := word(rest)
	duration, rest := word(rest)
	if !hasRequest || !hasAddress || !hasStatus || string(in) != "in" || len(rest) > 0 {
		return false
	}
	var known, timed bool
	rec.at, known = clk.any(at)
	rec.took, timed = durationValue(duration)
	rec.addr = addr
	rec.setRequest(req)
	return known && timed && rec.setText(status, code) && rec.setText(size, bytes.TrimSuffix(sent, []byte("B")))
}

// withChi adds the format for the time of a test.
func withChi(t testing.TB) {
	before := lineReaders
	lineReaders = append(slices.Clip(lineReaders), chi)
	formatNames["chi"] = ""
	t.Cleanup(func() {
		lineReaders = before
		delete(formatNames, "chi")
	})
}

// TestNewFormat: a reading function, a line in lineReaders and one in
// formatNames are all that such a format needs to be detected and to be given
// by name. docs/contributing.md quotes the format.
func TestNewFormat(t *testing.T) {
	withChi(t)
	const line = `2026/11/19 04:04:05 "GET http://localhost:3000/items/5?x=1 HTTP/1.1" from 127.0.0.1:50000 - 200 12B in 1.5ms`
	for _, opt := range []Options{{}, {Format: "chi"}} {
		p, r := one(t, opt, line)
		if got, want := facts(p, r), "GET /items/:id 2xx 1.5ms 12 bytes 2026-11-19T04:04:05Z"; p.Intake.Format != "chi" || p.Intake.Bad != 0 || got != want {
			t.Errorf("--format %q: %s, %d bad lines, %s; want %s", opt.Format, p.Intake.Format, p.Intake.Bad, got, want)
		}
	}
	if n := allocations(t, line); n != 0 {
		t.Errorf("%v allocations for a line", n)
	}
}

// FuzzNewFormat: a line written by chi is parsed to its original values, and no line makes
// the reader panic.
func FuzzNewFormat(f *testing.F) {
	fuzzSeeds(f)
	f.Fuzz(func(t *testing.T, path, agent string, status uint16, bytes, ms uint32) {
		s := said{path, nginxEscape(agent), status, bytes, ms}
		s.tidy()
		s.check(t, chi, fmt.Sprintf(`2026/11/19 04:04:05 "POST %s HTTP/1.1" from 10.0.0.1:50000 - %d %dB in %dms`, s.path, s.status, s.bytes, s.ms))
		var rec record
		chi.parser(optional).parse([]byte(path+` "`+agent+`" from `+path+" - "+agent), &rec)
	})
}
