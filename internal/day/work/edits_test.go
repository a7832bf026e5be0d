package work_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/day/work"
	"github.com/iikanji/iikanji/internal/day/work/difference"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// planted is this machine with some folders of its own: what is below them lies below a
// folder of the test. Processes, servers and their files are real.
type planted struct {
	host.Local
	name string // "" for the first machine
	root string
	site string // folder of the site, which is on the first machine alone
}

func (p planted) Name() string { return p.name }

// A park are three machines of a site.
type park [3]planted

// elsewhere are what lies on the second and the third machine.
var elsewhere = [3][]string{nil, {"/home/isu/python/", "/home/isu/node/", "/var/lib/dpkg/"}, {"/home/isu/php/", "/proc/sys/", "/etc/sysctl.d/", "/var/spool/cron/", "/etc/cron.d/"}}

// of is the machine on which a path lies.
func (p park) of(path string) int {
	return max(0, slices.IndexFunc(elsewhere[:], func(dirs []string) bool {
		return slices.ContainsFunc(dirs, func(dir string) bool { return strings.HasPrefix(path, dir) })
	}))
}

func (p park) at(path string) string { return p[p.of(path)].at(path) }

// own are the folders, and the files, that the test has instead of the machine.
var own = []string{"/etc/", "/var/spool/cron", "/var/lib/dpkg/", "/proc/sys/", "/home/"}

func (p planted) at(path string) string {
	for _, dir := range own {
		if strings.HasPrefix(path+"/", dir) {
			return p.root + path
		}
	}
	if p.name != "" && strings.HasPrefix(path, p.site+"/") {
		return p.root + path
	}
	return path
}

func (p planted) Read(path string) ([]byte, error)           { return p.Local.Read(p.at(path)) }
func (p planted) Open(path string) (host.File, error)        { return p.Local.Open(p.at(path)) }
func (p planted) Stat(path string) (fs.FileInfo, error)      { return p.Local.Stat(p.at(path)) }
func (p planted) Lstat(path string) (fs.FileInfo, error)     { return p.Local.Lstat(p.at(path)) }
func (p planted) ReadDir(path string) ([]fs.DirEntry, error) { return p.Local.ReadDir(p.at(path)) }
func (p planted) Readlink(path string) (string, error)       { return p.Local.Readlink(p.at(path)) }
func (p planted) Hold(path string) (io.Closer, error)        { return p.Local.Hold(p.at(path)) }
func (p planted) RealPath(path string) (string, error) {
	real, err := p.Local.RealPath(p.at(path))
	return strings.TrimPrefix(real, p.root), err
}
func (p planted) Glob(pattern string) ([]string, error) {
	all, err := p.Local.Glob(p.at(pattern))
	for i := range all {
		all[i] = strings.TrimPrefix(all[i], p.root)
	}
	return all, err
}
func (p planted) Walk(root string, fn fs.WalkDirFunc) error {
	return p.Local.Walk(p.at(root), func(path string, d fs.DirEntry, err error) error { return fn(strings.TrimPrefix(path, p.root), d, err) })
}

// A hand is an edit by hand, with what iikanji work must say of it.
type hand struct {
	name  string
	do    func(f *ferry, p park)
	kind  difference.Kind
	place string // its end
	says  string // a part of what is said
	warns difference.Warning
}

// hands are 40 edits on three machines: directives, options, variables, indexes, sources in four languages,
// units, kernel values, environments, packages, crontabs, a program. The warnings of
// them are all there are.
func hands() []hand {
	put := func(name, text string) func(*ferry, park) {
		return func(f *ferry, p park) {
			full := p.at(strings.ReplaceAll(name, "@", f.dir))
			if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
				f.t.Fatal(err)
			}
			if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
				f.t.Fatal(err)
			}
		}
	}
	swap := func(name, old, new string) func(*ferry, park) {
		return func(f *ferry, p park) {
			full := p.at(strings.ReplaceAll(name, "@", f.dir))
			text, err := os.ReadFile(full)
			if err != nil || !strings.Contains(string(text), old) {
				f.t.Fatalf("%s has no %q: %v", full, old, err)
			}
			if err := os.WriteFile(full, []byte(strings.ReplaceAll(string(text), old, new)), 0o644); err != nil {
				f.t.Fatal(err)
			}
		}
	}
	sql := func(statement string) func(*ferry, park) { return func(f *ferry, _ park) { f.sql(statement) } }
	return []hand{
		// nginx; the reload is below.
		{"a directive", swap("@/conf/site-ferry.conf", "upstream counter {", "upstream counter { keepalive 16;"), difference.Directive, "site-ferry.conf", "upstream counter: keepalive 16", ""},
		{"a value", swap("@/conf/nginx.conf", "worker_connections 256", "worker_connections 512"), difference.Directive, "nginx.conf", "events: worker_connections 256 → 512", ""},
		{"a new site", put("@/conf/site-new.conf", "server { listen unix:/tmp/none.sock; }\n"), difference.Directive, "site-new.conf", "new file", ""},
		{"a file that is not included", put("@/conf/nginx/unused.conf", "gzip on;\n"), difference.Directive, "unused.conf", "gzip on", difference.NotLoaded},
		{"after the reload", put("@/conf/site-late.conf", "# late\nmap $uri $late { default 1; }\n"), difference.Directive, "site-late.conf", "new file", difference.NotLoaded},
		// The database.
		{"an option, not loaded", put("@/conf/my.cnf.d/a.cnf", "[mysqld]\ninnodb_log_file_size = 48M\n"), difference.Option, "a.cnf", "innodb_log_file_size 48M", difference.NotLoaded},
		{"an option and its variable", func(f *ferry, p park) {
			put("@/conf/my.cnf.d/b.cnf", "[mysqld]\nthread_cache_size = 33\n")(f, p)
			f.sql("SET GLOBAL thread_cache_size = 33")
		}, difference.Option, "b.cnf", "thread_cache_size 33", ""},
		{"a section of clients", put("@/conf/my.cnf.d/c.cnf", "[client]\nconnect_timeout = 3\n"), difference.Option, "c.cnf", "connect_timeout 3", ""},
		{"a variable", sql("SET GLOBAL max_connections = 222"), difference.Variable, "max_connections", "151 → 222", difference.AtRunTime},
		{"another variable", sql("SET GLOBAL innodb_flush_log_at_trx_commit = 2"), difference.Variable, "innodb_flush_log_at_trx_commit", "0 → 2", difference.AtRunTime},
		{"an index", sql("ALTER TABLE booking ADD INDEX by_crossing (crossing_id)"), difference.Table, "ferry.booking", "index by_crossing (crossing_id)", difference.InitializeIt},
		{"an index that the file has", func(f *ferry, p park) {
			f.sql("ALTER TABLE crossing ADD INDEX by_harbour (harbour)")
			swap("@/sql/schema.sql", "remark VARCHAR(200) NOT NULL", "remark VARCHAR(200) NOT NULL,\n  KEY by_harbour (harbour)")(f, p)
		}, difference.Table, "ferry.crossing", "index by_harbour (harbour)", ""},
		{"the file of it", func(*ferry, park) {}, difference.Other, "sql/schema.sql", "table crossing", ""},
		{"a new table", sql("CREATE TABLE extra (id INT PRIMARY KEY)"), difference.Table, "ferry.extra", "new table", ""},
		{"a dropped column", sql("ALTER TABLE wide DROP COLUMN b"), difference.Table, "ferry.wide", "− column b", ""},
		// Sources.
		{"Go, not built", swap("@/app/main.go", "LIMIT 3", "LIMIT 2"), difference.Source, "main.go", "harbour", difference.NotBuilt},
		{"a Go test", put("@/app/main_test.go", "package main\nfunc helper() {}\n"), difference.Source, "main_test.go", "helper (new)", ""},
		{"Ruby", swap("/home/isu/ruby/app.rb", "1", "2"), difference.Source, "app.rb", "get '/x'", difference.NotLoaded},
		{"Python", swap("/home/isu/python/app.py", "1", "2"), difference.Source, "app.py", "view", difference.NotLoaded},
		{"Node", swap("/home/isu/node/app.js", "1", "2"), difference.Source, "app.js", "handler", difference.NotLoaded},
		{"PHP, which reads at each request", swap("/home/isu/php/index.php", "1", "2"), difference.Source, "index.php", "show", ""},
		{"a template", put("/home/isu/ruby/views/a.html", "<p>\n"), difference.Source, "a.html", "new file", ""},
		// Units.
		{"a drop-in", put("/etc/systemd/system/isu-ruby.service.d/limits.conf", "[Service]\nLimitNOFILE=65536\n"), difference.Unit, "limits.conf", "LimitNOFILE 65536", difference.NotLoaded},
		{"a unit of nobody", put("/etc/systemd/system/other.service", "[Service]\nExecStart=/bin/true\n"), difference.Unit, "system/other.service", "ExecStart /bin/true", ""},
		{"enabled", func(f *ferry, p park) {
			name := p.at("/etc/systemd/system/multi-user.target.wants/other.service")
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				f.t.Fatal(err)
			}
			if err := os.Symlink("../other.service", name); err != nil {
				f.t.Fatal(err)
			}
		}, difference.Unit, "multi-user.target.wants/other.service", "enabled at boot", ""},
		// The kernel.
		{"a kernel value", put("/proc/sys/net/core/somaxconn", "65535\n"), difference.Sysctl, "net.core.somaxconn", "4096 → 65535", difference.AtRunTime},
		{"a kernel value in a file only", put("/etc/sysctl.d/60-a.conf", "vm.swappiness = 1\n"), difference.Sysctl, "60-a.conf", "vm.swappiness 1", difference.NotLoaded},
		{"a kernel value in both", func(f *ferry, p park) {
			put("/etc/sysctl.d/61-b.conf", "fs.file-max = 100000\n")(f, p)
			put("/proc/sys/fs/file-max", "100000\n")(f, p)
		}, difference.Sysctl, "61-b.conf", "fs.file-max 100000", ""},
		// Environments.
		{"a variable of an env file", swap("/home/isu/env.sh", "DEBUG=1", "DEBUG=0"), difference.Environment, "env.sh", "DEBUG", ""},
		{"a dotenv file", put("/home/isu/node/.env", "A=1\n"), difference.Environment, "node/.env", "A (new)", difference.NotLoaded},
		{"defaults", put("/etc/default/isu", "OPTS=-x\n"), difference.Environment, "default/isu", "OPTS (new)", ""},
		// Packages.
		{"packages", put("/var/lib/dpkg/status", "Package: nginx\nStatus: install ok installed\nVersion: 1.24\n\nPackage: redis\nStatus: install ok installed\nVersion: 7\n"), difference.Package, "nginx", "1.22 → 1.24", ""},
		{"a package", func(*ferry, park) {}, difference.Package, "redis", "7 installed", ""},
		// Crontabs.
		{"root's crontab", put("/var/spool/cron/crontabs/root", "* * * * * /usr/local/bin/backup --token x\n"), difference.Crontab, "crontabs/root", "/usr/local/bin/backup", ""},
		{"a file of cron.d", put("/etc/cron.d/job", "0 3 * * * isu /home/isu/clean.sh\n"), difference.Crontab, "cron.d/job", "0 3 * * * isu", ""},
		// Others.
		{"resolver", put("/etc/resolv.conf", "nameserver 10.0.0.2\n"), difference.Other, "resolv.conf", "nameserver 10.0.0.1 → 10.0.0.2", ""},
		{"hosts", put("/etc/hosts", "127.0.0.1 localhost\n10.0.0.13 db\n"), difference.Other, "/etc/hosts", "10.0.0.13 db", ""},
		{"a mode", func(f *ferry, p park) {
			if err := os.Chmod(p.at("/etc/app.conf"), 0o600); err != nil {
				f.t.Fatal(err)
			}
		}, difference.Other, "app.conf", "mode 0644 → 0600", ""},
		{"a key", put("/etc/nginx/tls/site.key", "another key\n"), difference.Other, "site.key", "content", ""},
		{"logrotate", put("/etc/logrotate.d/nginx", "/var/log/nginx/*.log {\n  daily\n}\n"), difference.Other, "logrotate.d/nginx", "new file", ""},
		{"a program", func(f *ferry, _ park) {
			if err := os.WriteFile(filepath.Join(f.dir, "bin", "sleeper"), []byte("other"), 0o755); err != nil && !strings.Contains(err.Error(), "busy") {
				f.t.Fatal(err)
			}
			text, err := os.ReadFile("/bin/sleep")
			if err == nil {
				err = os.WriteFile(filepath.Join(f.dir, "bin", "sleeper.new"), append(text, '\n'), 0o755)
			}
			if err == nil {
				err = os.Rename(filepath.Join(f.dir, "bin", "sleeper.new"), filepath.Join(f.dir, "bin", "sleeper"))
			}
			if err != nil {
				f.t.Fatal(err)
			}
		}, difference.Program, "bin/sleeper", "another program", difference.NotLoaded},
	}
}

// sleeper starts a process that stands for an app, with an environment.
func sleeper(t *testing.T, program string, env ...string) int {
	t.Helper()
	cmd := exec.Command(program, "600")
	cmd.Env = env
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _, _ = cmd.Process.Wait() })
	return cmd.Process.Pid
}

// TestEditsByHand makes the edits of hands on a site with a real nginx, MariaDB and Go app:
// each is named, with its warning or without one, nothing else is, and two states without
// an edit between them are equal.
func TestEditsByHand(t *testing.T) {
	tier.Slow(t)
	s := startFerry(t)
	f := openFerry(t, s.Dir, s.URL, t.TempDir())
	p := park{{root: t.TempDir()}, {name: "app2", root: t.TempDir(), site: s.Dir}, {name: "db", root: t.TempDir(), site: s.Dir}}
	for name, text := range map[string]string{"/home/isu/ruby/app.rb": "get '/x' do\n  1\nend\n", "/home/isu/python/app.py": "def view():\n    return 1\n", "/home/isu/node/app.js": "const handler = () => {\n  return 1;\n};\n",
		"/home/isu/php/index.php": "<?php\nfunction show() {\n  return 1;\n}\n", "/home/isu/env.sh": "DEBUG=1\nPASSWORD=tide-9\n", "/etc/resolv.conf": "nameserver 10.0.0.1\n", "/etc/hosts": "127.0.0.1 localhost\n",
		"/etc/app.conf": "a = 1\n", "/etc/nginx/tls/site.key": "a key\n", "/proc/sys/net/core/somaxconn": "4096\n", "/proc/sys/vm/swappiness": "60\n", "/proc/sys/fs/file-max": "9000\n", "/var/spool/cron/crontabs/isu": "",
		"/var/lib/dpkg/status": "Package: nginx\nStatus: install ok installed\nVersion: 1.22\n", "/etc/systemd/system/isu-ruby.service": "[Service]\nEnvironmentFile=/home/isu/env.sh\n"} {
		full := p.at(name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range p {
		if err := errors.Join(os.MkdirAll(m.at("/etc"), 0o755), os.WriteFile(m.at("/etc/hostname"), []byte(m.name+"\n"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile("/bin/sleep")
	if err == nil {
		err = os.WriteFile(filepath.Join(s.Dir, "bin", "sleeper"), text, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	f.sql("CREATE TABLE wide (a INT PRIMARY KEY, b INT)")
	pids := map[string]int{}
	for name, program := range map[string]string{"ruby": "/bin/sleep", "python": "/bin/sleep", "node": "/bin/sleep", "php": "/bin/sleep", "rust": filepath.Join(s.Dir, "bin", "sleeper")} {
		pids[name] = sleeper(t, program, "DEBUG=0", "PASSWORD=tide-9")
	}
	site := *f.subject.Site()
	site.Hosts = map[string]host.Host{}
	for _, m := range p {
		site.Hosts[m.name] = m
	}
	site.Target = f.subject.Target()
	site.Services = map[string]change.Service{}
	for name, svc := range f.subject.Site().Services {
		site.Services[name] = svc
	}
	for _, name := range []string{"ruby", "python", "node", "php", "rust"} {
		unit := ""
		if name == "ruby" {
			unit = "isu-ruby.service"
		}
		on := p[p.of("/home/isu/"+name+"/")].name
		site.Target.Services = append(slices.Clone(site.Target.Services), iikanji.Service{Name: name, Role: iikanji.RoleApp, Engine: iikanji.Engine(name), Host: on, PIDs: []int{pids[name]}, Unit: unit})
		site.Services[name] = change.Service{Host: on, Source: "/home/isu/" + name}
	}
	f.day.Site, f.day.Folders = &site, []string{"/etc", "/var/spool/cron", filepath.Join(s.Dir, "conf")}
	time.Sleep(200 * time.Millisecond)
	look := func() *work.Base {
		t.Helper()
		st, err := f.day.Look(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return &work.Base{State: st}
	}
	base, again := look(), look()
	if edits, err := f.day.Edits(base.State, again.State); err != nil || len(edits) > 0 || base.Fingerprint != again.Fingerprint {
		t.Fatalf("two states without an edit between them differ: %+v %v", edits, err)
	}
	all := hands()
	for _, h := range all {
		if h.name == "after the reload" {
			f.reload()
			time.Sleep(200 * time.Millisecond)
		}
		h.do(f, p)
	}
	now := look()
	edits, err := f.day.Edits(base.State, now.State)
	if err != nil {
		t.Fatal(err)
	}
	used := make([]bool, len(edits))
	warned, on := 0, map[string]int{}
	for _, h := range all {
		i := slices.IndexFunc(edits, func(e difference.Edit) bool { return e.Kind == h.kind && strings.HasSuffix(e.Place, h.place) })
		if i < 0 {
			t.Errorf("%s is not named", h.name)
			continue
		}
		used[i] = true
		if h.warns != "" {
			warned++
		}
		if e := edits[i]; !strings.Contains(strings.Join(e.Names, "; "), h.says) || e.Warning != h.warns || !e.ByHand {
			t.Errorf("%s: %s, want %q %s", h.name, work.Line(e), h.says, h.warns)
		}
	}
	for i, e := range edits {
		if !used[i] {
			t.Errorf("nobody made %s (%s)", work.Line(e), e.Kind)
		}
		if strings.Contains(work.Line(e), "tide-9") || strings.Contains(work.Line(e), "--token") {
			t.Errorf("a secret is shown: %s", work.Line(e))
		}
	}
	for _, e := range edits {
		on[e.Host]++
	}
	t.Logf("%d edits, %d of them with a warning; by machine %v", len(all), warned, on)
	if len(all) < 40 || warned < 12 || len(on) != 3 {
		t.Errorf("%d edits with %d warnings: the test proves too little", len(all), warned)
	}
	later := look()
	if later.Fingerprint != now.Fingerprint {
		t.Error("two states after the edits differ")
	}
}
