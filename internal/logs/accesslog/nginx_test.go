package accesslog

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/logs/lines"
	"github.com/iikanji/iikanji/internal/machine/servertest"
)

const nginxConf = `
daemon off; master_process off; pid PREFIX/nginx.pid; error_log PREFIX/error.log;
events { worker_connections 64; }
http {
	client_body_temp_path PREFIX/t1; proxy_temp_path PREFIX/t2; fastcgi_temp_path PREFIX/t3; uwsgi_temp_path PREFIX/t4; scgi_temp_path PREFIX/t5;
	include PREFIX/conf.d/*.conf;
	log_format odd '$request_time|$upstream_response_time|$bytes_sent|$status|"$request"|$request_length|$host|$http_user_agent';
	server {
		listen 127.0.0.1:PORT;
		access_log PREFIX/combined.log;
		access_log PREFIX/timed.log timed;
		access_log PREFIX/ltsv.log ltsv;
		access_log PREFIX/json.log json;
		access_log PREFIX/short.log short;
		access_log PREFIX/odd.log odd;
		root PREFIX/www;
		location /api/ { proxy_pass http://127.0.0.1:PORT/data/; }
		location /data/ { access_log off; return 200 "some data\n"; }
		location /away/ { return 302 /; }
	}
}
`

const nginxFormats = `
log_format timed '$remote_addr - $remote_user [$time_local] '
	'"$request" $status $body_bytes_sent '   # joined by nginx
	'"$http_referer" "$http_user_agent" $request_time $upstream_response_time';
log_format ltsv "time:$time_local\thost:$remote_addr\treq:$request\tstatus:$status\tsize:$body_bytes_sent\treqtime:$request_time\tapptime:$upstream_response_time\tua:$http_user_agent";
log_format json escape=json '{"time":"$time_iso8601","method":"$request_method","uri":"$request_uri","status":$status,"body_bytes":$body_bytes_sent,'
	'"request_time":$request_time,"upstream_response_time":"$upstream_response_time","ua":"$http_user_agent"}';
log_format short '{"t":$msec,"r":"$request","s":$status,"d":$request_time}';
`

// startNginx runs a real nginx in a temporary folder until the test ends and
// returns its address.
func startNginx(t *testing.T, dir string) string {
	t.Helper()
	program, err := exec.LookPath("nginx")
	if err != nil {
		program = "/usr/sbin/nginx"
	}
	addr := servertest.FreeAddress(t)
	_, port, _ := net.SplitHostPort(addr)
	for name, text := range map[string]string{"nginx.conf": nginxConf, "conf.d/formats.conf": nginxFormats, "www/index.html": "hello", "www/a.b.1234.js": "js"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		text = strings.NewReplacer("PREFIX", dir, "PORT", port).Replace(text)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(program, "-p", dir, "-c", filepath.Join(dir, "nginx.conf"))
	var out strings.Builder
	cmd.Stderr = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); {
		if c, err := net.Dial("tcp", addr); err == nil {
			c.Close()
			return addr
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("nginx does not answer: %s", &out)
	return ""
}

// hit sends raw bytes and reads the response.
func hit(t *testing.T, addr, raw string) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(2 * time.Minute))
	io.WriteString(c, raw)
	if resp, err := http.ReadResponse(bufio.NewReader(c), nil); err == nil {
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
}

// TestRealNginx: logs of a real nginx in five formats, with hostile requests,
// are read with its configuration as the only option.
func TestRealNginx(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	addr := startNginx(t, dir)
	agents := []string{"curl/8", `say "hi"`, `back\slash\`, "tab\tin it", "日本語", "a: b\tc:d {\"x\":1}", ""}
	want := map[string]int64{}
	for i := range 5 {
		for _, ua := range agents {
			send := func(key, request, body string) {
				hit(t, addr, fmt.Sprintf("%s HTTP/1.1\r\nHost: example.com\r\nUser-Agent: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", request, ua, len(body), body))
				want[key]++
			}
			send("GET /", "GET /?q="+fmt.Sprint(i), "")
			send("GET /api/users/:id", fmt.Sprintf("GET /api/users/%d", i), "")
			send("POST /api/users/:id", fmt.Sprintf("POST /api/users/%d", i), "body")
			send("GET /:file.js", "GET /a.b.1234.js", "")
			send("GET /away/:hex", fmt.Sprintf("GET /away/0abc123%d", i), "")
			send("HEAD /%22x%22", "HEAD /%22x%22", "")
		}
	}
	for range 3 {
		hit(t, addr, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\x00\xff\"\\\r\n\r\n")
		hit(t, addr, "GET\r\n\r\n")
		want["(no request)"] += 2
	}
	logged(t, dir, want)
	conf, err := ReadNginxConf(filepath.Join(dir, "nginx.conf"), readFiles)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		format          string
		upstream, timed bool
	}{
		"combined.log": {"log_format combined", false, false},
		"timed.log":    {"log_format timed", true, true},
		"ltsv.log":     {"LTSV", true, true},
		"json.log":     {"JSON", true, true},
		"short.log":    {"JSON", false, true},
		"odd.log":      {"log_format odd", true, true},
	} {
		checkNginxLog(t, filepath.Join(dir, name), Options{Nginx: conf}, c.format, c.upstream, c.timed, want)
		if name != "odd.log" && name != "short.log" { // detected without the configuration too
			checkNginxLog(t, filepath.Join(dir, name), Options{}, "", c.upstream, c.timed, want)
		}
	}
}

// logged waits until the logs in a folder have a line of each request: nginx logs after
// the response.
func logged(t *testing.T, dir string, requests map[string]int64) {
	t.Helper()
	var sent int64
	for _, n := range requests {
		sent += n
	}
	for _, name := range []string{"combined.log", "timed.log", "ltsv.log", "json.log", "short.log", "odd.log"} {
		for end := time.Now().Add(2 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
			text, err := os.ReadFile(filepath.Join(dir, name))
			n := int64(bytes.Count(text, []byte("\n")))
			if err == nil && n >= sent {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("%s has %d lines of %d requests: %v", name, n, sent, err)
			}
		}
	}
}

func readFiles(pattern string) (texts []string, err error) {
	names, err := filepath.Glob(pattern)
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		texts = append(texts, string(b))
	}
	return texts, err
}

func checkNginxLog(t *testing.T, path string, opt Options, format string, upstream, timed bool, want map[string]int64) {
	t.Helper()
	in, err := lines.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	p, err := Read(context.Background(), []*lines.Input{in}, opt)
	if err != nil {
		b, _ := os.ReadFile(path)
		t.Errorf("%v\n%s", err, b[:min(len(b), 1500)])
		return
	}
	if p.Intake.Bad != 0 || format != "" && p.Intake.Format != format {
		t.Errorf("%s: format %q, %d bad lines %v", path, p.Intake.Format, p.Intake.Bad, p.Intake.BadLines)
	}
	got := map[string]int64{}
	for _, r := range p.Rows {
		got[r.Key] = r.Count
		if r.Key == "GET /api/users/:id" && upstream != (r.Web.Upstreams == r.Count) {
			t.Errorf("%s: %d upstream times of %d", path, r.Web.Upstreams, r.Count)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: %v\nwant %v", path, got, want)
	}
	timesMissing := strings.Contains(strings.Join(p.Notes, "\n"), "has no times")
	if timesMissing == timed {
		t.Errorf("%s: notes %q", path, p.Notes)
	}
}
