package errorlog

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/logs/lines"
)

func read(t testing.TB, form Form, workers int, text string) *iikanji.Profile {
	t.Helper()
	p, err := Read(t.Context(), []*lines.Input{lines.Bytes("log", []byte(text))}, Options{Form: form, Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// summary formats a profile as lines of count, level, kind and message.
func summary(p *iikanji.Profile) string {
	var b strings.Builder
	for _, r := range p.Rows {
		fmt.Fprintf(&b, "%d %s %s %s", r.Count, r.Log.Level, r.Log.Kind, r.Log.Message)
		for _, n := range r.Log.Routes {
			fmt.Fprintf(&b, " {%d %s}", n.Count, n.Name)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestNginx(t *testing.T) {
	const conn = `, client: 127.0.0.1, server: , request: "POST /api/isu/%d HTTP/1.1", host: "127.0.0.1:80"` + "\n"
	var b strings.Builder
	for i := range 30 {
		fmt.Fprintf(&b, "2026/11/21 11:57:%02d [warn] 12#12: *%d a client request body is buffered to a temporary file /run/body/%010d"+conn, i, i, i, i)
	}
	fmt.Fprintf(&b, "2026/11/21 11:58:00 [warn] 12#12: *9 an upstream response is buffered to a temporary file /run/proxy/1/00/0000000001 while reading upstream"+conn, 7)
	b.WriteString("2026/11/21 11:58:01 [alert] 12#12: 1024 worker_connections are not enough\n")
	b.WriteString("2026/11/21 11:58:01 [crit] 12#12: accept4() failed (24: Too many open files)\n")
	fmt.Fprintf(&b, "2026/11/21 11:58:02 [error] 12#12: *3 upstream timed out (110: Connection timed out) while reading response header from upstream"+conn, 7)
	fmt.Fprintf(&b, "2026/11/21 11:58:02 [error] 12#12: *3 connect() to unix:/run/app.sock failed (11: Resource temporarily unavailable) while connecting to upstream"+conn, 7)
	p := read(t, Nginx, 1, b.String())
	want := `30 warn body-spilled a client request body is buffered to a temporary file /run/body/N {30 POST /api/isu/:id}
1 alert connections-exhausted N worker_connections are not enough
1 crit descriptors-exhausted acceptN() failed (N: Too many open files)
1 error backlog-full connect() to unix:/run/app.sock failed (N: Resource temporarily unavailable) {1 POST /api/isu/:id}
1 error upstream-timeout upstream timed out (N: Connection timed out) {1 POST /api/isu/:id}
1 warn answer-spilled an upstream response is buffered to a temporary file /run/proxy/N/N/N {1 POST /api/isu/:id}
`
	if got := summary(p); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if e := p.Rows[1].Example; e.File != "log" || e.Line != 32 || !strings.Contains(e.Text, "1024 worker") {
		t.Errorf("placed at %+v", e)
	}
	if p.Intake.Bad != 0 || p.Intake.Lines != 35 || int(p.Intake.Bytes) != b.Len() || p.Intake.Format != "nginx" {
		t.Errorf("%+v", p.Intake)
	}
	// A line of another program's log is bad.
	if p := read(t, Nginx, 1, "2026/11/21 listening\n"+b.String()); p.Intake.Bad != 1 || p.Intake.BadLines[0].Line != 1 {
		t.Errorf("%+v", p.Intake)
	}
}

func TestMariaDB(t *testing.T) {
	p := read(t, MariaDB, 1, `2026-11-21 11:57:20 0 [Note] InnoDB: Buffer pool(s) load completed at 261121 11:57:20
2026-11-21 11:57:21 12 [Warning] Aborted connection 12 to db: 'x' user: 'isucon' host: 'localhost' (Got an error reading communication packets)
2026-11-21 11:57:21 13 [Warning] Aborted connection 13 to db: 'x' user: 'isucon' host: 'localhost' (Got an error reading communication packets)
2026-11-21 11:57:22 15 [Note] InnoDB: Transactions deadlock detected, dumping detailed information.
TRANSACTION 1, ACTIVE 0 sec
`)
	want := `2 warn  Aborted connection N to db: '…' user: '…' host: '…' (Got an error reading communication packets)
1   (continuation lines)
1 notice  InnoDB: Buffer pool(s) load completed at N N:N:N
1 notice  InnoDB: Transactions deadlock detected, dumping detailed information.
`
	if got := summary(p); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestAny(t *testing.T) {
	p := read(t, Any, 1, `{"time":"2026-11-21T11:57:32Z","remote_ip":"127.0.0.1","method":"POST","uri":"/api/condition/0cf6b626-1cdd-4f25-abd2-3b115cab01b2","status":202,"error":"","latency":136069996}
{"time":"2026-11-21T11:57:33Z","method":"GET","uri":"/api/trend","status":200,"error":""}
{"time":"2026-11-21T11:57:33Z","level":"DEBUG","prefix":"echo","file":"main.go","line":"12","message":"drop post isu condition request"}
{"level":"ERROR","msg":"db error","error":"Error 1213 (40001): Deadlock found when trying to get lock"}
2026/11/21 11:57:21 main.go:12: accept: too many open files
[GIN-debug] GET /a --> main
DEBUG: user 7 has 12 rows
level=info msg="took 7ms"
There was an error in the fatal panic of it
panic: runtime error: index out of range [7] with length 3
	main.go:12 +0x1a
GET /api/isu/7 200
`)
	want := `3  request a request {1 GET /api/isu/:id} {1 GET /api/trend} {1 POST /api/condition/:id}
1   (continuation lines)
1   There was an error in the fatal panic of it
1  descriptors-exhausted main.go:N: accept: too many open files
1 crit panic panic: runtime error: index out of range [N] with length N
1 debug  DEBUG: user N has N rows
1 debug  [GIN-debug] GET /a --> main
1 debug  drop post isu condition request
1 error deadlock db error: Error N (N): Deadlock found when trying to get lock
1 info  level=info msg="…"
`
	if got := summary(p); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestHostile: hostile lines leave memory and texts bounded and counts exact.
func TestHostile(t *testing.T) {
	var b strings.Builder
	for i := range 3 * maxMessages {
		fmt.Fprintf(&b, "message %s\n", strings.Repeat(string(rune('a'+i%26)), 1+i/26))
	}
	b.WriteString("\x1b[31mred\u202e\x00\xff " + strings.Repeat("x", 3<<20) + "\n")
	b.WriteString("{" + strings.Repeat(`{"a":`, 5000) + "}\n\r\n\n")
	p := read(t, Any, 1, b.String())
	if len(p.Rows) > maxMessages+1 {
		t.Errorf("%d rows", len(p.Rows))
	}
	holds(t, p, 3*maxMessages+4)
}

// holds checks the invariants of every profile.
func holds(t testing.TB, p *iikanji.Profile, lines int64) {
	t.Helper()
	n := int64(0)
	for _, r := range p.Rows {
		n += r.Count
		for _, s := range []string{r.Key, r.Log.Message, r.Example.Text, summary(&iikanji.Profile{Rows: []iikanji.Row{r}})} {
			if !utf8.ValidString(s) || len(s) > 16<<10 {
				t.Errorf("text of %d bytes: %.200q", len(s), s)
			}
			for _, c := range strings.TrimSuffix(s, "\n") {
				if unicode.IsControl(c) {
					t.Errorf("%q holds the control character %q", s, c)
				}
			}
		}
		if r.Example.Line < 1 || r.Count < 1 {
			t.Errorf("row %+v", r)
		}
	}
	if p.Intake.Lines != lines || n > lines {
		t.Errorf("%d lines, want %d; %d in rows", p.Intake.Lines, lines, n)
	}
}

func FuzzRead(f *testing.F) {
	for form := range 3 {
		f.Add(uint8(form), "2026/11/21 11:57:21 [warn] 12#12: *3 a client request body is buffered, request: \"GET /a/7 HTTP/1.1\"\n2026-11-21 11:57:20 0 [Note] x\n")
		f.Add(uint8(form), "{\"level\":\"debug\",\"msg\":\"\\u001b[1m\",\"method\":\"GET\",\"uri\":\"/\\u202e\"}\n\t at x\n[ERROR] 'a\"b\n")
	}
	f.Fuzz(func(t *testing.T, form uint8, text string) {
		fm := Form(form % 3)
		one := read(t, fm, 1, text)
		holds(t, one, int64(strings.Count(text, "\n")))
		if many := read(t, fm, 4, text); !reflect.DeepEqual(one, many) {
			t.Errorf("workers change the profile:\n%s\n%s", summary(one), summary(many))
		}
	})
}
