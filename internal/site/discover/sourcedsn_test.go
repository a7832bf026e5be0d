package discover

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/target"
	"github.com/iikanji/iikanji/internal/site/targettest"
)

// written writes files below a new folder.
func written(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const nodeApp = `const pool = require('mysql2').createPool({
  host: process.env.DB_ADDRESS || '127.0.0.1', port: 3399,
  user: process.env.WHO ?? 'shop', password: process.env.WORD || 'in-source', database: 'shop',
});
`

// asked is a search with one service in Node that works in a folder.
func asked(dir string, env ...string) (*search, *service) {
	svc := &service{Service: target.Service{Name: "app", Role: iikanji.RoleApp, Engine: iikanji.EngineNode},
		proc: &process.Process{Dir: dir, Program: "/usr/bin/node", Args: []string{"node", "server.js"}}, env: env}
	s := &search{host: host.Local{}, m: &process.Machine{}, out: &Found{File: &target.File{}, Notes: map[string]string{}}, byPID: map[int]*service{}, order: []*service{svc}}
	return s, svc
}

// TestSourceDSN: the process's environment goes before an env file, and this before the
// source; the password has a reference to where it is.
func TestSourceDSN(t *testing.T) {
	for name, c := range map[string]struct {
		files    map[string]string
		env      []string
		password string
		ref      string // DIR is the folder
	}{
		"the source":          {map[string]string{"server.js": nodeApp}, nil, "in-source", "source:DIR/server.js"},
		"an env file":         {map[string]string{"server.js": nodeApp, ".env": "WORD='in-file'\n"}, nil, "in-file", "file:DIR/.env:WORD"},
		"the process":         {map[string]string{"server.js": nodeApp, ".env": "WORD=in-file\n"}, []string{"WORD=in-process"}, "in-process", "process:app:WORD"},
		"compose":             {map[string]string{"server.js": nodeApp, "compose.yaml": "services:\n  app:\n    environment:\n      WORD: in-compose\n"}, nil, "in-compose", ""},
		"a URL":               {map[string]string{"server.js": "mysql.createPool(process.env.DB)"}, []string{"DB=mysql://shop:in-url@127.0.0.1:3399/shop"}, "in-url", "dsn:app:DB"},
		"two variables in it": {map[string]string{"server.js": "mysql.createPool({ host: '127.0.0.1', port: 3399, user: 'shop', database: 'shop', password: process.env.A + process.env.B })"}, []string{"A=one", "B=two"}, "onetwo", ""},
	} {
		t.Run(name, func(t *testing.T) {
			c.files["package.json"] = "{}"
			dir := written(t, c.files)
			s, svc := asked(dir, c.env...)
			s.source(svc)
			if len(svc.dsns) == 0 {
				t.Fatalf("nothing was found; asks %q", svc.asks)
			}
			d := svc.dsns[0]
			if d.address != "127.0.0.1:3399" || d.user != "shop" || d.schema != "shop" || d.password != c.password || !strings.HasPrefix(d.where, "source "+dir+"/server.js:1") {
				t.Errorf("%+v", d)
			}
			if want := strings.ReplaceAll(c.ref, "DIR", dir); string(d.ref) != want {
				t.Errorf("the reference is %q, want %q", d.ref, want)
			}
			if strings.Contains(d.where, c.password) {
				t.Errorf("a secret is in %q", d.where)
			}
		})
	}
}

// TestSourceQuestion: what cannot be known becomes a question with its place.
func TestSourceQuestion(t *testing.T) {
	dir := written(t, map[string]string{"package.json": "{}", "lib/db.js": "\nmysql.createPool({ host: process.env.DB_ADDRESS, user: 'u', password: 'hush-7' })\n"})
	s, svc := asked(dir)
	s.source(svc)
	s.questions()
	if len(s.out.Todo) != 1 || !strings.Contains(s.out.Todo[0], filepath.Join(dir, "lib/db.js")+":2") || !strings.Contains(s.out.Todo[0], "DB_ADDRESS") || strings.Contains(s.out.Todo[0], "hush-7") {
		t.Errorf("%q", s.out.Todo)
	}
	s.out.Todo = nil
	silent, other := asked(written(t, map[string]string{"package.json": "{}", "db.js": "module.exports = connect\n"}))
	silent.order = append(silent.order, &service{Service: target.Service{Name: "db", Role: iikanji.RoleDatabase}})
	silent.source(other)
	if silent.questions(); len(silent.out.Todo) != 1 || !strings.Contains(silent.out.Todo[0], "the app's database was not found in its environment") {
		t.Errorf("with source that says nothing: %q", silent.out.Todo)
	}
	svc.reached = true
	if s.questions(); len(s.out.Todo) != 0 {
		t.Errorf("with a database that answers: %q", s.out.Todo)
	}
}

// TestSourceBounds: no link leads out of the source, and a large file is not read.
func TestSourceBounds(t *testing.T) {
	outside := written(t, map[string]string{"db.js": nodeApp})
	dir := written(t, map[string]string{"package.json": "{}", "large.js": nodeApp + strings.Repeat("/", maxSource)})
	for from, to := range map[string]string{"link.js": "db.js", "folder": ""} {
		if err := os.Symlink(filepath.Join(outside, to), filepath.Join(dir, from)); err != nil {
			t.Fatal(err)
		}
	}
	s, svc := asked(dir)
	if s.source(svc); len(svc.dsns) != 0 {
		t.Errorf("found %+v", svc.dsns)
	}
}

// TestSourcePassword: a reference to a source file is read without variables, and an old
// one to a file with only a text of a DSN still holds.
func TestSourcePassword(t *testing.T) {
	dir := written(t, map[string]string{"package.json": "{}", "db.js": nodeApp, "words.js": "exports.word = 'w'\n", "lib/db.js": "const c = require('../words')\nmysql.createPool({ host: 'h', user: 'u', password: c.word })\n",
		"old.go": "// shop:old@tcp(h:1)/x\n"})
	for name, want := range map[string]string{"db.js": "in-source", "lib/db.js": "w", "old.go": "old"} {
		if got, ok := SourcePassword(host.Local{}, filepath.Join(dir, name)); !ok || got != want {
			t.Errorf("%s: %q, %v; want %q", name, got, ok, want)
		}
	}
	if got, ok := SourcePassword(host.Local{}, filepath.Join(dir, "none.js")); ok {
		t.Errorf("a file that is not there has %q", got)
	}
}

// TestPHPSource finds the source of a php-fpm below the root of its web server.
func TestPHPSource(t *testing.T) {
	dir := written(t, map[string]string{"public/index.php": "<?php require '../db.php';", "db.php": "<?php\n$pdo = new PDO('mysql:host=127.0.0.1;port=3399;dbname=shop', 'shop', 'pw');\n"})
	s, svc := asked("/")
	svc.Engine, svc.proc.Program = "", "/usr/sbin/php-fpm8.2"
	web := &service{Service: target.Service{Name: "web", Role: iikanji.RoleWeb, Public: filepath.Join(dir, "public")}}
	s.order = append([]*service{web}, s.order...)
	if s.source(svc); len(svc.dsns) != 1 || svc.dsns[0].address != "127.0.0.1:3399" || string(svc.dsns[0].ref) != "source:"+filepath.Join(dir, "db.php") {
		t.Errorf("%+v", svc.dsns)
	}
}

func TestEnvironmentFiles(t *testing.T) {
	got := environmentFiles("[Service]\nEnvironmentFile=/a/b.env\n# EnvironmentFile=/no\nEnvironmentFile=-/c/../d.env\nEnvironmentFile=relative\nEnvironmentFile=/x/*.env\n")
	if !slices.Equal(got, []string{"/d.env", "/a/b.env"}) {
		t.Errorf("%q", got)
	}
	if got := environmentFiles("EnvironmentFile=/a\nEnvironmentFile=\n"); len(got) != 0 {
		t.Errorf("after a reset: %q", got)
	}
}

// TestAskSource asks about a site whose app makes its connection in the source of
// variables with names of its own, beside a larger schema of another site.
func TestAskSource(t *testing.T) {
	tier.Slow(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	site, err := targettest.Start(ctx,
		targettest.Edit{File: "app/main.go", Old: `_ "github.com/go-sql-driver/mysql"`, New: `"github.com/go-sql-driver/mysql"`},
		targettest.Edit{File: "app/main.go", Old: `os.Getenv("FERRY_DSN")`, New: "connection()"},
		targettest.Edit{File: "app/main.go", Old: "func tidy(", New: `func setting(name, fallback string) string {
	if v, ok := os.LookupEnv(name); ok {
		return v
	}
	return fallback
}

func connection() string {
	c := mysql.NewConfig()
	c.User, c.Passwd, c.DBName = setting("CAPTAIN", "ferryman"), setting("WORD", "none"), setting("LOGBOOK", "ferry")
	c.Net, c.Addr, c.ParseTime = "unix", setting("PIER", "/run/none.sock"), true
	return c.FormatDSN()
}

func tidy(`},
		targettest.Edit{File: "start.sh", Old: `FERRY_DSN="ferryman:tide-9-secret@unix($dir/run/db.sock)/ferry?parseTime=true"` + "\nexport FERRY_DSN",
			New: "mariadb --no-defaults -S run/db.sock -e 'CREATE DATABASE other; CREATE TABLE other.t (a LONGTEXT); INSERT INTO other.t SELECT REPEAT(\"x\", 9000000)'\n" +
				`PIER="$dir/run/db.sock" WORD=tide-9-secret` + "\nexport PIER WORD"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := site.Stop(); err != nil {
			t.Error(err)
		}
	}()
	found, err := Ask(ctx, host.Local{}, Options{URL: site.URL, Bench: "./load", Self: os.Getpid()})
	if err != nil {
		t.Fatal(err)
	}
	text := found.Text()
	i := slices.IndexFunc(found.File.Services, func(s target.Service) bool { return s.Engine == iikanji.EngineMariaDB })
	if i < 0 || found.File.Services[i].Database.Schema != "ferry" || found.File.Services[i].Socket != filepath.Join(site.Dir, "run", "db.sock") {
		t.Errorf("the database:\n%s", text)
	}
	if len(found.Todo) != 0 {
		t.Errorf("to do: %q", found.Todo)
	}
	if all, err := json.Marshal(found); err != nil || strings.Contains(string(all)+text, targettest.Secret) {
		t.Errorf("a secret is in the output (%v)", err)
	}
	p, err := process.ReadProcess(host.Local{}, site.PID("counter"))
	if err != nil {
		t.Fatal(err)
	}
	env, err := process.Env(host.Local{}, p.PID)
	if err != nil {
		t.Fatal(err)
	}
	s, svc := asked(p.Dir, env...)
	svc.Engine, svc.proc = iikanji.EngineGo, p
	s.sourceDSN(svc, filepath.Join(site.Dir, "app"), sources[iikanji.EngineGo])
	want := dsn{address: filepath.Join(site.Dir, "run", "db.sock"), user: "ferryman", password: targettest.Secret, schema: "ferry", ref: "process:app:WORD"}
	if len(svc.dsns) != 1 {
		t.Fatalf("%d DSNs of the running process", len(svc.dsns))
	}
	got := svc.dsns[0]
	if got.where = ""; got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
