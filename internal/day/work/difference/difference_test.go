package difference

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/day/work/state"
)

// A site is a state that tests edit.
type site struct {
	*state.State
	texts map[string]string
}

var morning = time.Unix(1_700_000_000, 0)

func newSite() *site {
	h := state.Host{Sysctl: map[string]string{"net.core.somaxconn": "4096"}, Packages: map[string]string{"nginx": "1.22"}, Units: map[string]state.Unit{"app.service": {Enabled: "enabled"}},
		Services: []state.Service{
			{Name: "web", Role: iikanji.RoleWeb, Engine: iikanji.EngineNginx, Config: "/etc/nginx/nginx.conf", Reads: []string{"/etc/nginx/nginx.conf", "/etc/nginx/conf.d/a.conf"}, Started: morning, Loaded: morning},
			{Name: "app", Role: iikanji.RoleApp, Engine: iikanji.EngineGo, Source: "/srv/app", Unit: "app.service", Started: morning, EnvFiles: []string{"/srv/env.sh"},
				Env: map[string]string{"HOST": "keyed:a", "PASSWORD": "keyed:secret"}, Program: state.Program{Path: "/srv/app/app", SHA: "p1", Modified: morning, Changed: morning}},
			{Name: "db", Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB, Config: "/etc/mysql/my.cnf", Reads: []string{"/etc/mysql/my.cnf"}, Started: morning, Loads: []string{"/srv/sql"},
				Variables: map[string]state.Variable{"max_connections": {Value: "151", Origin: "compile-time"}, "innodb_buffer_pool_size": {Value: "134217728", Origin: "config"}},
				Tables:    map[string]string{"isu.t": "CREATE TABLE `t` (\n  `id` int(11) NOT NULL,\n  `a` int(11) DEFAULT NULL,\n  PRIMARY KEY (`id`)\n) ENGINE=InnoDB\n"}},
		}}
	s := &site{&state.State{At: morning.Add(time.Hour), Hosts: []state.Host{h}}, map[string]string{}}
	s.write("/etc/nginx/nginx.conf", "http {\n  server {\n    listen 80;\n    location / { proxy_pass http://app; }\n  }\n  include conf.d/*.conf;\n}\n")
	s.write("/etc/nginx/conf.d/a.conf", "upstream app { server 127.0.0.1:8000; }\n")
	s.write("/etc/mysql/my.cnf", "[client]\nport = 3306\n[mysqld]\ninnodb-buffer-pool-size = 128M\n")
	s.write("/srv/app/main.go", "package main\n\nfunc main() {}\n\ntype h struct{}\n\nfunc (x *h) get() int { return 1 }\n")
	s.write("/srv/env.sh", "HOST=a\nPASSWORD=secret\n")
	s.write("/srv/sql/0_Schema.sql", "DROP TABLE IF EXISTS t;\nCREATE TABLE t (id INT NOT NULL PRIMARY KEY, a INT);\n")
	for i := range s.Hosts[0].Files {
		s.Hosts[0].Files[i].Changed = morning.Add(-time.Hour)
	}
	return s
}

// write writes a file an hour after the services started.
func (s *site) write(name, text string) {
	f := state.File{Path: name, Class: state.Text, SHA: state.Sum([]byte(text)), Size: int64(len(text)), Mode: 0o644, Changed: morning.Add(2 * time.Hour)}
	s.texts[f.SHA] = text
	h := &s.Hosts[0]
	h.Files = slices.DeleteFunc(h.Files, func(f state.File) bool { return f.Path == name })
	h.Files = append(h.Files, f)
	slices.SortFunc(h.Files, func(a, b state.File) int { return strings.Compare(a.Path, b.Path) })
}

func (s *site) service(name string) *state.Service {
	svc, _ := s.Hosts[0].Service(name)
	return svc
}

func between(base, now *site, last *state.State, made ...Made) []Edit {
	text := func(sha string) ([]byte, error) {
		for _, s := range []*site{base, now} {
			if text, ok := s.texts[sha]; ok {
				return []byte(text), nil
			}
		}
		return nil, errors.New("no such text")
	}
	return Between(Input{Base: base.State, Now: now.State, Last: last, Text: text, Keyed: func(v []byte) string { return "keyed:" + string(v) }, Made: made})
}

// say is an edit on one line.
func say(e Edit) string {
	text := fmt.Sprintf("%s %s [%s]", e.Kind, e.Place, strings.Join(e.Names, "; "))
	if e.Warning != "" {
		text += " " + string(e.Warning) + ": " + e.Why
	}
	return text
}

// TestBetween: each edit is one entry with its meaning and its warning.
func TestBetween(t *testing.T) {
	later := morning.Add(3 * time.Hour)
	for name, c := range map[string]struct {
		edit func(s *site)
		want []string
	}{
		"nothing": {func(*site) {}, nil},
		"directive": {func(s *site) {
			s.write("/etc/nginx/conf.d/a.conf", "upstream app { server 127.0.0.1:8000; keepalive 16; }\n")
		}, []string{"directive /etc/nginx/conf.d/a.conf [upstream app: keepalive 16] NOT LOADED: web was not reloaded since"}},
		"reloaded": {func(s *site) {
			s.write("/etc/nginx/conf.d/a.conf", "upstream app { server 127.0.0.1:8001; }\n")
			s.service("web").Loaded = later
		}, []string{"directive /etc/nginx/conf.d/a.conf [upstream app: server 127.0.0.1:8000 → 127.0.0.1:8001]"}},
		"not included": {func(s *site) { s.write("/etc/nginx/sites-available/x", "gzip on;\n"); s.service("web").Loaded = later }, []string{"directive /etc/nginx/sites-available/x [new file; gzip on] NOT LOADED: web does not read this file"}},
		"removed": {func(s *site) {
			s.Hosts[0].Files = slices.DeleteFunc(s.Hosts[0].Files, func(f state.File) bool { return f.Path == "/etc/nginx/conf.d/a.conf" })
			s.service("web").Loaded = later
		}, []string{"directive /etc/nginx/conf.d/a.conf [removed; − upstream app: server 127.0.0.1:8000]"}},
		"option": {func(s *site) { s.write("/etc/mysql/my.cnf", "[mysqld]\ninnodb_buffer_pool_size = 1G\n") }, []string{"option /etc/mysql/my.cnf [innodb_buffer_pool_size 128M → 1G; − [client]: port 3306] NOT LOADED: innodb_buffer_pool_size is 134217728 in the server, which was not restarted since"}},
		"option loaded": {func(s *site) {
			s.write("/etc/mysql/my.cnf", "[client]\nport = 3306\n[mysqld]\ninnodb_buffer_pool_size = 1G\n")
			d := s.service("db")
			d.Started, d.Variables["innodb_buffer_pool_size"] = later, state.Variable{Value: "1073741824", Origin: "config"}
		}, []string{"option /etc/mysql/my.cnf [innodb_buffer_pool_size 128M → 1G]"}},
		"respelled": {func(s *site) {
			s.write("/etc/mysql/my.cnf", "[client]\nport = 3306\n[mysqld]\ninnodb_buffer_pool_size = 134217728\n")
		}, []string{"option /etc/mysql/my.cnf [innodb_buffer_pool_size 128M → 134217728]"}},
		"run time": {func(s *site) {
			s.service("db").Variables["max_connections"] = state.Variable{Value: "300", Origin: "sql"}
		}, []string{"variable max_connections [151 → 300] ONLY AT RUN TIME: a restart loses it"}},
		"both": {func(s *site) {
			s.service("db").Variables["max_connections"] = state.Variable{Value: "300", Origin: "sql"}
			s.write("/etc/mysql/my.cnf", "[client]\nport = 3306\n[mysqld]\ninnodb-buffer-pool-size = 128M\nmax-connections = 300\n")
		}, []string{"option /etc/mysql/my.cnf [max_connections 300]"}},
		"index": {func(s *site) {
			s.service("db").Tables["isu.t"] = strings.Replace(s.service("db").Tables["isu.t"], "(`id`)", "(`id`),\n  KEY `by_a` (`a`)", 1)
		}, []string{"table isu.t [index by_a (a)] INITIALIZE UNDOES IT: not in 0_Schema.sql"}},
		"index in file": {func(s *site) {
			s.service("db").Tables["isu.t"] = strings.Replace(s.service("db").Tables["isu.t"], "(`id`)", "(`id`),\n  KEY `by_a` (`a`)", 1)
			s.write("/srv/sql/0_Schema.sql", "CREATE TABLE t (id INT NOT NULL PRIMARY KEY, a INT, KEY by_a (a));\n")
		}, []string{"table isu.t [index by_a (a)]", "file /srv/sql/0_Schema.sql [− statements; table t]"}},
		"not built": {func(s *site) {
			s.write("/srv/app/main.go", "package main\n\nfunc main() {}\n\ntype h struct{}\n\nfunc (x *h) get() int { return 2 }\n")
		}, []string{"source /srv/app/main.go [h.get] NOT BUILT: the running program is older"}},
		"built": {func(s *site) {
			s.write("/srv/app/main.go", "package main\n\nfunc main() { println() }\n\ntype h struct{}\n")
			s.service("app").Program = state.Program{Path: "/srv/app/app", SHA: "p2", Modified: later, Changed: later}
		}, []string{"source /srv/app/main.go [− h.get; main]"}},
		"built before": {func(s *site) {
			s.write("/srv/app/main.go", "package main\n\nfunc main() { println() }\n")
			s.service("app").Program = state.Program{Path: "/srv/app/app", SHA: "p2", Modified: morning, Changed: morning}
		}, []string{"source /srv/app/main.go [− h.get; main; − type h] NOT BUILT: the running program is older"}},
		"replaced": {func(s *site) {
			s.write("/srv/app/main.go", "package main\n\nfunc main() { println() }\n")
			s.service("app").Program = state.Program{Path: "/srv/app/app", SHA: "p2", Modified: later, Changed: later, Replaced: true}
		}, []string{"source /srv/app/main.go [− h.get; main; − type h] NOT LOADED: a newer program is on the disk than the one that runs"}},
		"program":  {func(s *site) { s.service("app").Program.SHA = "p2" }, []string{"program /srv/app/app [another program]"}},
		"env file": {func(s *site) { s.write("/srv/env.sh", "HOST=b\nPASSWORD=secret\nDEBUG=0\n") }, []string{"environment /srv/env.sh [DEBUG (new); HOST] NOT LOADED: app was not restarted since"}},
		"env loaded": {func(s *site) {
			s.write("/srv/env.sh", "HOST=b\nPASSWORD=secret\n")
			a := s.service("app")
			a.Started, a.Env["HOST"] = later, "keyed:b"
		}, []string{"environment /srv/env.sh [HOST]"}},
		"environment": {func(s *site) { s.service("app").Env["HOST"] = "keyed:b" }, []string{"environment app [HOST]"}},
		"sysctl live": {func(s *site) { s.Hosts[0].Sysctl["net.core.somaxconn"] = "65535" }, []string{"sysctl net.core.somaxconn [4096 → 65535] ONLY AT RUN TIME: a reboot loses it"}},
		"sysctl file": {func(s *site) { s.write("/etc/sysctl.d/x.conf", "net.core.somaxconn=65535\n") }, []string{"sysctl /etc/sysctl.d/x.conf [new file; net.core.somaxconn 65535] NOT LOADED: net.core.somaxconn is 4096 in the kernel: sysctl --system was not run"}},
		"sysctl both": {func(s *site) {
			s.write("/etc/sysctl.d/x.conf", "net.core.somaxconn=65535\n")
			s.Hosts[0].Sysctl["net.core.somaxconn"] = "65535"
		}, []string{"sysctl /etc/sysctl.d/x.conf [new file; net.core.somaxconn 65535]"}},
		"package": {func(s *site) { s.Hosts[0].Packages["nginx"] = "1.24"; s.Hosts[0].Packages["redis"] = "7" }, []string{"package nginx [1.22 → 1.24]", "package redis [7 installed]"}},
		"crontab": {func(s *site) { s.write("/var/spool/cron/crontabs/root", "# x\n* * * * * curl http://x?token=abc\n") }, []string{"crontab /var/spool/cron/crontabs/root [new file; + * * * * * curl]"}},
		"unit": {func(s *site) {
			s.write("/etc/systemd/system/app.service.d/limits.conf", "[Service]\nLimitNOFILE=65536\n")
		}, []string{"unit /etc/systemd/system/app.service.d/limits.conf [new file; [Service]: LimitNOFILE 65536] NOT LOADED: app was not restarted since"}},
		"daemon-reload": {func(s *site) {
			s.write("/etc/systemd/system/app.service", "[Service]\nRestart=always\n")
			s.Hosts[0].Units["app.service"] = state.Unit{Enabled: "enabled", Stale: true}
		}, []string{"unit /etc/systemd/system/app.service [new file; [Service]: Restart always] NOT LOADED: systemctl daemon-reload was not run"}},
		"enabled": {func(s *site) { s.Hosts[0].Units["app.service"] = state.Unit{Enabled: "disabled"} }, []string{"unit app.service [enabled → disabled]"}},
		"mode":    {func(s *site) { s.Hosts[0].Files[0].Mode = 0o600 }, []string{"file /etc/mysql/my.cnf [mode 0644 → 0600]"}},
	} {
		t.Run(name, func(t *testing.T) {
			base, now := newSite(), newSite()
			c.edit(now)
			var got []string
			for _, e := range between(base, now, nil) {
				got = append(got, say(e))
			}
			if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(c.want, "\n  "))
			}
		})
	}
}

// TestSurvived: an index that was there when a run began, and is there after it, was not
// undone by initialize.
func TestSurvived(t *testing.T) {
	base, last, now := newSite(), newSite(), newSite()
	for _, s := range []*site{last, now} {
		s.service("db").Tables["isu.t"] = strings.Replace(s.service("db").Tables["isu.t"], "(`id`)", "(`id`),\n  KEY `by_a` (`a`)", 1)
	}
	if got := between(base, now, last.State); len(got) != 1 || got[0].Warning != "" {
		t.Errorf("%+v", got)
	}
	if got := between(base, now, base.State); len(got) != 1 || got[0].Warning != InitializeIt {
		t.Errorf("%+v", got)
	}
}

// TestMade: a change of tune is named by its number, and an edit on top of it is by hand.
func TestMade(t *testing.T) {
	base, now := newSite(), newSite()
	now.write("/etc/nginx/conf.d/a.conf", "upstream app { server 127.0.0.1:8000; keepalive 16; }\n")
	f, _ := now.Hosts[0].File("/etc/nginx/conf.d/a.conf")
	made := Made{ID: 7, Left: map[string]iikanji.Fingerprint{f.Path: iikanji.Fingerprint(f.SHA)}}
	if got := between(base, now, nil, made); len(got) != 1 || got[0].ByHand || !slices.Equal(got[0].Changes, []iikanji.ChangeID{7}) {
		t.Errorf("%+v", got)
	}
	made.Left[f.Path] = "something else"
	if got := between(base, now, nil, made); len(got) != 1 || !got[0].ByHand || !slices.Equal(got[0].Changes, []iikanji.ChangeID{7}) {
		t.Errorf("edited since: %+v", got)
	}
}

// TestFunctions: the functions of scripts in several languages.
func TestFunctions(t *testing.T) {
	for _, c := range []struct{ file, before, after, want string }{
		{"a.rb", "def a\n  1\nend\nget '/api/x' do\n  2\nend\n", "def a\n  1\nend\nget '/api/x' do\n  3\nend\n", "get '/api/x'"},
		{"a.py", "import os\ndef f():\n    return 1\n\nasync def g():\n    pass\n", "import os\ndef f():\n    return 2\n\nasync def g():\n    pass\n", "f"},
		{"a.js", "const f = async (c) => {\n  return 1;\n};\napp.get('/x', h);\n", "const f = async (c) => {\n  return 2;\n};\napp.get('/x', h);\n", "f"},
		{"a.ts", "export class A {\n  async load(id: number): Promise<void> {\n    x();\n  }\n}\n", "export class A {\n  async load(id: number): Promise<void> {\n    y();\n  }\n}\n", "load"},
		{"a.php", "<?php\nclass H {\n  public function get($r) {\n    return 1;\n  }\n}\n", "<?php\nclass H {\n  public function get($r) {\n    return 2;\n  }\n}\n", "get"},
		{"a.rs", "pub async fn get(id: i64) -> i64 {\n    1\n}\n", "pub async fn get(id: i64) -> i64 {\n    2\n}\n", "get"},
		{"a.pl", "sub get_x {\n  1;\n}\n", "sub get_x {\n  2;\n}\n", "get_x"},
		{"a.java", "class A {\n  public int get(int x) {\n    return 1;\n  }\n}\n", "class A {\n  public int get(int x) {\n    return 2;\n  }\n}\n", "get"},
		{"a.go", "package a\nvar x = 1\nfunc f() {}\n", "package a\nvar x = 2\nfunc f() {}\nfunc g() {}\n", "g (new), var x"},
		{"bad.go", "package a\nfunc f() {\n  1\n", "package a\nfunc f() {\n  2\n", "f"},
	} {
		if got := strings.Join(functions(c.file, []byte(c.before), []byte(c.after)), ", "); got != c.want {
			t.Errorf("%s: %q, want %q", c.file, got, c.want)
		}
	}
}

// TestNormal: values of variables in the spellings of people and of servers.
func TestNormal(t *testing.T) {
	for _, same := range [][]string{{"128M", "134217728", "128m"}, {"ON", "1", "on", "true"}, {"OFF", "0"}, {"/var/lib/mysql", "/var/lib/mysql/"}, {"0.5", "0.500000"}, {"1G", "1024M"}} {
		for _, v := range same[1:] {
			if normal(v) != normal(same[0]) {
				t.Errorf("%q is %q, %q is %q", v, normal(v), same[0], normal(same[0]))
			}
		}
	}
	if normal("128M") == normal("129M") || normal("utf8mb4") != "utf8mb4" {
		t.Error("values that differ are alike")
	}
}

// FuzzMeaning: any two texts of any language are compared without a panic, and a text does
// not differ from itself.
func FuzzMeaning(f *testing.F) {
	f.Add("http { server { listen 80; } }", "http { }")
	f.Add("[mysqld]\nmax_connections=1\nskip-log-bin\n", "[mysqld]\nmax-connections = 2")
	f.Add("package a\nfunc f() {}\n", "package a\nfunc (x *T[K]) f() {}\n")
	f.Add("A=1\nexport B='2'\n", "A=\n#\n=\n")
	f.Add("CREATE TABLE `t` (\n  `id` int,\n  KEY `a` (`id`)\n) ENGINE=InnoDB\n", "")
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a)+len(b) > 20_000 {
			return
		}
		for _, name := range []string{"/etc/nginx/nginx.conf", "/etc/mysql/my.cnf", "/srv/app/main.go", "/srv/app/a.rb", "/srv/app/a.ts", "/srv/env.sh", "/etc/sysctl.conf", "/etc/cron.d/a", "/etc/systemd/system/app.service", "/etc/x", "/srv/sql/0_Schema.sql"} {
			base, now := newSite(), newSite()
			base.write(name, a)
			now.write(name, b)
			for _, s := range []*site{base, now} {
				s.service("db").Tables["isu.t"] = map[*site]string{base: a, now: b}[s]
			}
			edits := between(base, now, nil)
			if a == b && len(edits) > 0 {
				t.Fatalf("%s differs from itself: %+v", name, edits)
			}
			if a != b && len(edits) == 0 {
				t.Fatalf("%s: %q and %q do not differ", name, a, b)
			}
		}
	})
}

// TestOutlived: tables that are older than a run were not made anew by its initialize, so
// that an index stays, whatever the schema's file has.
func TestOutlived(t *testing.T) {
	base, last, now := newSite(), newSite(), newSite()
	now.service("db").Tables["isu.t"] = strings.Replace(now.service("db").Tables["isu.t"], "(`id`)", "(`id`),\n  KEY `by_a` (`a`)", 1)
	warned := func(other time.Time) bool {
		now.service("db").Created = map[string]time.Time{"isu.t": now.At, "isu.u": other}
		edits := between(base, now, last.State)
		if len(edits) != 1 {
			t.Fatalf("%+v", edits)
		}
		return edits[0].Warning == InitializeIt
	}
	if warned(last.At.Add(-time.Minute)) {
		t.Error("a warning, although another table is older than the run")
	}
	if !warned(last.At.Add(time.Minute)) {
		t.Error("no warning, although the run made the other table")
	}
}

// TestExchanged: another machine under the name of one is another state, and is told.
func TestExchanged(t *testing.T) {
	base, now := newSite(), newSite()
	base.Hosts[0].Machine = state.Machine{Identity: "a", Kernel: "6.1", Cores: 2, Memory: 4 << 30}
	now.Hosts[0].Machine = state.Machine{Identity: "b", Kernel: "6.1", Cores: 4, Memory: 4 << 30}
	if err := errors.Join(base.Fingerprinted(), now.Fingerprinted()); err != nil || base.Fingerprint == now.Fingerprint {
		t.Errorf("both states are %s, %v", base.Fingerprint, err)
	}
	edits := between(base, now, nil)
	if len(edits) != 1 || say(edits[0]) != "machine machine [another machine: its host key or machine-id is another one; cores 2 → 4]" {
		t.Errorf("%+v", edits)
	}
	base.Hosts[0].Machine = state.Machine{} // a state of before
	if edits := between(base, now, nil); len(edits) > 0 {
		t.Errorf("%+v", edits)
	}
}
