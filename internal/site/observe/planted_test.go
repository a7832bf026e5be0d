package observe

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/machine/servertest"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/facts/factstest"
)

// A plant is one fault in a small site that otherwise has none: a Go app in a separate
// process behind a real nginx. code has to be the first or second finding of the
// observed run.
type plant struct {
	fault string // the app implements some of them
	code  iikanji.Code
	// conf replaces parts of nginx's configuration.
	conf []string
	dsn  string        // of the database, "" for an app without a database
	pace time.Duration // pause between two rounds of a client
}

var plants = []plant{
	{fault: "none"},
	{fault: "static via app", code: "WEB101", conf: []string{"location /static/ { root ROOT; expires 1h; }", "location /static/ { proxy_pass http://app; expires 1h; }"}},
	{fault: "no keep-alive", code: "WEB102", conf: []string{`proxy_set_header Connection "";`, ""}},
	{fault: "bodies spilled", code: "WEB103", conf: []string{"client_body_buffer_size 64k;", "client_body_buffer_size 8k;"}},
	{fault: "answers spilled", code: "WEB104"},
	{fault: "no compression", code: "WEB105", conf: []string{"gzip on;", "gzip off;"}},
	{fault: "no expiry", code: "WEB106", conf: []string{"expires 1h;", ""}},
	{fault: "log by line", code: "WEB110", conf: []string{" buffer=64k flush=1s", ""}},
	{fault: "verbose log", code: "APP102"},
	{fault: "few descriptors", code: "OS101"},
}

const plantedConf = `worker_processes 1; user root; pid DIR/nginx.pid; error_log DIR/error.log warn;
events { worker_connections 512; }
http {
  types { application/javascript js; application/json json; }
  access_log DIR/access.log combined buffer=64k flush=1s;
  client_body_temp_path DIR/body; proxy_temp_path DIR/proxy; fastcgi_temp_path DIR/f; uwsgi_temp_path DIR/u; scgi_temp_path DIR/s;
  client_body_buffer_size 64k;
  gzip on; gzip_types application/javascript application/json; gzip_proxied any;
  upstream app { server APP; keepalive 16; }
  proxy_http_version 1.1; proxy_set_header Connection "";
  server {
    listen NGINX sndbuf=16k;
    location /static/ { root ROOT; expires 1h; }
    location /ping { return 204; }
    location / { proxy_pass http://app; }
  }
}
`

const appVariable, faultVariable, dsnVariable = "IIKANJI_TEST_APP", "IIKANJI_TEST_FAULT", "IIKANJI_TEST_DSN"

// init runs this test program as the app if it is started as one.
func init() {
	if address := os.Getenv(appVariable); address != "" {
		plantedApp(address, os.Getenv(faultVariable), os.Getenv(dsnVariable))
	}
}

// script is the one static file.
var script = bytes.Repeat([]byte("function f() { return document.getElementById('a') }\n"), 800)

// plantedApp serves until it is killed. With a database, it reads pages from it and
// records uploads in it.
func plantedApp(address, fault, dsn string) {
	var db *sql.DB
	if dsn != "" {
		var err error
		if db, err = sql.Open("mysql", dsn); err != nil {
			panic(err)
		}
		db.SetMaxIdleConns(8)
	}
	switch fault {
	case "few descriptors":
		few := &syscall.Rlimit{Cur: 40, Max: 40}
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, few); err != nil {
			panic(err)
		}
	}
	http.HandleFunc("GET /static/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/javascript")
		w.Write(script)
	})
	http.HandleFunc("GET /api/page", func(w http.ResponseWriter, r *http.Request) {
		switch fault {
		case "verbose log":
			fmt.Printf("DEBUG session of user %s\nDEBUG page found\nGET /api/page 200\n", r.URL.Query().Get("user"))
		case "few descriptors":
			hold(50)
		}
		user := r.URL.Query().Get("user")
		text := strings.Repeat("x", len(user))
		if db != nil {
			if err := db.QueryRowContext(r.Context(), "SELECT text FROM page WHERE user = ? ORDER BY at DESC LIMIT 1", user).Scan(&text); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"user":%q,"text":%q}`, user, text)
	})
	http.HandleFunc("POST /api/upload", func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		if db == nil {
			return
		}
		if _, err := db.ExecContext(r.Context(), "INSERT INTO upload (bytes) VALUES (?)", n); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	http.HandleFunc("GET /api/big", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/octet-stream")
		sum := sha256.Sum256([]byte(r.URL.RawQuery))
		_, _ = w.Write(bytes.Repeat(sum[:], 512<<10/len(sum)))
	})
	panic(http.ListenAndServe(address, nil))
}

// hold opens files at the same time, like a handler that reads many files, and logs
// failures.
func hold(n int) {
	var files []*os.File
	for range n {
		f, err := os.Open(os.DevNull)
		if err != nil {
			fmt.Println("ERROR reading the parts:", err)
			break
		}
		files = append(files, f)
	}
	for _, f := range files {
		f.Close()
	}
}

// A smallSite is a running site, with the data that an observer needs.
type smallSite struct {
	Watched
	url string
}

func plantSite(t *testing.T, srv *factstest.Server, p plant) *smallSite {
	t.Helper()
	nginx, err := exec.LookPath("nginx")
	if err != nil {
		nginx = "/usr/sbin/nginx"
	}
	dir := t.TempDir()
	app, front := servertest.FreeAddress(t), servertest.FreeAddress(t)
	conf := plantedConf
	for i := 0; i+1 < len(p.conf); i += 2 {
		if !strings.Contains(conf, p.conf[i]) {
			t.Fatalf("the configuration has no %q", p.conf[i])
		}
		conf = strings.ReplaceAll(conf, p.conf[i], p.conf[i+1])
	}
	conf = strings.NewReplacer("DIR", dir, "ROOT", dir, "APP", app, "NGINX", front).Replace(conf)
	if os.Geteuid() != 0 {
		conf = strings.ReplaceAll(conf, "user root; ", "")
	}
	path := func(name string) string { return filepath.Join(dir, name) }
	if err := os.Mkdir(path("static"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string][]byte{"nginx.conf": []byte(conf), "static/app.0a1b2c3d.js": script, "slow.log": nil, "error.log": nil, "access.log": nil, "app.log": nil} {
		if err := os.WriteFile(path(name), body, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	output, err := os.OpenFile(path("app.log"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), appVariable+"="+app, faultVariable+"="+p.fault, dsnVariable+"="+p.dsn)
	cmd.Stdout, cmd.Stderr = output, output
	cmd.Dir = dir // the folder of its files
	groups := map[string][]int{"app": {servertest.Start(t, cmd, app)}}
	groups["nginx"] = []int{servertest.Start(t, exec.Command(nginx, "-p", dir, "-c", path("nginx.conf"), "-e", path("error.log"), "-g", "daemon off;"), front)}
	target := iikanji.Target{Name: "small", Services: []iikanji.Service{
		{Name: "database", Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB, Socket: srv.Socket, Logs: []iikanji.Log{{Kind: "slow", Path: path("slow.log")}}},
		{Name: "app", Role: iikanji.RoleApp, Engine: iikanji.EngineGo, Address: app, PIDs: []int{1 << 30} /* of a process that is gone: it was restarted */, Logs: []iikanji.Log{{Kind: "output", Path: path("app.log")}}},
		{Name: "nginx", Role: iikanji.RoleWeb, Engine: iikanji.EngineNginx, Address: front, PIDs: groups["nginx"], Configs: []string{path("nginx.conf")},
			Logs: []iikanji.Log{{Kind: "access", Path: path("access.log")}, {Kind: "error", Path: path("error.log")}}}}}
	return &smallSite{url: "http://" + front, Watched: Watched{Target: target, Schema: "small", User: "root", Now: time.Now,
		Groups: func() map[string][]int { return groups }}}
}

// load sends the fixed requests of a fault from a few clients and returns the run.
func (s *smallSite) load(t *testing.T, p plant) *iikanji.Run {
	t.Helper()
	const clients, rounds = 6, 420
	fault := p.fault
	dialer := &net.Dialer{Control: func(_, _ string, c syscall.RawConn) error {
		var err error
		if fault == "answers spilled" { // slow clients
			err = c.Control(func(fd uintptr) { _ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 8<<10) })
		}
		return err
	}}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients, DisableCompression: true, DialContext: dialer.DialContext}}
	defer client.CloseIdleConnections()
	steps := map[string]*iikanji.StepStat{}
	var mu sync.Mutex
	ask := func(step, method, url string, body []byte) {
		req, err := http.NewRequestWithContext(t.Context(), method, s.url+url, bytes.NewReader(body))
		if err != nil {
			t.Error(err)
			return
		}
		req.Header.Set("Accept-Encoding", "gzip")
		r, err := client.Do(req)
		if err != nil {
			t.Error(err)
			return
		}
		n, err := io.Copy(io.Discard, r.Body)
		r.Body.Close()
		if err != nil || r.StatusCode/100 != 2 {
			t.Errorf("%s: %d, %v", url, r.StatusCode, err)
		}
		mu.Lock()
		defer mu.Unlock()
		if steps[step] == nil {
			steps[step] = &iikanji.StepStat{Step: step}
		}
		st := steps[step]
		st.Count, st.Sent, st.Received = st.Count+1, st.Sent+iikanji.Bytes(200+len(body)), st.Received+iikanji.Bytes(n)
	}
	began := time.Now()
	var next atomic.Int64
	var all sync.WaitGroup
	upload := bytes.Repeat([]byte("u"), 20<<10)
	for range clients {
		all.Go(func() {
			for i := next.Add(1); i <= rounds && !t.Failed(); i = next.Add(1) {
				ask("GET /static/app.0a1b2c3d.js", "GET", "/static/app.0a1b2c3d.js", nil)
				ask("GET /api/page", "GET", fmt.Sprintf("/api/page?user=%s", strings.Repeat("u", int(1+i%40))), nil)
				ask("POST /api/upload", "POST", "/api/upload", upload)
				if fault == "answers spilled" && i%2 == 0 {
					ask("GET /api/big", "GET", fmt.Sprintf("/api/big?n=%d", i), nil)
				}
				for range 9 {
					if fault == "log by line" {
						ask("GET /ping", "GET", "/ping", nil)
					}
				}
				time.Sleep(p.pace)
			}
		})
	}
	all.Wait()
	run := &iikanji.Run{ID: 1, Scenario: "small", Outcome: iikanji.Passed, Took: time.Since(began), Load: iikanji.Generator{PeakConns: clients}}
	for _, st := range steps {
		run.Steps = append(run.Steps, *st)
	}
	return run
}

// observed loads the site under observation and keeps the parts selected by keep.
func (s *smallSite) observed(ctx context.Context, t *testing.T, p plant, keep func(iikanji.Source) bool) (*Observation, []iikanji.Finding) {
	t.Helper()
	o, err := Observe(ctx, s.Watched)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	o.Phase(scenario.Load, true)
	run := s.load(t, p)
	o.Phase(scenario.Load, false)
	ob, err := o.Finish(ctx, run)
	if err != nil {
		t.Fatal(err)
	}
	ob.Sensors = slices.DeleteFunc(ob.Sensors, func(s Sensor) bool { return !keep(s.Source) })
	ob.Profiles = slices.DeleteFunc(ob.Profiles, func(p iikanji.Profile) bool { return !keep(p.Source) })
	known, err := o.Ask(ctx, ob)
	if err != nil {
		t.Fatal(err)
	}
	fs, err := FindingsOf(ob, known)
	if err != nil {
		t.Fatal(err)
	}
	return ob, fs
}

// TestPlantedSiteUnderLoad plants one fault at a time into a site without faults and loads it
// under observation. The fault must be the first or second finding, and the clean
// site must have none. The sensors of the database and of the host are excluded:
// the database is not part of this test, and other work on this machine is not a
// fault of the site.
func TestPlantedSiteUnderLoad(t *testing.T) {
	tier.Slow(t)
	srv, _ := openDatabase(t, "small")
	for _, p := range plants {
		t.Run(p.fault, func(t *testing.T) {
			why := ""
			for range 8 { // other programs on the machine have effects, too
				_, fs := plantSite(t, srv, p).observed(t.Context(), t, p, func(s iikanji.Source) bool { return s != iikanji.Slow && s != iikanji.Host })
				if why = notFirst(fs, p.code); why == "" {
					return
				}
				t.Log(why)
			}
			t.Error(why)
		})
	}
}

// notFirst is why findings are not those of a planted fault, or of none; "" if they are.
func notFirst(fs []iikanji.Finding, code iikanji.Code) string {
	at := slices.IndexFunc(fs, func(f iikanji.Finding) bool { return f.Code == code })
	switch {
	case code == "" && len(fs) > 0:
		return "a clean site has findings:\n" + toldBy(fs)
	case code != "" && (at < 0 || at > 1 || len(fs) > 2):
		return fmt.Sprintf("%s is not first or second of at most two:\n%s", code, toldBy(fs))
	}
	return ""
}

// toldBy formats findings, one per line.
func toldBy(fs []iikanji.Finding) string {
	var b strings.Builder
	for _, f := range fs {
		fmt.Fprintf(&b, "%s %s %v: %s %v\n", f.Code, f.Where, f.Gain, f.Claim, f.Evidence)
	}
	return b.String()
}

const cleanSchema = `
CREATE TABLE page (id INT PRIMARY KEY, user VARCHAR(50) NOT NULL, at INT NOT NULL, text VARCHAR(200) NOT NULL, KEY newest (user, at));
CREATE TABLE upload (id INT AUTO_INCREMENT PRIMARY KEY, bytes INT NOT NULL);
INSERT INTO page SELECT seq, REPEAT('u', 1 + seq MOD 40), seq, REPEAT('x', 1 + seq MOD 40) FROM seq_1_to_4000;
ANALYZE TABLE page, upload`

// TestCleanSiteUnderLoad observes a whole site without a fault, including database and host.
// Every sensor must be green, and there must be no finding, except for the resource
// use of other programs on this machine.
func TestCleanSiteUnderLoad(t *testing.T) {
	tier.Slow(t)
	srv, db := openDatabase(t, "small")
	if _, err := db.ExecContext(t.Context(), cleanSchema); err != nil {
		t.Fatal(err)
	}
	c := mysql.NewConfig()
	c.User, c.Net, c.Addr, c.DBName, c.InterpolateParams = "root", "unix", srv.Socket, "small", true
	p := plant{fault: "none", dsn: c.FormatDSN(), pace: 60 * time.Millisecond}
	var ob *Observation
	var planted []iikanji.Finding
	byOthers := func(f iikanji.Finding) bool { return f.Code == "OS104" }
	for range 6 { // if other programs use the machine, a sensor may be red for a valid reason
		site := plantSite(t, srv, p)
		ob, planted = site.observed(t.Context(), t, p, func(iikanji.Source) bool { return true })
		red := slices.ContainsFunc(ob.Sensors, func(s Sensor) bool { return !s.Green })
		if !red && !slices.ContainsFunc(planted, func(f iikanji.Finding) bool { return !byOthers(f) }) {
			break
		}
	}
	for _, s := range ob.Sensors {
		if !s.Green {
			t.Errorf("%s is red: %s", s.Name, s.Why())
		}
	}
	if len(ob.Sensors) != 4 {
		t.Errorf("%d sensors", len(ob.Sensors))
	}
	if i := slices.IndexFunc(ob.Profiles, func(p iikanji.Profile) bool { return p.Source == iikanji.Slow }); i < 0 || len(ob.Profiles[i].Rows) < 2 {
		t.Error("the database was not asked")
	}
	fs := slices.DeleteFunc(planted, byOthers)
	if len(fs) > 0 {
		t.Errorf("a clean site has findings:\n%s", toldBy(fs))
	}
}
