package accesslog

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/logs/lines"
)

// one reads a log that repeats one line and returns how the line was
// understood.
func one(t *testing.T, opt Options, line string) (*iikanji.Profile, iikanji.Row) {
	t.Helper()
	p := read(t, opt, strings.Repeat(line+"\n", 20))
	if len(p.Rows) != 1 {
		t.Fatalf("%d rows of one line", len(p.Rows))
	}
	return p, p.Rows[0]
}

// facts lists the fields of a line as one text.
func facts(p *iikanji.Profile, r iikanji.Row) string {
	status := 0
	for class, n := range r.Web.Status {
		if n > 0 {
			status = class
		}
	}
	s := fmt.Sprintf("%s %dxx %v", r.Key, status, r.Mean)
	if r.Web.Upstreams > 0 {
		s += fmt.Sprintf(" upstream %v", r.Web.Upstream/time.Duration(r.Web.Upstreams))
	}
	s += fmt.Sprintf(" %d bytes", int64(r.Web.Bytes)/r.Count)
	if r.Web.ReqBytes > 0 {
		s += fmt.Sprintf(" of %d", int64(r.Web.ReqBytes)/r.Count)
	}
	if !p.First.IsZero() {
		s += " " + p.First.Format("2006-01-02T15:04:05.999Z")
	}
	return s
}

// TestFormatsFound: logs of every kind are detected without options.
func TestFormatsFound(t *testing.T) {
	const ua = `Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/132.0`
	for _, c := range []struct{ name, format, line, want string }{
		{"common", "common",
			`127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /apache_pb.gif HTTP/1.0" 200 2326`,
			`GET /apache_pb.gif 2xx 0s 2326 bytes 2000-10-10T20:55:36Z`},
		{"combined", "combined",
			`10.0.0.1 - - [19/Nov/2026:04:04:05 +0900] "GET /a/12?x=1 HTTP/1.1" 404 153 "-" "` + ua + `"`,
			`GET /a/:id 4xx 0s 153 bytes 2026-11-18T19:04:05Z`},
		{"ipv6", "combined",
			`2001:db8::1 - - [19/Nov/2026:04:04:05 +0900] "GET / HTTP/2.0" 304 0 "-" "` + ua + `"`,
			`GET / 3xx 0s 0 bytes 2026-11-18T19:04:05Z`},
		{"combined + time", "combined + time",
			`10.0.0.1 - - [19/Nov/2026:04:04:05 +0000] "POST /a HTTP/1.1" 201 5 "https://x.example/" "` + ua + `" 0.123`,
			`POST /a 2xx 123ms 5 bytes 2026-11-19T04:04:05Z`},
		{"two times", "combined + time + upstream time",
			`10.0.0.1 - - [19/Nov/2026:04:04:05 +0000] "POST /a HTTP/1.1" 201 5 "-" "` + ua + `" 0.120 0.123`,
			`POST /a 2xx 123ms upstream 120ms 5 bytes 2026-11-19T04:04:05Z`},
		{"named times", "combined + time + upstream time + 2 more",
			`10.0.0.1 - - [19/Nov/2026:04:04:05 +0000] "POST /a HTTP/1.1" 201 5 "-" "` + ua + `" "10.1.1.1" rt=0.123 uct="0.001" urt="0.120"`,
			`POST /a 2xx 123ms upstream 120ms 5 bytes 2026-11-19T04:04:05Z`},
		{"time of a named unit", "combined + time",
			`10.0.0.1 - - [19/Nov/2026:04:04:05 +0000] "GET /a HTTP/1.1" 200 5 "-" "` + ua + `" reqtime_microsec=800`,
			`GET /a 2xx 800µs 5 bytes 2026-11-19T04:04:05Z`},
		{"Apache's D", "combined + time",
			`10.0.0.1 - - [19/Nov/2026:04:04:05 +0000] "GET /a HTTP/1.1" 200 5 "-" "` + ua + `" D=800`,
			`GET /a 2xx 800µs 5 bytes 2026-11-19T04:04:05Z`},
		{"retried upstream", "combined + time + upstream time",
			`10.0.0.1 - - [19/Nov/2026:04:04:05 +0000] "POST /a HTTP/1.1" 201 5 "-" "` + ua + `" rt=0.123 urt="0.100, 0.020 : 0.001"`,
			`POST /a 2xx 123ms upstream 121ms 5 bytes 2026-11-19T04:04:05Z`},
		{"no upstream", "combined + time + upstream time",
			`10.0.0.1 - - [19/Nov/2026:04:04:05 +0000] "POST /a HTTP/1.1" 201 5 "-" "` + ua + `" rt=0.123 urt=-`,
			`POST /a 2xx 123ms 5 bytes 2026-11-19T04:04:05Z`},
		{"apache %D", "combined + time",
			`10.0.0.1 - - [19/Nov/2026:04:04:05 +0000] "GET /a HTTP/1.1" 200 5 "-" "` + ua + `" 12345`,
			`GET /a 2xx 12.345ms 5 bytes 2026-11-19T04:04:05Z`},
		{"apache escapes", "combined",
			`10.0.0.1 - - [19/Nov/2026:04:04:05 +0000] "GET /a HTTP/1.1" 200 5 "-" "say \"hi\" \\"`,
			`GET /a 2xx 0s 5 bytes 2026-11-19T04:04:05Z`},
		{"apache vhost", "combined",
			`www.example.com:80 10.0.0.1 - - [19/Nov/2026:04:04:05 +0000] "GET /a HTTP/1.1" 200 5 "-" "` + ua + `"`,
			`GET /a 2xx 0s 5 bytes 2026-11-19T04:04:05Z`},
		{"rack", "common + time",
			`127.0.0.1 - - [19/Nov/2026:04:04:05 +0900] "GET /posts/1 HTTP/1.1" 200 - 0.0123`,
			`GET /posts/:id 2xx 12.3ms 0 bytes 2026-11-18T19:04:05Z`},
		{"h2o duration", "combined + time",
			`10.0.0.1 - - [19/Nov/2026:04:04:05 +0900] "GET /a HTTP/2" 200 5 "-" "` + ua + `" 0.000123`,
			`GET /a 2xx 123µs 5 bytes 2026-11-18T19:04:05Z`},
		{"varnishncsa", "combined (varnishncsa)",
			`10.0.0.1 - - [19/Nov/2026:04:04:05 +0900] "GET http://www.example.com/a?b=c HTTP/1.1" 200 5 "-" "` + ua + `"`,
			`GET /a 2xx 0s 5 bytes 2026-11-18T19:04:05Z`},
		{"no slash", "combined",
			`10.0.0.1 - - [19/Nov/2026:04:04:05 +0900] "POST foo/bar?x HTTP/1.1" 200 5 "-" "` + ua + `"`,
			`POST foo/bar 2xx 0s 5 bytes 2026-11-18T19:04:05Z`},
		{"envoy", "envoy",
			`[2026-11-19T04:04:05.310Z] "POST /api/v1/locations HTTP/2" 204 - 154 0 226 100 "10.0.35.28" "nsq2http" "cc21d9b0-cf5c-432b-8c7e-98aeb7988cd2" "locations" "tcp://10.0.2.1:80"`,
			`POST /api/v1/locations 2xx 226ms upstream 100ms 0 bytes of 154 2026-11-19T04:04:05.31Z`},
		{"envoy without upstream", "envoy",
			`[2026-11-19T04:04:05.310Z] "GET / HTTP/1.1" 404 NR 0 9 0 - "-" "curl/8" "cc21d9b0-cf5c-432b-8c7e-98aeb7988cd2" "a" "-"`,
			`GET / 4xx 0s 9 bytes 2026-11-19T04:04:05.31Z`},
		{"istio", "istio",
			`[2026-11-19T04:04:05.310Z] "GET /status/418 HTTP/1.1" 418 - via_upstream - "-" 0 135 4 4 "-" "curl/7.73.0" "84961386-6d84-929d-98bd-c5aee93b5c88" "httpbin:8000" "127.0.0.1:80" inbound|8000|| 127.0.0.1:41854 10.44.1.27:80 10.44.1.23:37652 outbound_.8000_._.httpbin.foo.svc.cluster.local default`,
			`GET /status/:id 4xx 4ms upstream 4ms 135 bytes 2026-11-19T04:04:05.31Z`},
		{"ltsv", "LTSV",
			"time:19/Nov/2026:04:04:05 +0900\thost:10.0.0.1\treq:GET /a/1 HTTP/1.1\tmethod:GET\turi:/a/1\tstatus:200\tsize:12\treqtime:0.057\tapptime:0.050",
			`GET /a/:id 2xx 57ms upstream 50ms 12 bytes 2026-11-18T19:04:05Z`},
		{"ltsv brackets", "LTSV",
			"time:[19/Nov/2026:04:04:05 +0900]\treq:GET /a/1 HTTP/1.1\tstatus:200\tsize:12\treqtime_microsec:57000",
			`GET /a/:id 2xx 57ms 12 bytes 2026-11-18T19:04:05Z`},
		{"alp's ltsv", "LTSV",
			"time:2015-09-06T05:58:05+09:00\tmethod:POST\turi:/foo/bar?token=xxx&uuid=1234\tstatus:200\tsize:12\tapptime:0.057",
			`POST /foo/bar 2xx 57ms 12 bytes 2015-09-05T20:58:05Z`},
		{"alp's json", "JSON",
			`{"time":"2015-09-06T05:58:05+09:00","method":"POST","uri":"/foo/bar?token=xxx&uuid=1234","status":200,"body_bytes":12,"response_time":0.057}`,
			`POST /foo/bar 2xx 57ms 12 bytes 2015-09-05T20:58:05Z`},
		{"nginx json", "JSON",
			`{"time_iso8601": "2026-11-19T04:04:05+00:00", "request": "GET /a\/1 HTTP/1.1", "status": "200", "body_bytes_sent": "7", "request_time": "0.004", "upstream_response_time": "", "http_user_agent": "say \"hi\""}`,
			`GET /a/:id 2xx 4ms 7 bytes 2026-11-19T04:04:05Z`},
		{"broken nginx json", "JSON",
			`{"time_local":"19/Nov/2026:04:04:05 +0000","request_method":"GET","request_uri":"/x","status":200,"bytes_sent":7,"request_time":0.004,"upstream_response_time":,"ua":"\x22"}`,
			`GET /x 2xx 4ms 7 bytes 2026-11-19T04:04:05Z`},
		{"caddy", "JSON",
			`{"level":"info","ts":1646861401.5241024,"logger":"http.log.access","msg":"handled request","request":{"remote_ip":"127.0.0.1","proto":"HTTP/2.0","method":"GET","host":"localhost","uri":"/users/42","headers":{"User-Agent":["curl/7.82.0"],"Accept":["*/*"]},"tls":{"resumed":false}},"bytes_read":3,"user_id":"","duration":0.000929675,"size":10900,"status":200,"resp_headers":{"Server":["Caddy"]}}`,
			`GET /users/:id 2xx 929.675µs 10900 bytes of 3 2022-03-09T21:30:01.524Z`},
		{"caddy, tiny", "JSON",
			`{"ts":1646861401.5,"request":{"method":"GET","uri":"/a"},"duration":9.2e-05,"size":1,"status":200}`,
			`GET /a 2xx 92µs 1 bytes 2022-03-09T21:30:01.5Z`},
		{"traefik", "JSON",
			`{"ClientHost":"1.2.3.4","DownstreamContentSize":19,"DownstreamStatus":404,"Duration":95304000,"OriginDuration":90000000,"RequestHost":"x","RequestMethod":"GET","RequestPath":"/q?x=1","StartUTC":"2026-11-19T04:04:05.5Z","level":"info"}`,
			`GET /q 4xx 95.304ms upstream 90ms 19 bytes 2026-11-19T04:04:05.5Z`},
		{"echo", "JSON",
			`{"time":"2026-11-19T04:04:05.123456+09:00","id":"","remote_ip":"127.0.0.1","host":"localhost:3000","method":"GET","uri":"/api/isu","user_agent":"x","status":200,"error":"","latency":1234567,"latency_human":"1.234567ms","bytes_in":5,"bytes_out":100}`,
			`GET /api/isu 2xx 1.234567ms 100 bytes of 5 2026-11-18T19:04:05.123Z`},
		{"pino", "JSON",
			`{"level":30,"time":1763524445123,"req":{"id":1,"method":"GET","url":"/x/1","headers":{"host":"a"}},"res":{"statusCode":200},"responseTime":12,"msg":"request completed"}`,
			`GET /x/:id 2xx 12ms 0 bytes 2025-11-19T03:54:05.123Z`},
		{"gcp", "JSON",
			`{"httpRequest":{"requestMethod":"GET","requestUrl":"https://example.com/a/b?c","status":200,"responseSize":"5","latency":"0.020s"},"timestamp":"2026-11-19T04:04:05Z"}`,
			`GET /a/b 2xx 20ms 5 bytes 2026-11-19T04:04:05Z`},
		{"iis", "W3C extended",
			"#Fields: date time cs-method cs-uri-stem cs-uri-query sc-status sc-bytes time-taken\n2026-11-19 04:04:05 GET /a/1 x=1 200 55 31",
			`GET /a/:id 2xx 31ms 55 bytes 2026-11-19T04:04:05Z`},
		{"cloudfront", "W3C extended",
			"#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status time-taken\n2026-11-19\t04:04:05\tLAX1\t392\t192.0.2.100\tGET\td111.cloudfront.net\t/index.html\t200\t0.002",
			`GET /index.html 2xx 2ms 392 bytes 2026-11-19T04:04:05Z`},
		{"crlf", "combined", `10.0.0.1 - - [19/Nov/2026:04:04:05 +0900] "GET /a HTTP/1.1" 200 5 "-" "x"` + "\r",
			`GET /a 2xx 0s 5 bytes 2026-11-18T19:04:05Z`},
		{"tls on a plain port", "combined", `10.0.0.1 - - [19/Nov/2026:04:04:05 +0900] "GET /a HTTP/1.1" 200 5 "-" "x"` + "\n" +
			`10.0.0.1 - - [19/Nov/2026:04:04:05 +0900] "GET /a HTTP/1.1" 200 5 "-" "x"`,
			`GET /a 2xx 0s 5 bytes 2026-11-18T19:04:05Z`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, r := one(t, Options{}, c.line)
			if p.Intake.Format != c.format {
				t.Errorf("format %q, want %q", p.Intake.Format, c.format)
			}
			if got := facts(p, r); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if p.Intake.Bad != 0 {
				t.Errorf("%d bad lines: %v", p.Intake.Bad, p.Intake.BadLines)
			}
		})
	}
}

// TestFormatsGiven: format strings of five servers.
func TestFormatsGiven(t *testing.T) {
	for _, c := range []struct{ name, format, line, want string }{
		{"nginx, any order", `$remote_addr [$time_iso8601] $request_time $upstream_response_time $request_length "$request" $status $bytes_sent $pipe`,
			`10.0.0.1 [2026-11-19T04:04:05+09:00] 0.123 0.100 77 "GET /a?b HTTP/1.1" 200 5 .`,
			`GET /a 2xx 123ms upstream 100ms 5 bytes of 77 2026-11-18T19:04:05Z`},
		{"nginx, apart", `$msec|$request_method|$host|$uri|$args|$status|${request_time}s`,
			`1763524445.123|GET|example.com|/a/1|x=1|200|0.5s`,
			`GET /a/:id 2xx 500ms 0 bytes 2025-11-19T03:54:05.123Z`},
		{"nginx, bare request", `$remote_addr $request $status`,
			`10.0.0.1 GET /a b HTTP/1.1 200`, `GET /a b 2xx 0s 0 bytes`},
		{"nginx ltsv", `t:$time_local\tm:$request_method\tu:$request_uri\ts:$status\tb:$body_bytes_sent\trt:$request_time\turt:$upstream_response_time`,
			"t:19/Nov/2026:04:04:05 +0000\tm:GET\tu:/a\ts:200\tb:9\trt:0.004\turt:0.003, 0.001",
			`GET /a 2xx 4ms upstream 4ms 9 bytes 2026-11-19T04:04:05Z`},
		{"nginx json", `{"t":"$time_iso8601","req":{"m":"$request_method","u":"$request_uri"},"s":$status,"rt":$request_time}`,
			`{"t":"2026-11-19T04:04:05Z","req":{"m":"PUT","u":"/a/1"},"s":200,"rt":0.004}`,
			`PUT /a/:id 2xx 4ms 0 bytes 2026-11-19T04:04:05Z`},
		{"apache, both times", `%h %l %u %t \"%r\" %>s %b %T %D`,
			`10.0.0.1 - - [19/Nov/2026:04:04:05 +0900] "GET /a HTTP/1.1" 200 5 1 1234567`,
			`GET /a 2xx 1.234567s 5 bytes 2026-11-18T19:04:05Z`},
		{"apache ms", `%v %h "%m %U%q %H" %s %{ms}T %I %O`,
			`a.example 10.0.0.1 "GET /a?b=1 HTTP/1.1" 200 12 100 200`, ``},
		{"apache, strftime", `%{%Y-%m-%dT%H:%M:%S%z}t "%r" %>s %{us}T`,
			`2026-11-19T04:04:05+0900 "GET /a HTTP/1.1" 200 1500`,
			`GET /a 2xx 1.5ms 0 bytes 2026-11-18T19:04:05Z`},
		{"h2o", `%h %l %u %t "%r" %s %b "%{Referer}i" "%{User-agent}i" %{duration}x`,
			`10.0.0.1 - - [19/Nov/2026:04:04:05 +0900] "GET /a HTTP/2" 200 5 "-" "x" 0.000123`,
			`GET /a 2xx 123µs 5 bytes 2026-11-18T19:04:05Z`},
		{"varnishncsa", `%h %l %u %t "%r" %s %b "%{Referer}i" "%{User-agent}i" %D %{Varnish:time_firstbyte}x %{Varnish:hitmiss}x`,
			`10.0.0.1 - - [19/Nov/2026:04:04:05 +0900] "GET http://a.example/a HTTP/1.1" 200 5 "-" "x" 1234 0.001 miss`,
			`GET /a 2xx 1.234ms upstream 1ms 5 bytes 2026-11-18T19:04:05Z`},
		{"envoy", `%START_TIME% %REQ(:METHOD)% %REQ(:PATH):80% %RESPONSE_CODE% %DURATION% %BYTES_SENT%\n`,
			`2026-11-19T04:04:05.310Z GET /a/1 503 12 34`,
			`GET /a/:id 5xx 12ms 34 bytes 2026-11-19T04:04:05.31Z`},
		{"by name", "combined+us",
			`10.0.0.1 - - [19/Nov/2026:04:04:05 +0900] "GET /a HTTP/1.1" 200 5 "-" "x" 12`,
			`GET /a 2xx 12µs 5 bytes 2026-11-18T19:04:05Z`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.want == "" {
				if _, err := readErr(t, Options{Format: c.format}, c.line); err == nil || !strings.Contains(err.Error(), "no text separates") {
					t.Errorf("fields that cannot be told apart: %v", err)
				}
				return
			}
			p, r := one(t, Options{Format: c.format}, c.line)
			if got := facts(p, r); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestInferenceIsSaid: a note reports what was inferred.
func TestInferenceIsSaid(t *testing.T) {
	line := `10.0.0.1 - - [19/Nov/2026:04:04:05 +0000] "GET /a HTTP/1.1" 200 5 "-" "x" `
	for tail, want := range map[string]string{
		"0.123":       "field 10 is read as the time, in seconds",
		"12345":       "field 10 is read as the time, in µs",
		"5":           "perhaps a time",
		"123 12345":   "it is unclear which is a time",
		"0.100 0.123": "field 11 is read as the time",
	} {
		p, _ := one(t, Options{}, line+tail)
		if !strings.Contains(strings.Join(p.Notes, "\n"), want) {
			t.Errorf("%q: notes %q, want %q", tail, p.Notes, want)
		}
	}
	// Numbers that look like times but are ratios, lengths or the like.
	for tail, want := range map[string]string{`"3.21"`: "has no times", "312": "perhaps a time"} {
		if p, _ := one(t, Options{}, line+tail); !strings.Contains(strings.Join(p.Notes, "\n"), want) {
			t.Errorf("%q: notes %q, want %q", tail, p.Notes, want)
		}
	}
	varied := func(least int) string {
		var b strings.Builder
		for i := range 20 {
			fmt.Fprintf(&b, "%s%d\n", line, least<<(i/4))
		}
		return b.String()
	}
	if p := read(t, Options{}, varied(900)); p.Rows[0].Max != 14400*time.Microsecond {
		t.Errorf("%v %q", p.Rows[0].Max, p.Notes)
	}
	// 90 to 1,440 may be µs of a fast server or ms of a slow one: no times, and both formats.
	p := read(t, Options{}, varied(90))
	notes := strings.Join(p.Notes, "\n")
	if p.Rows[0].Max != 0 || !strings.Contains(notes, "perhaps a time in µs or in ms") {
		t.Errorf("%v %q", p.Rows[0].Max, p.Notes)
	}
	for unit, want := range map[string]time.Duration{"%D": 1440 * time.Microsecond, "%{ms}T": 1440 * time.Millisecond} {
		format := `%h %{-}n %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i" ` + unit
		if !strings.Contains(notes, "'"+format+"'") {
			t.Errorf("notes %q lack %s", notes, format)
		}
		if p := read(t, Options{Format: format}, varied(90)); p.Rows[0].Max != want {
			t.Errorf("%s: %v", format, p.Rows[0].Max)
		}
	}
	p, _ = one(t, Options{}, `{"uri":"/a","status":200,"duration":12}`)
	if !strings.Contains(strings.Join(p.Notes, "\n"), `"duration" is read as ms`) {
		t.Errorf("notes %q", p.Notes)
	}
	p, r := one(t, Options{Fields: []string{"time=duration:us"}}, `{"uri":"/a","status":200,"duration":12}`)
	if r.Mean != 12*time.Microsecond || strings.Contains(strings.Join(p.Notes, "\n"), "read as") {
		t.Errorf("mean %v, notes %q", r.Mean, p.Notes)
	}
}

// TestFieldsGiven: keys that the user assigned.
func TestFieldsGiven(t *testing.T) {
	p, r := one(t, Options{Fields: []string{"uri=a.b", "time=x:ms", "status=s"}}, `{"a":{"b":"/q/1"},"s":500,"x":7}`)
	if got := facts(p, r); got != "OTHER /q/:id 5xx 7ms 0 bytes" {
		t.Error(got)
	}
	p, r = one(t, Options{Format: "ltsv", Fields: []string{"uri=u", "time=x:us"}}, "u:/q\tx:7\tmethod:GET\tstatus:200")
	if got := facts(p, r); got != "GET /q 2xx 7µs 0 bytes" {
		t.Error(got)
	}
	for _, bad := range []string{"uri", "nonsense=x", "skipped=x", "uri="} {
		if _, err := readErr(t, Options{Fields: []string{bad}}, "x\n"); err == nil {
			t.Errorf("--field %s was taken", bad)
		}
	}
}

// TestLinesWithoutRequest: lines without a request are counted.
func TestLinesWithoutRequest(t *testing.T) {
	good := `10.0.0.1 - - [19/Nov/2026:04:04:05 +0000] "GET /a HTTP/1.1" 200 5 "-" "x"` + "\n"
	odd := []string{`-`, ``, `\x16\x03\x01\x02\x00\x01`, `\x03\x00\x00/*\xE0 x`, `HELLO`, `SSH-2.0-Go`}
	log := good
	for _, o := range odd {
		log += strings.Replace(good, `GET /a HTTP/1.1`, o, 1) + good
	}
	p := read(t, Options{}, log)
	if p.Intake.Bad != 0 || len(p.Rows) != 2 || p.Rows[1].Key != "(no request)" || p.Rows[1].Count != int64(len(odd)) {
		t.Errorf("%d bad, rows %+v", p.Intake.Bad, p.Rows)
	}
	for request, want := range map[string]string{
		"GET /old":                       "GET /old", // HTTP/0.9
		"PROPFIND /dav HTTP/1.1":         "PROPFIND /dav",
		"FOO /x HTTP/1.1":                "FOO /x",
		"OPTIONS * HTTP/1.1":             "OPTIONS *",
		"CONNECT a.example:443 HTTP/1.1": "CONNECT a.example:443",
		"GET /a b c HTTP/1.1":            "GET /a b c",
		"GET / HTTP/3":                   "GET /",
		"get /x HTTP/1.1":                "get /x",
	} {
		p := read(t, Options{}, strings.Repeat(good, 2)+strings.Replace(good, `GET /a HTTP/1.1`, request, 1))
		found := ""
		for _, r := range p.Rows {
			if r.Key != "GET /a" {
				found = r.Key
			}
		}
		if found != want {
			t.Errorf("%q is %q, want %q", request, found, want)
		}
	}
}

// TestBareQuotes: some loggers do not escape quotes that clients send.
func TestBareQuotes(t *testing.T) {
	line := `10.0.0.1 - - [19/Nov/2026:04:04:05 +0000] "GET /a HTTP/1.1" 200 5 "%s" "%s"`
	for _, tail := range []string{"", " 0.123"} {
		log := strings.Repeat(fmt.Sprintf(line, "-", "x")+tail+"\n", 10) + fmt.Sprintf(line, `http://a/"b"/`, `say "hi" there`) + tail + "\n"
		if p := read(t, Options{}, log); p.Intake.Bad != 0 || p.Intake.Lines != 11 {
			t.Errorf("%+v", p.Intake)
		}
	}
}

// TestRefused: files that are not logs, and damaged logs.
func TestRefused(t *testing.T) {
	good := `10.0.0.1 - - [19/Nov/2026:04:04:05 +0000] "GET /a HTTP/1.1" 200 5 "-" "x"` + "\n"
	for name, c := range map[string]struct{ log, want string }{
		"empty":          {"", "has no lines"},
		"blank":          {"\n\n\r\n", "has no lines"},
		"prose":          {"hello\nworld\n", "does not look like an access log"},
		"slow log":       {"# Time: 2026-11-19T04:04:05\n# User@Host: a[a] @ b []\n# Query_time: 1\nselect 1;\n", "does not look like an access log"},
		"json of others": {strings.Repeat(`{"msg":"hello","level":"info"}`+"\n", 9), "does not look like an access log"},
		"binary":         {"\x00\x01\x02\x03\xff\xfe\xfd\x80\x81\x82", "is binary"},
		"hole":           {strings.Repeat("\x00", 4096), "has no lines"},
		"utf-16":         {"\xff\xfe1\x000\x00", "UTF-16"},
		"one in fifty":   {strings.Repeat(good, 49) + "spoilt\n", "1 of 50 lines do not parse, 2 % are too many\n  line 50: no "},
		"status":         {strings.Repeat(good, 9) + strings.Replace(good, " 200 ", " 2x0 ", 1), "line 10: field 6 (the status) is not a status"},
		"time":           {strings.Repeat(good, 9) + strings.Replace(good, "19/Nov", "39/Nov", 1), "line 10: field 4 (the timestamp) is not a timestamp"},
		"half":           {good + good + good[:40] + "\n", "line 3: no \""},
	} {
		_, err := readErr(t, Options{}, c.log)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if p := read(t, Options{}, strings.Repeat("\x00", 600<<10)+good+good); p.Intake.Lines != 2 || p.Intake.Bad != 0 { // a hole longer than the head
		t.Errorf("hole: intake %+v", p.Intake)
	}
	// A stream cannot be read ahead of such a hole: it is refused, not taken for empty.
	in, err := lines.Stream("standard input", strings.NewReader(strings.Repeat("\x00", 600<<10)+good))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Read(t.Context(), []*lines.Input{in}, Options{}); err == nil || !strings.Contains(err.Error(), "hole of NUL bytes") {
		t.Errorf("a hole in a stream: %v", err)
	}
	if p := read(t, Options{MaxBad: 0.05}, strings.Repeat(good, 49)+"spoilt\n"); p.Intake.Bad != 1 || p.Intake.BadLines[0].Line != 50 {
		t.Errorf("intake %+v", p.Intake)
	}
	if p := read(t, Options{}, strings.Repeat(good, 100)+"spoilt\n"); p.Intake.Bad != 1 {
		t.Errorf("intake %+v", p.Intake)
	}
	// A file of blank lines is accepted beside other files, but a request
	// behind too many blank lines is bad.
	if p := read(t, Options{}, good, "\n\n"); p.Intake.Lines != 1 || p.Intake.Format != "combined" {
		t.Errorf("intake %+v", p.Intake)
	}
	if _, err := readErr(t, Options{}, good, strings.Repeat("\n", headSize)+good); err == nil || !strings.Contains(err.Error(), "after so many blank lines") {
		t.Errorf("a log behind blank lines: %v", err)
	}
	// The lines of good files do not outweigh one bad file.
	if _, err := readErr(t, Options{}, strings.Repeat(good, 10000), strings.Repeat(good, 9)+"spoilt\n"); err == nil || !strings.Contains(err.Error(), "access.log.1") {
		t.Errorf("a bad file among good ones: %v", err)
	}
}
