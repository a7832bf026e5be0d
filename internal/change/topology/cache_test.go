package topology

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/lang/settings"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// newCaches boots a site whose app, database and caches are on web; db has a Redis with a key of
// its own.
func newCaches(t *testing.T, more ...string) *contest {
	t.Helper()
	c := newContestWith(t, append([]string{"mariadb", "redis-server", "memcached"}, more...)...)
	if changetest.ChildDir() == "" {
		c.run("db", "redis-cli", "set", "own", "7")
	}
	return c
}

// cacheSite is the site with its caches.
func (c *contest) cacheSite() *change.Site {
	s := c.site()
	c.addCaches(s)
	return s
}

func (c *contest) addCaches(s *change.Site) {
	for _, svc := range []iikanji.Service{
		{Name: "redis", Role: iikanji.RoleCache, Engine: iikanji.EngineRedis, Host: "web", Address: "127.0.0.1:6379", Unit: "redis-server.service", Spare: []string{"db"}},
		{Name: "memcached", Role: iikanji.RoleCache, Engine: iikanji.EngineMemcached, Host: "web", Address: "127.0.0.1:11211", Unit: "memcached.service", Spare: []string{"db"}},
	} {
		s.Target.Services = append(s.Target.Services, svc)
		s.Services[svc.Name] = change.Service{Host: "web", Engine: svc.Engine, Address: svc.Address}
	}
}

// placedSite is the site with its caches where placement.json has them.
func (c *contest) placedSite() *change.Site {
	s := c.cacheSite()
	text, err := os.ReadFile(s.Placement)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		panic(err)
	}
	p, err := change.ParsePlacement(text)
	if err != nil {
		panic(err)
	}
	for i, svc := range s.Target.Services {
		if at, moved := p.Services[svc.Name]; moved {
			s.Target.Services[i].Host, s.Target.Services[i].Address = at.Host, at.Address
		}
	}
	return s
}

// cacheState is everything that an undo of a move of a cache must restore.
func (c *contest) cacheState() string {
	c.t.Helper()
	var b strings.Builder
	b.WriteString(c.state())
	for _, name := range []string{"web", "db"} {
		fmt.Fprintf(&b, "== caches of %s\n%s\n", name, c.run(name, "sh", "-c", `sha256sum /etc/redis/redis.conf /etc/memcached.conf
stat -c '%n %i %U %a' /var/lib/redis; ls -d /var/lib/redis?*
for u in redis-server memcached; do systemctl is-active $u; systemctl is-enabled $u; done
redis-cli get own; redis-cli get visits; :`))
	}
	return b.String()
}

// movingCache is the remedy.
func movingCache(service string, kv ...string) iikanji.Remedy {
	return iikanji.Remedy{Kind: "topology", Target: service, Args: changetest.Args(append([]string{"act", "move", "service", service, "to", "db"}, kv...)...)}
}

// soon asks the app, which may have just been started, until it answers so.
func (c *contest) soon(path, want string) {
	c.t.Helper()
	var got string
	var err error
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if got, err = c.ask(path); err == nil {
			break
		}
	}
	if got != want {
		c.t.Errorf("%s answers %q, %v; want %q", path, got, err, want)
	}
}

// TestMoveCache: a Redis goes to another host with its keys and its client, a memcached without
// them, and the undo leaves both hosts as they were.
func TestMoveCache(t *testing.T) {
	tier.Slow(t)
	c := newCaches(t)
	s := c.cacheSite()
	x, h := c.executor(s)
	c.soon("/visit", ":1 at 127.0.0.1:6379")
	c.soon("/kept", "2 at 127.0.0.1:11211")
	before := c.cacheState()
	var done []*iikanji.Change
	do := func(r iikanji.Remedy) {
		t.Helper()
		ch := c.plan(s, h, r)
		t.Logf("%s\n%s", ch.Says, change.Diff(ch))
		begin := time.Now()
		if err := x.Apply(t.Context(), ch.ID); err != nil {
			t.Fatal(err)
		}
		t.Logf("in %v", time.Since(begin))
		done = append(done, ch)
	}
	if _, err := change.Plan(t.Context(), s, movingCache("memcached")); err == nil || !strings.Contains(err.Error(), "give method=empty") {
		t.Errorf("keys are lost without a word: %v", err)
	}
	do(movingCache("redis"))
	c.soon("/visit", ":2 at 127.0.0.1:6379")
	do(movingCache("redis"))
	at := c.addresses["db"]
	c.soon("/visit", ":3 at "+at+":6379")
	do(movingCache("memcached", "method", "empty"))
	do(movingCache("memcached", "method", "empty"))
	c.soon("/kept", "2 at "+at+":11211")
	c.soon("/visit", ":4 at "+at+":6379")
	if got := c.run("web", "sh", "-c", "systemctl is-active redis-server memcached; systemctl is-enabled redis-server; :"); got != "inactive\ninactive\ndisabled" {
		t.Errorf("the former servers are %q", got)
	}
	for i := len(done) - 1; i >= 0; i-- {
		if err := x.Revert(t.Context(), done[i].ID, "test"); err != nil {
			t.Fatal(err)
		}
	}
	c.soon("/visit", ":3 at 127.0.0.1:6379")
	c.run("web", "redis-cli", "set", "visits", "1")
	if got := c.cacheState(); got != before {
		t.Errorf("after the undo\n%s\nwant\n%s", got, before)
	}
}

// TestMoveCacheCuts: a connection that is lost before, within or after an op of a move of a
// Redis: after recover both hosts are as before.
func TestMoveCacheCuts(t *testing.T) {
	tier.Slow(t)
	c := newCaches(t)
	c.now, c.open = c.cacheState, c.cacheSite
	n := c.cutAll(movingCache("redis", "step", "prepare"), 3)
	s := c.cacheSite()
	x, h := c.executor(s)
	prepare := c.plan(s, h, movingCache("redis"))
	if err := x.Apply(t.Context(), prepare.ID); err != nil {
		t.Fatal(err)
	}
	n += c.cutAll(movingCache("redis", "step", "switch"), 6)
	if t.Logf("%d cuts", n); n < 8 {
		t.Errorf("only %d cuts", n)
	}
}

// TestMoveCacheKills: a process that is killed at any step of either change is recovered from.
func TestMoveCacheKills(t *testing.T) {
	tier.Long(t, "two machines, and a kill at each step of two changes; every check cuts the connection at some of the same ops")
	c := newCaches(t)
	c.cacheKills("prepare", serverDropIn)
}

// TestMoveCacheSwitchKills does so for the switch.
func TestMoveCacheSwitchKills(t *testing.T) {
	tier.Long(t, "as TestMoveCacheKills")
	c := newCaches(t)
	if changetest.ChildDir() == "" {
		s := c.cacheSite()
		x, h := c.executor(s)
		prepare := c.plan(s, h, movingCache("redis"))
		if err := x.Apply(t.Context(), prepare.ID); err != nil {
			t.Fatal(err)
		}
	}
	c.cacheKills("switch", dropInName)
}

// cacheKills kills at each step of a move of the Redis.
func (c *contest) cacheKills(step, effect string) {
	c.t.Helper()
	changetest.Run(c.t, changetest.Case{
		Dir: c.dir, Open: func(string) *change.Site { return c.placedSite() },
		Policy:   iikanji.Policy{Allow: []iikanji.Promise{iikanji.Availability}},
		Remedies: map[string]iikanji.Remedy{step: movingCache("redis", "step", step)},
		Effects:  map[string]string{step: effect},
		State:    func() (string, error) { return c.cacheState(), nil },
		Serves: func() error {
			c.soon("/", "2 items from web")
			return nil
		},
		Disturb: c.disturb,
	})
}

// TestCacheAddress: the variables with the address of a cache are found in any language, whole,
// in a URL or as the host alone; what no variable decides is refused with its place.
func TestCacheAddress(t *testing.T) {
	for name, c := range map[string]struct {
		file, text string
		env        map[string]string
		want, err  string
	}{
		"Go with a default":   {"main.go", "func main() { addr := env(\"REDIS_ADDR\", \"127.0.0.1:6379\") }", nil, "REDIS_ADDR=10.0.0.2:6379", ""},
		"Go, two steps":       {"main.go", "addr := os.Getenv(\"REDIS\")\nif addr == \"\" {\n\taddr = \"localhost:6379\"\n}", nil, "REDIS=10.0.0.2:6379", ""},
		"Go with a value":     {"main.go", `redis.Options{Addr: os.Getenv("KVS_ADDRESS")}`, map[string]string{"KVS_ADDRESS": "127.0.0.1:6379"}, "KVS_ADDRESS=10.0.0.2:6379", ""},
		"a host alone":        {"app.rb", "Redis.new(host: ENV.fetch('REDIS_HOST', '127.0.0.1'), port: 6379)", nil, "REDIS_HOST=10.0.0.2", ""},
		"Node, a URL":         {"app.js", "createClient({url: process.env.REDIS_URL || 'redis://localhost:6379/0'})", nil, "REDIS_URL=redis://10.0.0.2:6379/0", ""},
		"a URL with a value":  {"app.py", "redis.from_url(os.environ['CACHE_URL'])", map[string]string{"CACHE_URL": "redis://127.0.0.1:6379/1"}, "CACHE_URL=redis://10.0.0.2:6379/1", ""},
		"another server":      {"app.py", "redis.from_url(os.environ['CACHE_URL'])", map[string]string{"CACHE_URL": "redis://10.9.9.9:6379/1"}, "", ""},
		"another's host":      {"app.py", "connect(os.environ['DB_HOST'])", map[string]string{"DB_HOST": "127.0.0.1"}, "", ""},
		"a password":          {"app.py", "redis.from_url(os.environ['REDIS_URL'])", map[string]string{"REDIS_URL": "redis://:x@127.0.0.1:6379"}, "", "with a password"},
		"a password behind":   {"app.js", "createClient(process.env.REDIS_URL)", map[string]string{"REDIS_URL": "redis://127.0.0.1:6379?db=1&password=x"}, "", "with a password"},
		"a query":             {"app.js", "createClient(process.env.REDIS_URL)", map[string]string{"REDIS_URL": "redis://127.0.0.1:6379/0?family=4"}, "REDIS_URL=redis://10.0.0.2:6379/0?family=4", ""},
		"a constant":          {"main.go", "package main\nvar addr = \"127.0.0.1:6379\"", nil, "", "main.go:2 has the address"},
		"two hosts alone":     {"main.go", `os.Getenv("REDIS_A") os.Getenv("REDIS_B")`, map[string]string{"REDIS_A": "127.0.0.1", "REDIS_B": "127.0.0.1"}, "", "both have a host alone"},
		"a variable unused":   {"main.go", "package main", map[string]string{"REDIS_ADDR": "127.0.0.1:6379"}, "", ""},
		"two whole addresses": {"main.go", `os.Getenv("REDIS_A") os.Getenv("REDIS_B")`, map[string]string{"REDIS_A": "127.0.0.1:6379", "REDIS_B": "localhost:6379"}, "REDIS_A=10.0.0.2:6379 REDIS_B=10.0.0.2:6379", ""},
	} {
		a := &cacheAddress{files: []settings.File{{Path: c.file, Text: c.text}}, env: c.env, engine: iikanji.EngineRedis,
			names: []string{"127.0.0.1", "localhost", "::1", "10.0.0.1"}, port: "6379", to: "10.0.0.2"}
		found, err := a.find()
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want %q", name, err, c.err)
			}
			continue
		}
		var got []string
		if found != nil {
			for _, v := range found.variables() {
				got = append(got, v+"="+found.sets[v])
			}
		}
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
		}
	}
}

// TestClientVariables: systemd gives a client's variable the value that was meant.
func TestClientVariables(t *testing.T) {
	task := &task{site: &change.Site{Hosts: map[string]host.Host{"web": &host.Fake{Root: t.TempDir(), Host: "web"}}, Roots: []string{"web:" + change.UnitsFolder}},
		clients: []client{{svc: iikanji.Service{Name: "app", Host: "web", Unit: "app.service"}, sets: map[string]string{"REDIS_URL": "redis://10.0.0.2:6379/0?name=a%20b"}}}}
	edits, err := task.dropIns()
	if err != nil || len(edits) != 1 || !strings.HasSuffix(string(edits[0].New), "\nEnvironment=REDIS_URL=redis://10.0.0.2:6379/0?name=a%%20b\n") {
		t.Errorf("%v %+v", err, edits)
	}
}

// TestOverriding: of the words behind a Redis's file of settings only those of its start are left
// out of account.
func TestOverriding(t *testing.T) {
	for words, want := range map[string]string{"": "", " --supervised systemd --daemonize no ": "", " --daemonize no --dir /data ": "--dir", " --appendonly yes --save '' ": "--appendonly"} {
		if got := overriding(words); got != want {
			t.Errorf("%q: %q", words, got)
		}
	}
	m := confWord.FindStringSubmatch("{ path=/usr/bin/redis-server ; argv[]=/usr/bin/redis-server /etc/redis/redis.conf --dir /data ; ignore_errors=no ; start_time=[n/a] ; pid=0 }")
	if m == nil || m[1] != "/etc/redis/redis.conf" || overriding(m[2]) != "--dir" {
		t.Errorf("%q", m)
	}
}

// TestRoomForADump: a dump that would fill the disk of the running database is refused.
func TestRoomForADump(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(root+"/var/lib/mysql", 0o755); err != nil {
		t.Fatal(err)
	}
	task := &task{from: &host.Fake{Root: root, Host: "web", Space: 300 << 20}, svc: iikanji.Service{Name: "database", Host: "web"}, server: server{data: "/var/lib/mysql"}}
	if err := task.holdsDump(150 << 20); err != nil {
		t.Error(err)
	}
	if err := task.holdsDump(200 << 20); err == nil || !strings.Contains(err.Error(), "web has 300 MiB free") {
		t.Errorf("a dump of 200 MiB: %v", err)
	}
}

// TestStoreSettings: what a Redis keeps, and how either server is made to listen.
func TestStoreSettings(t *testing.T) {
	for text, want := range map[string]bool{"": true, "save \"\"\n": false, "save \"\"\nappendonly yes\n": true, "SAVE 60 1\n": true, "# save \"\"\n": true, "save ''": false} {
		if got := persists(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	redis := &task{address: "10.0.0.2", svc: iikanji.Service{Engine: iikanji.EngineRedis}}
	first := redis.listeningStore("bind 127.0.0.1 -::1\nprotected-mode yes")
	if lastSetting(first, "bind") != "127.0.0.1 10.0.0.2" || lastSetting(first, "protected-mode") != "no" || redis.listeningStore(first) != first {
		t.Errorf("%q", first)
	}
	mem := &task{address: "10.0.0.2", svc: iikanji.Service{Engine: iikanji.EngineMemcached}}
	first = mem.listeningStore("-l 127.0.0.1\n")
	if !strings.HasSuffix(first, "-l 10.0.0.2\n") || mem.listeningStore(first) != first || mem.listeningStore("-m 64\n") != "-m 64\n" {
		t.Errorf("%q", first)
	}
	for text, want := range map[string]string{"requirepass x\n": "has requirepass", "UserName x\n": "", "user a on\n": "has user", "include /x\n": "has include"} {
		if err := redis.plainSettings("web", text); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if err := mem.plainSettings("web", "-s /run/m.sock\n"); err == nil {
		t.Error("a memcached at a socket is moved")
	}
}
