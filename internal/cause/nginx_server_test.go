package cause_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/servertest"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// runNginx runs a real nginx until the test ends, and waits until it answers at
// address.
func runNginx(t *testing.T, http, address string) {
	t.Helper()
	program, err := exec.LookPath("nginx")
	if err != nil {
		program = "/usr/sbin/nginx"
	}
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	text := strings.ReplaceAll(`pid DIR/pid; error_log DIR/error.log; events { worker_connections 64; } http { access_log off; client_body_temp_path DIR/t; proxy_temp_path DIR/t;
fastcgi_temp_path DIR/t; uwsgi_temp_path DIR/t; scgi_temp_path DIR/t; `, "DIR", dir) + http + "}"
	if err := os.WriteFile(path("nginx.conf"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-p", dir, "-c", path("nginx.conf"), "-e", path("error.log"), "-g", "daemon off;")
	servertest.Start(t, cmd, address)
}

// TestServersAsNginxTakesThem compares the selection of a server block with a real
// nginx. Each of its servers answers with its own name, and the log that the rules
// find in effect must have the same name.
func TestServersAsNginxTakesThem(t *testing.T) {
	a, b := strconv.Itoa(servertest.FreePort(t)), strconv.Itoa(servertest.FreePort(t))
	var conf, real strings.Builder
	for i, head := range []string{
		"listen A;", "listen A default_server; server_name _;", "listen A; server_name one.test;", "listen A; server_name *.one.test;", "listen A; server_name *.deep.one.test;",
		"listen A; server_name one.*;", "listen A; server_name ~^o.*test2$;", "listen *:B; server_name two.test;", "listen 127.0.0.1:B;", "listen 127.0.0.1:B; server_name localhost three.test;",
		"listen A; server_name .dot.test;",
	} {
		head = strings.NewReplacer("A", a, "B", b).Replace(head)
		fmt.Fprintf(&real, "server { %s return 200 /s%d; }\n", head, i)
		fmt.Fprintf(&conf, "server { %s access_log /s%d; location / { root /srv; } }\n", head, i)
	}
	runNginx(t, real.String(), "127.0.0.1:"+b)
	for _, host := range []string{"127.0.0.1:" + a, "one.test:" + a, "x.one.test:" + a, "x.deep.one.test:" + a, "one.else:" + a, "other.test2:" + a, "nobody:" + a, "dot.test:" + a, "x.dot.test:" + a,
		"127.0.0.1:" + b, "localhost:" + b, "three.test:" + b} {
		_, port, _ := net.SplitHostPort(host)
		req, err := http.NewRequestWithContext(t.Context(), "GET", "http://127.0.0.1:"+port+"/x", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		r, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		want, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil || r.StatusCode != 200 {
			t.Fatal(r.StatusCode, err)
		}
		in := newScene().route("GET /x", "/x", 50000, 10, iikanji.WebRow{}).nginx(t, "http { "+conf.String()+" }").
			with("nginx", string(fact.TopicAnswer), "GET /x", fact.Answer{URL: "/x", Host: host, Status: 200})
		f, ok := found(t, in.Input, "WEB110")
		if !ok || !strings.HasSuffix(f.Evidence[0].Text, "access_log "+string(want)) {
			t.Errorf("%s: nginx took %s, the rules %+v", host, want, f.Evidence)
		}
	}
}
