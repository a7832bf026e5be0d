package observe

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/machine/servertest"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/fact"
	"github.com/iikanji/iikanji/internal/site/facts/factstest"
)

// A lane is one web server, one app and one database of a site of several. The
// app of the second lane is connected by TCP.
type lane struct {
	web, app, store string // names of the services
	folder, url     string
	server          *factstest.Server
	pids            map[string][]int
	target          []iikanji.Service
}

// newLane starts the three services. The database has a table whose name contains the
// lane's name.
func newLane(t *testing.T, name string, tcp bool) *lane {
	t.Helper()
	l := &lane{web: "edge-" + name, app: "shop-" + name, store: "db-" + name, folder: t.TempDir(), pids: map[string][]int{}}
	var args []string
	port := servertest.FreeAddress(t)
	if tcp {
		args = []string{"--skip-networking=0", "--bind-address=127.0.0.1", "--port=" + port[strings.LastIndexByte(port, ':')+1:]}
	}
	var err error
	if l.server, err = factstest.Start(t.Context(), "", args...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.server.Stop)
	db, err := l.server.Open(t.Context(), "of_"+name)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, q := range strings.Split(cleanSchema, ";") {
		if _, err := db.ExecContext(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE only_"+name+" (id INT PRIMARY KEY)"); err != nil {
		t.Fatal(err)
	}
	// The observer logs in with another account than the app: its connections are not the app's.
	if _, err := db.ExecContext(t.Context(), "CREATE USER watcher@localhost; GRANT ALL ON *.* TO watcher@localhost"); err != nil {
		t.Fatal(err)
	}
	c := mysql.NewConfig()
	c.User, c.Net, c.Addr, c.DBName = "root", "unix", l.server.Socket, "of_"+name
	if tcp {
		if _, err := db.ExecContext(t.Context(), "CREATE USER app@'127.0.0.1'; GRANT ALL ON *.* TO app@'127.0.0.1'"); err != nil {
			t.Fatal(err)
		}
		c.User, c.Net, c.Addr = "app", "tcp", port
	}
	c.InterpolateParams = true
	l.serve(t, c.FormatDSN(), "of_"+name)
	return l
}

func (l *lane) path(name string) string { return filepath.Join(l.folder, name) }

// serve starts the app and nginx.
func (l *lane) serve(t *testing.T, dsn, schema string) {
	t.Helper()
	nginx, err := exec.LookPath("nginx")
	if err != nil {
		nginx = "/usr/sbin/nginx"
	}
	app, front := servertest.FreeAddress(t), servertest.FreeAddress(t)
	conf := strings.NewReplacer("DIR", l.folder, "ROOT", l.folder, "APP", app, "NGINX", front).Replace(plantedConf)
	if os.Geteuid() != 0 {
		conf = strings.ReplaceAll(conf, "user root; ", "")
	}
	for name, body := range map[string]string{"nginx.conf": conf, "slow.log": "", "error.log": "", "access.log": ""} {
		if err := os.WriteFile(l.path(name), []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), appVariable+"="+app, faultVariable+"=none", dsnVariable+"="+dsn)
	l.pids[l.app] = []int{servertest.Start(t, cmd, app)}
	l.pids[l.web] = []int{servertest.Start(t, exec.Command(nginx, "-p", l.folder, "-c", l.path("nginx.conf"), "-e", l.path("error.log"), "-g", "daemon off;"), front)}
	l.url = "http://" + front
	l.target = []iikanji.Service{
		{Name: l.web, Role: iikanji.RoleWeb, Engine: iikanji.EngineNginx, Address: front, PIDs: l.pids[l.web], Configs: []string{l.path("nginx.conf")},
			Logs: []iikanji.Log{{Kind: "access", Path: l.path("access.log")}, {Kind: "error", Path: l.path("error.log")}}},
		{Name: l.app, Role: iikanji.RoleApp, Engine: iikanji.EngineGo, Address: app, PIDs: l.pids[l.app]},
		{Name: l.store, Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB, Socket: l.server.Socket, Schema: schema,
			Logs: []iikanji.Log{{Kind: "slow", Path: l.path("slow.log")}}}}
}

// ask sends n requests to the lane.
func (l *lane) ask(t *testing.T, n int, path string) {
	t.Helper()
	for i := range n {
		r, err := http.Get(fmt.Sprintf("%s%s%d", l.url, path, i))
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(io.Discard, r.Body)
		r.Body.Close()
		if err != nil || r.StatusCode/100 != 2 {
			t.Fatalf("%s: %d, %v", path, r.StatusCode, err)
		}
	}
}

// TestObserveSeveralUnderLoad observes a site of two web servers, two apps and two
// databases, and no service has the name of its role. Each has its own sensor,
// profile and facts, without data of the other services.
func TestObserveSeveralUnderLoad(t *testing.T) {
	tier.Slow(t)
	a, b := newLane(t, "a", false), newLane(t, "b", true)
	target := iikanji.Target{Name: "two", Services: slices.Concat(a.target, b.target)}
	groups := map[string][]int{}
	for _, l := range []*lane{a, b} {
		for name, pids := range l.pids {
			groups[name] = pids
		}
	}
	clock := &sampledClock{}
	w := Watched{Target: target, User: "watcher", Now: clock.now, Groups: func() map[string][]int { return groups }}
	o, err := Observe(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	o.Phase(scenario.Load, true)
	clock.begin()
	a.ask(t, 300, "/api/page?user=u&n=")
	b.ask(t, 200, "/api/page?user=uu&n=")
	b.ask(t, 100, "/ping?n=")
	took := max(clock.wait(t, 2), 2*time.Second)
	o.Phase(scenario.Load, false)
	run := &iikanji.Run{ID: 1, Outcome: iikanji.Passed, Took: took, Load: iikanji.Generator{PeakConns: 2},
		Steps: []iikanji.StepStat{{Step: "GET /api/page", Count: 500}, {Step: "GET /ping", Count: 100}}}
	ob, err := o.Finish(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	known, err := o.Ask(t.Context(), ob)
	if err != nil {
		t.Fatal(err)
	}
	if len(run.Warnings) > 0 {
		t.Errorf("warnings %q", run.Warnings)
	}
	var names []string
	for _, s := range ob.Sensors {
		if names = append(names, s.Name); !s.Green {
			t.Errorf("%s is red: %s", s.Name, s.Why())
		}
	}
	if want := []string{"access log of edge-a", "access log of edge-b", "slow log of db-a", "slow log of db-b", "host", "error logs"}; !slices.Equal(names, want) {
		t.Errorf("sensors %q, want %q", names, want)
	}
	testCounts(t, ob, map[string]int64{"access edge-a": 300, "access edge-b": 300, "slow db-a": 300, "slow db-b": 200})
	testLaneFacts(t, a, b, known)
	testKeptSeveral(t, ob, known)
}

// testCounts checks that profiles have as many requests or statements as were sent.
func testCounts(t *testing.T, ob *Observation, want map[string]int64) {
	t.Helper()
	for _, p := range ob.Profiles {
		key := p.Source.String() + " " + p.Target
		n, ok := want[key]
		if !ok {
			continue
		}
		got := int64(0)
		for _, r := range p.Rows {
			if p.Source == iikanji.Access || strings.HasPrefix(strings.ToLower(r.Key), "select text from page") {
				got += r.Count
			}
		}
		if got != n {
			t.Errorf("%s: %d, want %d", key, got, n)
		}
		delete(want, key)
	}
	if len(want) > 0 {
		t.Errorf("no profiles of %v", want)
	}
}

// testLaneFacts checks that each service has facts, only under its own name.
func testLaneFacts(t *testing.T, a, b *lane, known []iikanji.Fact) {
	t.Helper()
	seen := map[string]string{}
	for _, f := range known {
		text, err := f.Encoded()
		if err != nil {
			t.Error(err)
		}
		seen[f.Target+" "+f.Topic+" "+f.Key] = text.Value
	}
	there := []string{"db-a table of_a.only_a", "db-b table of_b.only_b", "db-a variable version", "db-b variable version", "db-a status questions", "db-b status questions",
		"edge-a volume access", "edge-b volume access", "edge-a series GET /api/page", "edge-b series GET /api/page", "edge-a answer GET /api/page", "edge-b answer GET /api/page",
		"shop-a limit nofile", "shop-b limit nofile", "edge-a " + string(fact.TopicNginx) + " " + a.path("nginx.conf"), "edge-b " + string(fact.TopicNginx) + " " + b.path("nginx.conf")}
	for _, key := range there {
		if seen[key] == "" {
			t.Errorf("nothing is known of %q", key)
		}
	}
	for key, value := range seen {
		ofA, ofB := strings.Contains(key, "-a "), strings.Contains(key, "-b ")
		if ofA && (strings.Contains(key, "of_b") || strings.Contains(value, "of_b") || strings.Contains(value, b.folder)) ||
			ofB && (strings.Contains(key, "of_a") || strings.Contains(value, "of_a") || strings.Contains(value, a.folder)) {
			t.Errorf("a fact of the other lane: %s = %.200s", key, value)
		}
		for _, role := range []string{"nginx ", "app ", "database "} {
			if strings.HasPrefix(key, role) {
				t.Errorf("a fact of a service that is not there: %s", key)
			}
		}
	}
	if c := seen["shop-a connection db-a"]; !strings.Contains(c, `"unix":1`) {
		t.Errorf("shop-a is connected to db-a by %s", c)
	}
	if c := seen["shop-b connection db-b"]; !strings.Contains(c, `"tcp":1`) {
		t.Errorf("shop-b is connected to db-b by %s", c)
	}
	for _, key := range []string{"shop-a connection db-b", "shop-b connection db-a"} {
		if c, ok := seen[key]; ok {
			t.Errorf("%s: %s", key, c)
		}
	}
}

// testKeptSeveral checks that a saved observation of several services is recalled
// unchanged.
func testKeptSeveral(t *testing.T, ob *Observation, known []iikanji.Fact) {
	t.Helper()
	h, err := history.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if ob.Run.ID, _, err = h.NewRun(); err != nil {
		t.Fatal(err)
	}
	if err := Keep(h, ob, known); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"access-edge-a.json", "access-edge-b.json", "slow-db-a.json", "slow-db-b.json", "slow-db-a.log.gz", "slow-db-b.log.gz", usageFile, hostFile} {
		if b, err := h.ReadFile(ob.Run.ID, name); err != nil || len(b) == 0 {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
	}
	again, facts, err := Recall(h, ob.Run.ID)
	if err != nil {
		t.Fatal(err)
	}
	if len(facts) != len(known) || len(again.Sensors) != len(ob.Sensors) || len(again.Profiles) != len(ob.Profiles) {
		t.Fatalf("%d facts, %d sensors, %d profiles; were %d, %d, %d", len(facts), len(again.Sensors), len(again.Profiles), len(known), len(ob.Sensors), len(ob.Profiles))
	}
	for i, p := range again.Profiles {
		if was := ob.Profiles[i]; p.Source != was.Source || p.Target != was.Target || len(p.Rows) != len(was.Rows) {
			t.Errorf("profile %d is %v of %s with %d rows, was %v of %s with %d", i, p.Source, p.Target, len(p.Rows), was.Source, was.Target, len(was.Rows))
		}
		if p.Source == iikanji.Slow && !strings.Contains(p.Rows[0].Example.File, "slow-"+p.Target) {
			t.Errorf("the statements of %s are quoted from %s", p.Target, p.Rows[0].Example.File)
		}
	}
}

// TestFront finds the web server that receives the load; if it is unknown, all web
// servers count.
func TestFront(t *testing.T) {
	service := func(name, address string) iikanji.Service {
		return iikanji.Service{Name: name, Role: iikanji.RoleWeb, Engine: iikanji.EngineNginx, Address: address, Logs: []iikanji.Log{{Kind: "access", Path: "/log"}}}
	}
	services := []iikanji.Service{service("one", "127.0.0.1:8080"), service("two", "0.0.0.0:80"), service("three", "10.0.0.3:443"), {Name: "none", Role: iikanji.RoleWeb, Address: ":80"}}
	for to, want := range map[string]string{"http://localhost:8080/x": "one", "http://site": "two", "https://10.0.0.3": "three", "https://shop.example": "three", "http://shop.example:8080": "one", "": "one two three", "http://elsewhere:99": "one two three"} {
		var front []string
		for _, w := range webWatches(Watched{Target: iikanji.Target{Services: services, Bench: iikanji.BenchRef{URL: to}}}) {
			if w.front {
				front = append(front, w.service.Name)
			}
		}
		if got := strings.Join(front, " "); got != want {
			t.Errorf("the load on %q goes to %q, want %q", to, got, want)
		}
	}
}
