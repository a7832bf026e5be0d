package accesslog

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/logs/lines"

	"github.com/iikanji/iikanji/internal/logs/unwrap"
)

// TestMoreFormatsFound: logs of load balancers, proxies, frameworks and
// containers are detected without options, with the names of TestFormatsAsked.
func TestMoreFormatsFound(t *testing.T) {
	const traefik = `10.0.0.1 - - [19/Nov/2026:04:04:05 +0000] "GET /a/7 HTTP/1.1" 200 12 "-" "curl/8" 41 "web@docker" "http://172.17.0.2:80" 155ms`
	for _, c := range []struct{ name, format, line, want string }{
		{"alb", "alb",
			`https 2026-11-19T04:04:05.186641Z app/my-alb/50dc6c495c0c9188 192.168.131.39:2817 10.0.0.1:80 0.001 0.048 0.002 200 200 57 366 "GET https://www.example.com:443/users/12?x=1 HTTP/2.0" "Mozilla/5.0 (X11)" ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2 arn:aws:elasticloadbalancing:us-east-2:1:targetgroup/a/b "Root=1-58337281-1d84f3d73c47ec4e58577259" "www.example.com" "arn:aws:acm" 1 2026-11-19T04:04:05.135000Z "authenticate,forward" "-" "-" "10.0.0.1:80" "200" "-" "-"`,
			`GET /users/:id 2xx 51ms 366 bytes of 57 2026-11-19T04:04:05.186Z`},
		{"alb without a target", "alb",
			`http 2026-11-19T04:04:05Z app/my-alb/50dc 192.168.131.39:2817 - -1 -1 -1 502 - 34 366 "GET http://www.example.com:80/a HTTP/1.1" "curl/7.46.0" - - arn "Root=1" "-" "-" 0 2026-11-19T04:04:05Z "forward" "-" "-" "-" "-" "-" "-"`,
			`GET /a 5xx 0s 366 bytes of 34 2026-11-19T04:04:05Z`},
		{"elb", "elb",
			`2026-11-19T04:04:05.943958Z my-elb 192.168.131.39:2817 10.0.0.1:80 0.000073 0.001048 0.000057 200 200 0 29 "GET http://www.example.com:80/items/5 HTTP/1.1" "curl/7.38.0" - -`,
			`GET /items/:id 2xx 1.178ms 29 bytes 2026-11-19T04:04:05.943Z`},
		{"old elb", "elb",
			`2026-11-19T04:04:05.943958Z my-elb 192.168.131.39:2817 10.0.0.1:80 0.000073 0.001048 0.000057 200 200 0 29 "GET http://www.example.com:80/items/5 HTTP/1.1"`,
			`GET /items/:id 2xx 1.178ms 29 bytes 2026-11-19T04:04:05.943Z`},
		{"haproxy", "HAProxy",
			`Nov 19 04:04:05 localhost haproxy[14389]: 10.0.1.2:33317 [19/Nov/2026:04:04:05.655] http-in static/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {1wt.eu} {} "GET /items/5 HTTP/1.1"`,
			`GET /items/:id 2xx 109ms upstream 69ms 2750 bytes 2026-11-19T04:04:05.655Z`},
		{"haproxy without syslog", "HAProxy",
			`10.0.1.2:33317 [19/Nov/2026:04:04:05.655] http-in~ static/<NOSRV> 10/-1/-1/-1/+15 503 212 - - SC-- 1/1/1/1/0 0/0 "GET /items/5 HTTP/1.1"`,
			`GET /items/:id 5xx 15ms 212 bytes 2026-11-19T04:04:05.655Z`},
		{"squid", "squid",
			`1795061045.310    180 192.168.0.68 TCP_MISS/200 411 GET http://example.com/items/5 - HIER_DIRECT/1.2.3.4 text/html`,
			`GET /items/:id 2xx 180ms 411 bytes 2026-11-19T04:04:05.31Z`},
		{"gin", "gin",
			`[GIN] 2026/11/19 - 04:04:05 | 200 |     1.5ms |       127.0.0.1 | GET      "/items/5?x=1"`,
			`GET /items/:id 2xx 1.5ms 0 bytes 2026-11-19T04:04:05Z`},
		{"old gin", "gin",
			`[GIN] 2026/11/19 - 04:04:05 | 404 |      97.2µs | 127.0.0.1 | POST     /items/5`,
			`POST /items/:id 4xx 97.2µs 0 bytes 2026-11-19T04:04:05Z`},
		{"uvicorn", "uvicorn", `INFO:     127.0.0.1:50000 - "GET /items/5?x=1 HTTP/1.1" 200 OK`,
			`GET /items/:id 2xx 0s 0 bytes`},
		{"uvicorn with a time", "uvicorn", `2026-11-19 04:04:05 INFO:     127.0.0.1:50000 - "GET /items/5 HTTP/1.1" 500 Internal Server Error`,
			`GET /items/:id 5xx 0s 0 bytes 2026-11-19T04:04:05Z`},
		{"traefik", "combined + time + 3 more", traefik, `GET /a/:id 2xx 155ms 12 bytes 2026-11-19T04:04:05Z`},
		{"logfmt", "logfmt",
			`time=2026-11-19T04:04:05Z level=info msg="request \"done\"" method=GET path=/items/5 status=200 duration=12.5ms bytes=77`,
			`GET /items/:id 2xx 12.5ms 77 bytes 2026-11-19T04:04:05Z`},
		{"lograge", "logfmt",
			`method=GET path=/items/5 format=html controller=ItemsController action=show status=200 duration=58.33 view=40.43 db=15.26`,
			`GET /items/:id 2xx 58.33ms 0 bytes`},
		{"lograge behind a prefix", "logfmt",
			`I, [2026-11-19T04:04:05.123456 #123]  INFO -- : method=GET path=/items/5 format=html controller=ItemsController action=show status=302 duration=58.33`,
			`GET /items/:id 3xx 58.33ms 0 bytes 2026-11-19T04:04:05.123Z`},
		{"heroku router", "logfmt",
			`2026-11-19T04:04:05.000000+00:00 heroku[router]: at=info method=GET path="/items/5?a=b" host=app.example.com request_id=8601b555 fwd="204.204.204.204" dyno=web.1 connect=1ms service=18ms status=200 bytes=13`,
			`GET /items/:id 2xx 18ms 13 bytes 2026-11-19T04:04:05Z`},
		{"cloudflare", "JSON",
			`{"ClientIP":"192.0.2.1","ClientRequestHost":"example.com","ClientRequestMethod":"GET","ClientRequestURI":"/items/5?x=1","EdgeEndTimestamp":"2026-11-19T04:04:06Z","EdgeResponseBytes":4242,"EdgeResponseStatus":200,"EdgeStartTimestamp":"2026-11-19T04:04:05Z","EdgeTimeToFirstByteMs":35,"RayID":"3a6050bcbe121a87"}`,
			`GET /items/:id 2xx 35ms 4242 bytes 2026-11-19T04:04:05Z`},
		{"docker around traefik", "combined + time + 3 more in Docker's json-file",
			`{"log":"` + strings.ReplaceAll(traefik, `"`, `\"`) + `\n","stream":"stdout","time":"2026-11-19T04:04:06.1Z"}`,
			`GET /a/:id 2xx 155ms 12 bytes 2026-11-19T04:04:05Z`},
		{"docker around uvicorn", "uvicorn in Docker's json-file",
			`{"log":"INFO:     127.0.0.1:50000 - \"GET /items/5 HTTP/1.1\" 200 OK\n","stream":"stdout","time":"2026-11-19T04:04:06.1Z"}`,
			`GET /items/:id 2xx 0s 0 bytes 2026-11-19T04:04:06.1Z`},
		{"docker around JSON", "JSON in Docker's json-file",
			`{"log":"{\"uri\":\"/items/5\",\"status\":200,\"reqtime\":0.02}\n","stream":"stdout","time":"2026-11-19T04:04:06.1Z"}`,
			`OTHER /items/:id 2xx 20ms 0 bytes 2026-11-19T04:04:06.1Z`},
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
			if n := allocations(t, c.line); n != 0 {
				t.Errorf("%v allocations for a line", n)
			}
			if name := strings.ToLower(c.format); formatNames[name] == "" {
				if _, named := formatNames[name]; named {
					one(t, Options{Format: name}, c.line)
				}
			}
		})
	}
}

// allocations counts those of parsing a line in the steady state.
func allocations(t *testing.T, line string) float64 {
	b := []byte(line)
	b = bytes.TrimSpace(unwrap.Find(b).Apply(b))
	p := detect([][]byte{b, b}, nil).parser(fieldSet{})
	var rec record
	rec.clear()
	return testing.AllocsPerRun(20, func() {
		if why := p.parse(b, &rec); why != 0 {
			t.Fatal(why)
		}
	})
}

// TestMessagesAmongRequests: frameworks write messages into the same log. They
// are not requests, and not bad lines.
func TestMessagesAmongRequests(t *testing.T) {
	for format, c := range map[string]struct{ message, request string }{
		"gin":     {"[GIN-debug] GET    /ping --> main.main.func1 (3 handlers)\n", "[GIN] 2026/11/19 - 04:04:05 | 200 | 1.5ms | 127.0.0.1 | GET \"/ping\"\n"},
		"uvicorn": {"INFO:     Started server process [1]\n", "INFO:     127.0.0.1:50000 - \"GET /ping HTTP/1.1\" 200 OK\n"},
		"JSON": {`{"level":"info","msg":"started","component":"cache"}` + "\n",
			`{"level":"info","request":{"method":"GET","uri":"/ping"},"status":200,"request_time":0.002}` + "\n"},
		"logfmt": {"level=info msg=started component=cache\n", "level=info method=GET path=/ping status=200 duration=1.5ms\n"},
	} {
		p := read(t, Options{}, strings.Repeat(c.message, 30)+strings.Repeat(c.request, 20))
		if p.Intake.Format != format || p.Rows[0].Count != 20 || p.Intake.Lines != 20 || p.Intake.Bad != 0 ||
			!strings.Contains(strings.Join(p.Notes, "\n"), "30 other lines are messages") {
			t.Errorf("%s: %+v, %q", format, p.Intake, p.Notes)
		}
		if _, err := readErr(t, Options{}, strings.Repeat(c.message, 30)); err == nil {
			t.Errorf("%s: messages alone were read", format)
		}
	}
}

// TestPathKey: a key of the path that is not known is found by its values, or
// the error lists the keys.
func TestPathKey(t *testing.T) {
	for key, value := range map[string]string{"endpoint": "/a/%d", "http.url": "https://x.example/a/%d", "requestUri": "/a/%d", "route": "/a/%d", "page": "/a/%d",
		"what": "/a/%d", "call": "GET /a/%d HTTP/1.1"} {
		var json, ltsv strings.Builder
		for i := range 20 {
			v := fmt.Sprintf(value, i)
			fmt.Fprintf(&json, `{"referer":"/b/%d","%s":"%s","status":200,"ms":3}`+"\n", i*7, key, v)
			fmt.Fprintf(&ltsv, "referer:/b/%d\t%s:%s\tstatus:200\n", i*7, key, v)
		}
		for kind, log := range map[string]string{"JSON": json.String(), "LTSV": ltsv.String()} {
			p := read(t, Options{}, log)
			if len(p.Rows) != 1 || !strings.HasSuffix(p.Rows[0].Key, " /a/:id") {
				t.Errorf("%s of %s: %s and %d more", key, kind, p.Rows[0].Key, len(p.Rows)-1)
			}
			if key == "what" && !strings.Contains(strings.Join(p.Notes, "\n"), `"what" is read as the uri`) {
				t.Errorf("notes %q", p.Notes)
			}
		}
	}
	for kind, log := range map[string]string{"JSON": `{"op":"list","status":200,"ms":3}`, "LTSV": "op:list\tstatus:200\tms:3", "logfmt": "op=list status=200 ms=3"} {
		_, err := readErr(t, Options{}, strings.Repeat(log+"\n", 20))
		var unknown *UnknownFormatError
		if !errors.As(err, &unknown) || unknown.Kind != kind || strings.Join(unknown.Keys, " ") != "op status ms" || !strings.Contains(err.Error(), "keys: op, status, ms") ||
			!strings.Contains(strings.Join(unknown.Hints(), ""), "--field uri=KEY") {
			t.Errorf("%s: %v", kind, err)
		}
		if p := read(t, Options{Fields: []string{"uri=op"}}, strings.Repeat(log+"\n", 20)); p.Rows[0].Count != 20 {
			t.Errorf("%s with --field: %+v", kind, p.Rows)
		}
	}
}

// TestFormatChanges: a log whose format changes is read as a whole, also if it
// changes back, and the line of the change is in a note.
func TestFormatChanges(t *testing.T) {
	old := `10.0.0.1 - - [19/Nov/2026:04:04:05 +0000] "GET /a/1 HTTP/1.1" 200 5 "-" "x"` + "\n"
	timed := combinedLine("GET", "/a/2", 200, 30)
	json := `{"uri":"/a/3","method":"GET","status":200,"reqtime":0.5,"time":"2026-11-19T04:04:05Z"}` + "\n"
	for name, c := range map[string]struct {
		log, format, note string
		count             int64
	}{
		"time added":   {strings.Repeat(old, 500) + strings.Repeat(timed, 700), "combined, then combined + time", "the format changes to combined + time at line 501", 1200},
		"time removed": {strings.Repeat(timed, 500) + strings.Repeat(old, 700), "combined + time, then combined", "the format changes to combined at line 501", 1200},
		"to JSON":      {strings.Repeat(timed, 3000) + strings.Repeat(json, 100), "combined + time, then JSON", "the format changes to JSON at line 3001", 3100},
		"three":        {strings.Repeat(old, 2000) + strings.Repeat(timed, 300) + strings.Repeat(json, 300), "combined, then combined + time, then JSON", "to JSON at line 2301", 2600},
	} {
		for _, o := range []Options{{Workers: 1}, {Workers: 3, BlockSize: 3000}} {
			p := read(t, o, c.log)
			if p.Rows[0].Count != c.count || p.Intake.Bad != 0 || p.Intake.Format != c.format || !strings.Contains(strings.Join(p.Notes, "\n"), c.note) {
				t.Errorf("%s: %d requests, %d bad, %s, %q", name, p.Rows[0].Count, p.Intake.Bad, p.Intake.Format, p.Notes)
			}
		}
	}
	in, err := lines.Stream("standard input", strings.NewReader(strings.Repeat(old, 500)+strings.Repeat(timed, 700)))
	if err != nil {
		t.Fatal(err)
	}
	_, err = Read(t.Context(), []*lines.Input{in}, Options{})
	var unproven *UnprovenError
	if !errors.As(err, &unproven) || !strings.Contains(strings.Join(unproven.Hints(), ""), "the format changes (combined, then combined + time)") {
		t.Errorf("a stream: %v", err)
	}
}

// TestSmallThings: reports of users.
func TestSmallThings(t *testing.T) {
	good := combinedLine("GET", "/a", 200, 10)
	// An unfinished last line does not count as a bad line.
	p := read(t, Options{}, strings.Repeat(good, 3)+good[:40])
	if p.Rows[0].Count != 3 || p.Intake.Bad != 0 || p.Intake.Lines != 3 || !strings.Contains(strings.Join(p.Notes, "\n"), "the last line is unfinished") {
		t.Errorf("half a line: %+v %q", p.Intake, p.Notes)
	}
	// Tomcat's %D is in ms.
	var ms strings.Builder
	for i := range 100 {
		fmt.Fprintf(&ms, `10.0.0.1 - - [19/Nov/2026:04:04:05 +0000] "GET /a HTTP/1.1" 200 5 %d`+"\n", i*i/10)
	}
	if p := read(t, Options{}, ms.String()); p.Rows[0].Max != 980*time.Millisecond || !strings.Contains(strings.Join(p.Notes, "\n"), "Tomcat") {
		t.Errorf("tomcat: %v %q", p.Rows[0].Max, p.Notes)
	}
	if _, r := one(t, Options{Format: "tomcat"}, `10.0.0.1 - - [19/Nov/2026:04:04:05 +0000] "GET /a HTTP/1.1" 200 5 12`); r.Mean != 12*time.Millisecond {
		t.Errorf("named tomcat: %v", r.Mean)
	}
	// A negative time counts as missing.
	if p := read(t, Options{}, good+strings.Replace(good, "0.010", "-0.001", 1)+good); p.Rows[0].Count != 3 || p.Rows[0].Total != 20*time.Millisecond {
		t.Errorf("negative: %+v", p.Rows[0])
	}
	for path, want := range map[string]string{"/;a=b/c": "/c", "/;a=b": "/", "/x;a=b/c": "/x/c", "/x/;a=b/c": "/x/c", "/x/;a=b": "/x/"} {
		if p := read(t, Options{}, strings.Repeat(combinedLine("GET", path, 200, 1), 3)); p.Rows[0].Key != "GET "+want {
			t.Errorf("%s is %s, want %s", path, p.Rows[0].Key, want)
		}
	}
}
