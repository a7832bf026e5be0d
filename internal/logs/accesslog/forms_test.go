package accesslog

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
)

// TestForms: forms of lines that no server's documentation has, each with 20 requests of
// POST /login of 10 ms and 100 bytes (those that the form has).
func TestForms(t *testing.T) {
	const agent = `"Mozilla/5.0 (X11; Linux x86_64)"`
	for name, c := range map[string]struct {
		line   string // %d is the second
		format string
		took   time.Duration
		bytes  int64
		note   string
	}{
		"times before the request":    {`10.0.0.1 - - [19/Nov/2026:04:04:%02d +0000]  0.010 0.009 "POST /login HTTP/1.1" 200 100 "-" ` + agent + ` .`, "combined", 10e6, 100, ""},
		"a time glued to the quote":   {`10.0.0.1 - - [19/Nov/2026:04:04:%02d +0000] "POST /login HTTP/1.1" 200 100 "-" ` + agent + `0.010`, "combined + time", 10e6, 100, ""},
		"bracketed fields with names": {`[19/Nov/2026:04:04:%02d +0000] - 200 200 - POST https shop.test "/login" [Client 10.1.2.3] [Length 100] [Gzip -] ` + agent + ` "-"`, "text", 0, 100, "--log-format '"},
		"dashes between":              {`[2026-11-19T04:04:%02d+00:00] - shop.test - 10.1.2.3 - 200 - - - POST - HTTP/2.0 - 100 - 0.010 - "-" - "/login" - ` + agent, "text + time", 10e6, 100, "--log-format '"},
		"neither status nor size":     {`2026/11/19 04:04:%02d 127.0.0.1 POST /login 10000`, "text + time", 10e6, 0, "in µs"},
		"words between":               {`172.17.0.1 - - - shop.test [19/Nov/2026:04:04:%02d +0000] "POST /login HTTP/1.1" 10.9.9.9:80 upstream_response_time 0.009 msec 1795061045.000 request_time 0.010 200 100 "-" Mozilla/5.0 (X11; Linux) -`, "text + time + upstream time", 10e6, 100, ""},
		"lists of upstreams":          {`2001:db8:: - - [19/Nov/2026:04:04:%02d +0000] "POST /login HTTP/2.0" 200 100 "-" ` + agent + ` 27 0.010 [a-80] [] [2001:db8::7]:5000, [2001:db8::8]:5000 0, 100 0.000, 0.009 502, 200 3db7`, "combined + time", 10e6, 100, ""},
		"a list in key=value":         {`[19/Nov/2026:04:04:%02d +0000] client=10.1.2.3 request="POST /login HTTP/1.1" status=200 body_bytes_sent=100 request_time=0.010 upstream_response_time=0.000, 0.009 subnet=10.1.2.`, "", 10e6, 100, ""},
		"W3C with milliseconds":       {"2026-11-19 04:04:%02d.123 10.0.0.9 POST /login - 200 100 10", "W3C extended", 10e6, 100, ""},
		"a console's words and JSON":  {`2026/11/19 04:04:%02d.327	INFO	http.log.access	handled request	{"request": {"method": "POST", "host": "shop.test", "uri": "/login"}, "duration": 0.010, "size": 100, "status": 200}`, "JSON in words before each object of JSON", 10e6, 100, ""},
		"Matomo's key":                {`{"ip": "10.1.2.3","path": "/login","request_method":"POST","status": "200","length": 100,"generation_time_milli": 0.010,"date": "2026-11-19T04:04:%02d+00:00"}`, "JSON", 10e6, 100, ""},
	} {
		var b strings.Builder
		if strings.HasPrefix(c.format, "W3C") {
			b.WriteString("#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query sc-status sc-bytes time-taken\n")
		}
		for i := range 20 {
			fmt.Fprintf(&b, c.line+"\n", i)
		}
		p := read(t, Options{}, b.String())
		if !strings.HasPrefix(p.Intake.Format, c.format) || p.Intake.Bad != 0 || len(p.Rows) != 1 {
			t.Errorf("%s: format %q, %d bad, %d rows", name, p.Intake.Format, p.Intake.Bad, len(p.Rows))
			continue
		}
		r := p.Rows[0]
		if r.Key != "POST /login" || r.Count != 20 || r.Total != 20*c.took || r.Web.Bytes != 20*iikanji.Bytes(c.bytes) {
			t.Errorf("%s: %s %d times, %v, %d bytes", name, r.Key, r.Count, r.Total, r.Web.Bytes)
		}
		if !strings.Contains(strings.Join(p.Notes, "\n"), c.note) {
			t.Errorf("%s: notes %q", name, p.Notes)
		}
	}
}

// TestTwoHeaders: a W3C log whose columns change in the middle.
func TestTwoHeaders(t *testing.T) {
	log := "#Fields: date time cs-method cs-uri-stem sc-status time-taken\n" + strings.Repeat("2026-11-19 04:04:05 GET /a 200 7\n", 30) +
		"#Fields: date time s-sitename cs-method cs-uri-stem cs-username sc-status sc-bytes time-taken\n" + strings.Repeat("2026-11-19 04:05:05 W3SVC1 GET /a - 200 55 7\n", 30)
	p := read(t, Options{}, log)
	if r := p.Rows[0]; len(p.Rows) != 1 || r.Count != 60 || r.Total != 420*time.Millisecond || r.Web.Bytes != 30*55 || p.Intake.Bad != 0 {
		t.Errorf("%+v %+v", p.Intake, p.Rows)
	}
}

// TestConnectionsWithoutRequests: Istio's rows of TCP have a row of their own.
func TestConnectionsWithoutRequests(t *testing.T) {
	const http = `[2026-11-19T04:04:05.000Z] "GET /a HTTP/1.1" 200 - via_upstream - "-" 0 100 10 9 "-" "curl" "id" "shop" "10.0.0.1:80" inbound|80|| 127.0.0.6:1 10.0.0.1:80 10.0.0.2:1 - default` + "\n"
	const tcp = `[2026-11-19T04:04:05.000Z] "- - -" 0 - - - "-" 2279 3059 63 - "-" "-" "-" "-" "10.2.3.4:443" PassthroughCluster 10.0.0.93:37018 10.2.3.4:443 10.0.0.93:39849 - -` + "\n"
	p := read(t, Options{}, strings.Repeat(http, 9)+tcp+tcp)
	if len(p.Rows) != 2 || p.Rows[1].Count != 9 || p.Rows[0].Key != nothingKey || p.Rows[0].Count != 2 {
		t.Errorf("%+v", p.Rows)
	}
}

// TestProgramMessages: messages of programs between requests are no bad lines.
func TestProgramMessages(t *testing.T) {
	const json = `{"method":"GET","uri":"/a","status":200,"duration_ms":5}` + "\n"
	const text = `10.0.0.1 - - [19/Nov/2026:04:04:05 +0000] "GET /a HTTP/1.1" 200 5 "-" "x"` + "\n"
	for name, log := range map[string]string{
		"logfmt in JSON": strings.Repeat(json, 9) + `time="2026-11-19T10:01:42-04:00" level=error msg="accept tcp [::]:443: closed"` + "\n",
		"nginx's errors": strings.Repeat(text, 9) + "2026/11/19 04:04:05 [error] 7#7: *1 open() failed, request: \"GET /x HTTP/1.1\"\n",
	} {
		p := read(t, Options{}, log)
		if p.Intake.Bad != 0 || p.Rows[0].Count != 9 || !strings.Contains(strings.Join(p.Notes, "\n"), "1 ") {
			t.Errorf("%s: %+v %q", name, p.Intake, p.Notes)
		}
	}
}

// TestWebSockets: a note says that the time of WebSockets is no work, and how to leave
// them out.
func TestWebSockets(t *testing.T) {
	const line = `10.0.0.1 - - [19/Nov/2026:04:04:05 +0000] "GET %s HTTP/1.1" %d 5 "-" "x" %s` + "\n"
	log := strings.Repeat(fmt.Sprintf(line, "/a", 200, "0.010"), 9) + strings.Repeat(fmt.Sprintf(line, "/socket", 101, "24388.111"), 3)
	p := read(t, Options{}, log)
	if !strings.Contains(strings.Join(p.Notes, "\n"), "GET /socket: its time is how long 3 connections were open") {
		t.Errorf("notes %q", p.Notes)
	}
	where, err := ParseWhere("status!=101", time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	if p := read(t, Options{Where: where}, log); len(p.Rows) != 1 || p.Rows[0].Key != "GET /a" || p.Rows[0].Share != 1 {
		t.Errorf("%+v", p.Rows)
	}
}
