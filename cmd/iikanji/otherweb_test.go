package main

import (
	"fmt"
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
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/target"
)

// An otherServer is a web server that iikanji does not configure, in front of an app.
type otherServer struct {
	engine, name, program string
	// run returns the command for an address, an app and a folder, with the log that TimedLog
	// tells a person to write, or without any.
	run func(t *testing.T, address, app, dir string, log bool) *exec.Cmd
}

var otherServers = []otherServer{
	{"apache", "Apache", "apache2", func(t *testing.T, address, app, dir string, log bool) *exec.Cmd {
		conf := "ServerName localhost\nListen " + address + "\nPidFile " + dir + "/pid\nErrorLog " + dir + "/error.log\nDefaultRuntimeDir " + dir + "\n"
		for _, m := range []string{"mpm_event", "authz_core", "proxy", "proxy_http"} {
			conf += "LoadModule " + m + "_module /usr/lib/apache2/modules/mod_" + m + ".so\n"
		}
		if os.Getuid() == 0 {
			conf += "User www-data\nGroup www-data\n"
		}
		if log {
			format, _, _ := strings.Cut(target.TimedLog("apache"), ", and ")
			conf += format + "\nCustomLog " + dir + "/access.log timed\n"
		}
		return exec.Command("apache2", "-f", servedBy(t, dir, conf+"ProxyPass / http://"+app+"/\n"), "-DFOREGROUND")
	}},
	{"lighttpd", "lighttpd", "lighttpd", func(t *testing.T, address, app, dir string, log bool) *exec.Cmd {
		host, port, _ := net.SplitHostPort(address)
		appHost, appPort, _ := net.SplitHostPort(app)
		conf := fmt.Sprintf("server.bind = %q\nserver.port = %s\nserver.document-root = %q\nserver.modules = (\"mod_proxy\")\nproxy.server = (\"\" => ((\"host\" => %q, \"port\" => %s)))\n", host, port, dir, appHost, appPort)
		if log {
			conf += strings.ReplaceAll(strings.ReplaceAll(target.TimedLog("lighttpd"), ", accesslog.", "\naccesslog."), "FILE", dir+"/access.log") + "\n"
		}
		return exec.Command("lighttpd", "-D", "-f", servedBy(t, dir, conf))
	}},
	{"caddy", "Caddy", "caddy", func(t *testing.T, address, app, dir string, log bool) *exec.Cmd {
		conf := "{\n\tadmin off\n}\nhttp://" + address + " {\n"
		if log {
			conf += strings.NewReplacer("{ ", "{\n", " }", "\n}", "FILE", dir+"/access.log").Replace(target.TimedLog("caddy")) + "\n"
		}
		cmd := exec.Command("caddy", "run", "--adapter", "caddyfile", "--config", servedBy(t, dir, conf+"reverse_proxy "+app+"\n}\n"))
		cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
		return cmd
	}},
}

// servedBy writes the configuration of a server.
func servedBy(t *testing.T, dir, conf string) string {
	t.Helper()
	path := filepath.Join(dir, "server.conf")
	if err := os.WriteFile(path, []byte(conf), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// slowApp is an HTTP server with keep-alive. It delays one page and answers all others at once.
const slowApp = `
import http.server, sys, time
class A(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        if self.path.startswith("/slow"):
            time.sleep(0.05)
        self.send_response(200); self.send_header("Content-Length", "2"); self.end_headers(); self.wfile.write(b"ok")
    def log_message(self, *a): pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), A).serve_forever()
`

// someLoad is a benchmarker: it asks for two pages for the seconds of a run.
const someLoad = `
import http.client, os, sys, time, urllib.parse
u = urllib.parse.urlparse(os.environ["IIKANJI_URL"])
c, n, end = http.client.HTTPConnection(u.hostname, u.port), 0, time.time() + float(sys.argv[1])
while time.time() < end:
    for page in ("/fast/%d" % n, "/slow/%d" % n):
        c.request("GET", page); c.getresponse().read(); n += 1
print("score: %d" % n)
`

// TestOtherWebServers takes sites behind Apache, lighttpd and Caddy as a newcomer would: the
// first line of init, doctor and diagnose has what was seen and what to do; with the log that
// it tells to write, the slow route is seen with its time.
func TestOtherWebServers(t *testing.T) {
	tier.Slow(t)
	for _, s := range otherServers {
		for _, log := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, log %v", s.engine, log), func(t *testing.T) {
				missing := ""
				if _, err := exec.LookPath(s.program); err != nil {
					missing = err.Error()
				}
				tier.Needs(t, s.name, missing)
				newcomer(t, s, log)
			})
		}
	}
}

// newcomer runs the commands on a site.
func newcomer(t *testing.T, s otherServer, log bool) {
	dir, err := os.MkdirTemp("/tmp", "iikanji-web-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil { // Apache's processes have another user
		t.Fatal(err)
	}
	for name, text := range map[string]string{"app.py": slowApp, "load.py": someLoad} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	address, app := servertest.FreeAddress(t), servertest.FreeAddress(t)
	_, port, _ := net.SplitHostPort(app)
	behind := exec.Command("/usr/bin/python3", filepath.Join(dir, "app.py"), port)
	behind.Dir = dir
	servertest.Start(t, behind, app)
	front := s.run(t, address, app, dir, log)
	front.Dir = dir
	servertest.Start(t, front, address)
	url := "http://" + address
	for range 3 {
		r, err := http.Get(url + "/fast/1") // so that the server has a connection to the app
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
	}
	first := "service " + s.engine + ": " + s.name + " at " + address
	want := first + " was seen; no access log of it is known: have it write one with times, "
	if log {
		want = first + ", which writes " + dir + "/access.log, was seen; its requests are read there"
	}
	starts := func(command, text string) {
		if got := strings.Join(strings.Fields(strings.NewReplacer(notSupported, "", "[::]:", "127.0.0.1:").Replace(text)), " "); !strings.Contains(got, want) {
			t.Errorf("%s does not begin with %q:\n%s", command, want, text)
		}
	}
	out, _ := shell(t, exitDone, "init", url, "--into", dir, "--bench", "python3 load.py $IIKANJI_SECONDS", "--force")
	starts("init", out)
	out, _ = shell(t, exitDone, "doctor", dir)
	seen := strings.Contains(out, "ok       "+s.engine+": access log: "+dir+"/access.log") // with times
	if !strings.Contains(out, target.TimedLog(iikanji.Engine(s.engine))) || seen != log || strings.Contains(out, "iikanji turns") {
		t.Errorf("doctor:\n%s", out)
	}
	out, said := shell(t, exitDone, "diagnose", dir, "--load", "3s", "--dir", t.TempDir(), "--no-restart")
	starts("diagnose", out)
	t.Logf("%s\n%s", out, said)
	if !log {
		return
	}
	out, _ = shell(t, exitDone, "access", dir+"/access.log", "--format", "tsv", "--columns", "p50,route", "--where", "route~^/slow/")
	row := strings.Fields(strings.Split(out, "\n")[min(1, strings.Count(out, "\n"))])
	if len(row) != 3 || row[2] != "/slow/:id" || !atLeast(row[0], 0.045) {
		t.Errorf("access:\n%s", out)
	}
}

// atLeast reports whether a word is a number of seconds of at least so many.
func atLeast(word string, seconds float64) bool {
	v, err := strconv.ParseFloat(word, 64)
	return err == nil && v >= seconds
}
