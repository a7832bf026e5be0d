package discover

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/target"
	"github.com/iikanji/iikanji/internal/site/targettest"
)

func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, sub := range []string{"conf", "app", "sql", "public", "run"} {
		err := filepath.Walk(filepath.Join(dir, sub), func(path string, info os.FileInfo, err error) error {
			if err != nil || !info.Mode().IsRegular() {
				return err
			}
			b, err := os.ReadFile(path)
			out[path] = info.Mode().String() + info.ModTime().String() + string(b)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestAsk asks the machine about a running site and expects every service found,
// nothing changed, no secret anywhere, and the benchmark alone left to fill in.
func TestAsk(t *testing.T) {
	tier.Slow(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	site, err := targettest.Start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := site.Stop(); err != nil {
			t.Error(err)
		}
	}()
	before := files(t, site.Dir)
	found, err := Ask(ctx, host.Local{}, Options{URL: site.URL + "/harbour/x", Self: os.Getpid()})
	if err != nil {
		t.Fatal(err)
	}
	text := found.Text()
	after := files(t, site.Dir)
	for path := range after {
		if before[path] != after[path] {
			t.Errorf("%s was changed", path)
		}
	}
	if all, err := json.Marshal(found); err != nil || strings.Contains(string(all)+text, targettest.Secret) {
		t.Errorf("a secret is in the output (%v)", err)
	}
	if len(found.Todo) != 1 || !strings.Contains(found.Todo[0], "[bench]") {
		t.Errorf("to fill in: %q", found.Todo)
	}
	path := filepath.Join(site.Dir, target.Name)
	f, err := target.Parse(path, []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if f.URL != site.URL || len(f.Services) != 4 {
		t.Fatalf("%s, %d services:\n%s", f.URL, len(f.Services), text)
	}
	one := func(role iikanji.Role, engine iikanji.Engine, listens bool) target.Service {
		i := slices.IndexFunc(f.Services, func(s target.Service) bool {
			return s.Role == role && s.Engine == engine && (s.Listen+s.Socket != "") == listens
		})
		if i < 0 {
			t.Fatalf("no %s %s in\n%s", role, engine, text)
		}
		return f.Services[i]
	}
	in := func(names ...string) string { return filepath.Join(append([]string{site.Dir}, names...)...) }
	web, app := one(iikanji.RoleWeb, iikanji.EngineNginx, true), one(iikanji.RoleApp, iikanji.EngineGo, true)
	job, db := one(iikanji.RoleApp, iikanji.EngineGo, false), one(iikanji.RoleDatabase, iikanji.EngineMariaDB, true)
	switch {
	case web.Config != in("conf", "nginx.conf") || web.Logs.Access != in("log", "access.log") || web.Logs.Error != in("log", "nginx-error.log") || web.PIDFile != in("run", "nginx.pid"):
		t.Errorf("nginx: %+v", web)
	case app.Program != in("bin", "ferry") || app.App.Source != in("app") || app.App.Package != "" || app.PIDFile != in("run", "counter.pid"):
		t.Errorf("the app: %+v", app)
	case job.Arguments != "tidy" || job.App.Source != in("app"):
		t.Errorf("the job: %+v", job)
	case db.Socket != in("run", "db.sock") || db.Config != in("conf", "my.cnf") || db.DropIn != in("conf", "my.cnf.d", "zz-iikanji.cnf") || db.Database.Schema != "ferry":
		t.Errorf("the database: %+v", db)
	case !slices.Equal(db.Database.Loads, []string{in("sql")}) || filepath.Dir(db.Logs.Slow) != in("data"):
		t.Errorf("the database's files: %+v", db)
	}
	for _, folder := range []string{in("conf"), in("app"), in("sql")} {
		if !slices.Contains(f.Policy.Folders, folder) {
			t.Errorf("%s is not among %q", folder, f.Policy.Folders)
		}
	}
	if !strings.Contains(text, "# FILL IN: the command") {
		t.Errorf("no place for the benchmarker in\n%s", text)
	}
	if found, err = Ask(ctx, host.Local{}, Options{URL: site.URL, Bench: "./load", Self: os.Getpid()}); err != nil || len(found.Todo) != 0 || found.File.Bench.Command != "./load" {
		t.Errorf("with the benchmarker: %v, %q", err, found.Todo)
	}
	t.Log("\n" + text)
}

func TestAskNobody(t *testing.T) {
	var nobody *NobodyError
	if _, err := Ask(t.Context(), host.Local{}, Options{URL: "http://127.0.0.1:1"}); !errors.As(err, &nobody) || len(nobody.Hints()) == 0 {
		t.Errorf("an address without a process: %v", err)
	}
}

func TestParseDSN(t *testing.T) {
	for text, want := range map[string]dsn{
		"shop:pw@tcp(127.0.0.1:3306)/shop?parseTime=true": {address: "127.0.0.1:3306", user: "shop", password: "pw", schema: "shop"},
		"shop@unix(/run/s.sock)/shop":                     {address: "/run/s.sock", user: "shop", schema: "shop"},
		"mysql://u:p%40x@db.local/shop":                   {address: "db.local:3306", user: "u", password: "p@x", schema: "shop"},
		"mysql2://u@127.0.0.1:3307/a":                     {address: "127.0.0.1:3307", user: "u", schema: "a"},
		"http://u:p@x/y":                                  {},
		"/usr/bin/env":                                    {},
		"a sentence with a / in it":                       {},
	} {
		if d, ok := parseDSN(text); d != want || ok != (want != dsn{}) {
			t.Errorf("%s: %+v, %v", text, d, ok)
		}
	}
}

func TestComposed(t *testing.T) {
	ref := func(name string) target.Ref { return target.Ref("env:" + name) }
	d, ok := composed(map[string]string{"ISUCON13_MYSQL_DIALCONFIG_ADDRESS": "127.0.0.1", "ISUCON13_MYSQL_DIALCONFIG_PORT": "3307", "ISUCON13_MYSQL_DIALCONFIG_USER": "isu",
		"ISUCON13_MYSQL_DIALCONFIG_PASSWORD": "x", "ISUCON13_MYSQL_DIALCONFIG_DATABASE": "pipe", "PATH": "/bin"}, ref)
	if !ok || d.address != "127.0.0.1:3307" || d.user != "isu" || d.schema != "pipe" || d.ref != "env:ISUCON13_MYSQL_DIALCONFIG_PASSWORD" {
		t.Errorf("%+v, %v", d, ok)
	}
	if _, ok := composed(map[string]string{"DB_NAME": "x", "USER": "root"}, ref); ok {
		t.Error("a DSN without a host")
	}
}

func TestDSNInSource(t *testing.T) {
	user, password, address, schema, ok := DSNInSource("x := 1\ndb, _ := sql.Open(\"mysql\", \"shop:s3@tcp(localhost:3306)/shop?x=y\")")
	if !ok || user != "shop" || password != "s3" || address != "localhost:3306" || schema != "shop" {
		t.Error(user, password, address, schema, ok)
	}
	if _, _, _, _, ok := DSNInSource("nothing here: a@b(c)/d"); ok {
		t.Error("found a DSN where there is none")
	}
}

// FuzzDSN expects no text to stop the readers of hostile input.
func FuzzDSN(f *testing.F) {
	f.Add("shop:pw@tcp(127.0.0.1:3306)/shop")
	f.Fuzz(func(t *testing.T, text string) {
		parseDSN(text)
		DSNInSource(text)
	})
}
