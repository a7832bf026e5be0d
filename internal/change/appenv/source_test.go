package appenv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// sourceSite returns an application that is only compiled.
func sourceSite(t *testing.T, files map[string]string, env ...string) *change.Site {
	t.Helper()
	dir := t.TempDir()
	source := filepath.Join(dir, "src")
	all := map[string]string{"go.mod": moduleFile(t, "go.mod"), "go.sum": moduleFile(t, "go.sum")}
	for name, text := range files {
		all[name] = text
	}
	for name, text := range all {
		path := filepath.Join(source, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return &change.Site{
		Roots:    []string{dir},
		Target:   iikanji.Target{Services: []iikanji.Service{{Name: "database", Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB, Socket: "/run/db.sock"}}},
		Services: map[string]change.Service{"app": {EnvFile: filepath.Join(dir, "app.env"), Env: env, Source: source, Builds: true, Running: changetest.Running{OnBuild: compile}}},
	}
}

// moduleFile returns a module file of the sources in these tests.
func moduleFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "sources", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// compile does the same as a Service's Build.
func compile(ctx context.Context, dir string) error {
	cmd := exec.CommandContext(ctx, "go", "list", "-export", "-f", `{{""}}`, "-mod=readonly", "-buildvcs=false", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

func remedy(args map[string]string) iikanji.Remedy {
	return iikanji.Remedy{Kind: "appenv", Target: "app", Args: args}
}

// edited applies a change's files to a copy in memory: path → text.
func edited(c *iikanji.Change) map[string]string {
	texts := map[string]string{}
	for _, op := range c.Do {
		if op.Verb == iikanji.Write {
			texts[filepath.Base(op.Place)] = op.Body
		}
	}
	return texts
}

// Sources in common styles. <old|new> marks each edit; all other bytes must
// stay.
var shapes = []struct {
	name, args string
	text       string
}{
	{"format", "dsn=interpolateParams=true", `package main

import (
	"fmt"
	"os"

	_ "github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"
)

func main() {
	dsn := fmt.Sprintf("%v:%v@tcp(%v:%v)/%v?<|interpolateParams=true&>parseTime=true&loc=Asia%%2FTokyo", os.Getenv("U"), os.Getenv("P"), os.Getenv("H"), 3306, "db")
	db, err := sqlx.Connect("mysql", dsn)
	if err != nil {
		panic(err)
	}
	db.SetMaxOpenConns(10) // the contest's
}
`},
	{"format with a socket", "dsn=interpolateParams=true&socket", `package main

import (
	"fmt"
	"os"

	"github.com/jmoiron/sqlx"
)

func main() {
	host := os.Getenv("H")
	sqlx.MustConnect("mysql", fmt.Sprintf("%s:%s@<tcp(%s:%d)|unix(/run/db.sock)>/%<|[5]>s?<|interpolateParams=true&>charset=utf8mb4&x=%s", os.Getenv("U"), os.Getenv("P"), host, 3306, "db", "1"))
}
`},
	{"constant", "dsn=interpolateParams=true&maxAllowedPacket=0&socket", "package main\n\nimport \"database/sql\"\n\n" +
		"const dsn = `me:p?ss@<tcp(127.0.0.1:3306)|unix(/run/db.sock)>/db<|?interpolateParams=true&maxAllowedPacket=0>`\n\n" +
		"func main() { db, _ := sql.Open(\"mysql\", dsn); _ = db }\n"},
	{"other value", "dsn=interpolateParams=true", `package main

var dsn = "me@tcp(db:3306)/db?parseTime=true&interpolateParams=<false|true>&loc=Local"

func main() { _ = dsn }
`},
	{"short form", "dsn=interpolateParams=true&socket", `package main

import "database/sql"

func main() {
	_, _ = sql.Open("mysql", "me:secret@<|unix(/run/db.sock)>/db<|?interpolateParams=true>")
	_, _ = sql.Open("sqlite3", "/db")
}
`},
	{"concatenation", "dsn=interpolateParams=true", `package main

import "os"

func main() {
	a := os.Getenv("U") + ":" + os.Getenv("P") + "@tcp(" + os.Getenv("H") + ":3306)/" + os.Getenv("D") + "?<|interpolateParams=true&>loc=" + os.Getenv("L")
	b := "me@tcp(" + os.Getenv("H") + ")/" + os.Getenv("D")<| + "?interpolateParams=true">
	_, _ = a, b
}
`},
	{"new config", "dsn=interpolateParams=true&maxAllowedPacket=0&socket", `package main

import (
	"net"
	"os"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"
)

func main() {
	c := mysql.NewConfig()<|
	c.InterpolateParams = true>
	c.Net = "tcp"
	c.MaxAllowedPacket = <4 * 1024|0>
	if host := os.Getenv("H"); host != "" {
		c.Addr = net.JoinHostPort(host, "3306")
	}<|
	c.Net, c.Addr = "unix", "/run/db.sock">
	db, err := sqlx.Open("mysql", c.FormatDSN())
	_, _ = db, err
}
`},
	{"config literal", "dsn=interpolateParams=true&socket", `package main

import my "github.com/go-sql-driver/mysql"

func main() {
	host := "h"
	conf := my.Config{
		<|InterpolateParams: true,
		>User: "me",
		Net:  "tcp",
		Addr: host + ":3306",
	}<|
	conf.Net, conf.Addr = "unix", "/run/db.sock">
	_ = conf.FormatDSN()
}
`},
	{"config literals", "dsn=interpolateParams=true&socket", `package main

import "github.com/go-sql-driver/mysql"

var one = mysql.Config{<|InterpolateParams: true, >User: "me", Net: <"tcp"|"unix">, Addr: <"h:3306"|"/run/db.sock">}

func two() *mysql.Config { return &mysql.Config{InterpolateParams: <false|true>, Net: <"tcp"|"unix">, Addr: <"h:3306"|"/run/db.sock">} }

func main() { _, _ = one.FormatDSN(), two() }
`},
	{"pool", "pool=40", `package main

import "database/sql"

func main() {
	db, err := sql.Open("mysql", "/")
	if err != nil {
		panic(err)
	}
	db.SetMaxOpenConns(<10|40>) // the contest's<|
	db.SetMaxIdleConns(40)>
	other, _ := sql.Open("mysql", "/")
	other.SetMaxIdleConns(<5|40>); other.SetMaxOpenConns(<20|40>)
	third, _ := sql.Open("mysql", "/")
	third.SetMaxOpenConns(<20|40>); third.SetMaxIdleConns(50)
}
`},
	{"a higher or computed limit", "pool=8", `package main

import "database/sql"

func main() {
	db, _ := sql.Open("mysql", "/")
	db.SetMaxOpenConns(30)<|
	db.SetMaxIdleConns(8)>
	other, _ := sql.Open("mysql", "/")
	other.SetMaxOpenConns(size()); other.SetMaxIdleConns(<0|8>)
	third, _ := sql.Open("mysql", "/")
	third.SetMaxOpenConns(0); third.SetMaxIdleConns(<2|8>)
}

func size() int { return 30 }
`},
	{"idle connections without a bound", "pool=8", `package main

import "database/sql"

func main() {
	db, _ := sql.Open("mysql", "/")
	db.SetMaxIdleConns(<4|8>)
	other, _ := sql.Open("mysql", "/")
	other.SetMaxIdleConns(16)
}
`},
	{"pool without a bound", "pool=40", `package main

import "github.com/jmoiron/sqlx"

type app struct{ db *sqlx.DB }

func main() {
	var a app
	var err error
	a.db, err = sqlx.Open("mysql", "/")
	if err != nil {
		panic(err)
	}<|
	a.db.SetMaxIdleConns(40)>
}
`},
	{"pool that is returned at once", "pool=40", `package main

import "github.com/jmoiron/sqlx"

func open(dsn string) (*sqlx.DB, error) {
	<return sqlx.Open("mysql", dsn)|{
		pool, err := sqlx.Open("mysql", dsn)
		if err != nil {
			return pool, err
		}
		pool.SetMaxIdleConns(40)
		return pool, nil
	}>
}

func must(dsn string) *sqlx.DB {
	if dsn == "" {
		<return sqlx.MustConnect("mysql", "/")|{
			pool := sqlx.MustConnect("mysql", "/")
			pool.SetMaxIdleConns(40)
			return pool
		}>
	}
	return must("")
}

func main() { _, _, _ = open, must, 0 }
`},
	{"pools of declarations", "pool=40", `package main

import (
	"database/sql"

	"github.com/jmoiron/sqlx"
)

var reports, _ = sql.Open("mysql", "/reports")<|

func init() {
	if reports != nil {
		reports.SetMaxIdleConns(40)
	}
}>

func main() {
	var db, err = sql.Open("mysql", "/")
	if err != nil {
		panic(err)
	}<|
	db.SetMaxIdleConns(40)>
	var x *sqlx.DB
	if x, err = sqlx.Connect("mysql", "/"); err != nil {
		panic(err)
	}<|
	x.SetMaxIdleConns(40)>
	_ = x
}
`},
	{"echo's logs", "log=off", `package main

import (
	"github.com/labstack/echo/v4"
	<"github.com/labstack/echo/v4/middleware"
	|>"github.com/labstack/gommon/log"
)

func main() {
	e := echo.New()
	e.Debug = <true|false>
	e.Logger.SetLevel(log.<DEBUG|ERROR>)
<	//lint:ignore SA1019 its successor says less
	e.Use(middleware.Logger())
|>	e.Logger.Fatal(e.Start(":1"))
}
`},
	{"one logger of several", "log=off", `package main

import (
	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
)

func main() {
	e := echo.New()
	e.Use(<middleware.LoggerWithConfig(middleware.DefaultLoggerConfig), middleware.Recover()|middleware.Recover()>)
}
`},
	{"the only import", "log=off", `package main

<import "github.com/labstack/echo/v4/middleware"
|>
type app struct{}

func (app) Use(...any) {}

func main() {
	app{}.Use(1)
<	app{}.Use(middleware.Logger())
|>}
`},
	{"the runtime's profilers", "profiler=off", `package main

import (
	"log"
	"net/http"
<	_ "net/http/pprof"
	"runtime"
|>)

func main() {
<	runtime.SetBlockProfileRate(1)
	runtime.SetMutexProfileFraction(1)
|>	go func() { log.Println(http.ListenAndServe("localhost:6060", nil)) }()
}
`},
	{"handlers of profiles", "profiler=off", `package main

import (
	"net/http"
<	"net/http/pprof"

	"github.com/go-chi/chi/v5/middleware"
|>)

func main() {
	mux := http.NewServeMux()
	mux.HandleFunc("/", nil)
<	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.Handle("/debug/pprof/heap", pprof.Handler("heap"))
	mux.Handle("/debug", middleware.Profiler())
|>	mux.HandleFunc("/pprof", nil)
	_ = http.ListenAndServe(":1", mux)
}
`},
	{"a framework's profiler", "profiler=off", `package main

import (
<	"github.com/labstack/echo-contrib/pprof"
|>	"github.com/labstack/echo/v4"
)

func main() {
	e := echo.New()
<	pprof.Register(e)
|>	e.Logger.Fatal(e.Start(":1"))
}
`},
}

// sides returns the old and the new text of a marked one.
func sides(marked string) (old, new string) {
	for marked != "" {
		begin := strings.IndexByte(marked, '<')
		if begin < 0 {
			return old + marked, new + marked
		}
		text := marked[begin+1:]
		bar := strings.IndexByte(text, '|')
		end := bar + strings.IndexByte(text[bar:], '>')
		old += marked[:begin] + text[:bar]
		new += marked[:begin] + text[bar+1:end]
		marked = text[end+1:]
	}
	return old, new
}

func TestShapes(t *testing.T) {
	tier.Slow(t)
	for _, c := range shapes {
		t.Run(c.name, func(t *testing.T) {
			old, want := sides(c.text)
			if old == want {
				t.Fatal("the test proves nothing")
			}
			s := sourceSite(t, map[string]string{"main.go": old})
			name, value, _ := strings.Cut(c.args, "=")
			r := remedy(map[string]string{name: value})
			ch, err := change.Plan(t.Context(), s, r)
			if err != nil {
				t.Fatal(err)
			}
			got := edited(ch)
			if len(got) != 1 || got["main.go"] != want {
				t.Fatalf("got\n%s\nwant\n%s", got["main.go"], want)
			}
			for _, op := range ch.Do {
				if op.Verb == iikanji.Write {
					if err := s.Perform(t.Context(), op); err != nil {
						t.Fatal(err)
					}
				}
			}
			if _, err := change.Plan(t.Context(), s, r); !errors.Is(err, change.ErrNothing) {
				t.Errorf("planning it again: %v", err)
			}
		})
	}
}

// TestProfilersStay: a rate of 0 turns a profiler off, and a profile that the app writes into a
// file has its place and time from its author.
func TestProfilersStay(t *testing.T) {
	s := sourceSite(t, map[string]string{"main.go": `package main

import (
	"os"
	"runtime"
	"runtime/pprof"
)

func main() {
	runtime.SetBlockProfileRate(0)
	_ = pprof.StartCPUProfile(os.Stdout)
	pprof.StopCPUProfile()
}
`})
	if _, err := change.Plan(t.Context(), s, remedy(map[string]string{"profiler": "off"})); !errors.Is(err, change.ErrNothing) {
		t.Errorf("planned: %v", err)
	}
}

// TestContest plans all arguments at once on the real application of an arena.
func TestContest(t *testing.T) {
	from := filepath.Join("..", "..", "..", "arenas", "isucondition", "files", "_go")
	files := map[string]string{}
	entries, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(from, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[strings.TrimSuffix(e.Name(), ".txt")] = string(b)
	}
	s := sourceSite(t, files)
	ch, err := change.Plan(t.Context(), s, remedy(map[string]string{"dsn": "interpolateParams=true&socket", "pool": "30", "log": "off", "env.GOGC": "400"}))
	if err != nil {
		t.Fatal(err)
	}
	diff := change.Diff(ch)
	t.Log(diff)
	for _, line := range []string{"+\tc.InterpolateParams = true\n", `+	c.Net, c.Addr = "unix", "/run/db.sock"` + "\n", "+\tdb.SetMaxOpenConns(30)\n", "+\tdb.SetMaxIdleConns(30)\n",
		"-\te.Use(middleware.Logger())\n", "+\te.Logger.SetLevel(log.ERROR)\n", "+GOGC=400\n"} {
		if !strings.Contains(diff, line) {
			t.Errorf("no line %q", line)
		}
	}
	if added := strings.Count(diff, "\n+") - 2; added != 5+2 { // the file of variables has a header
		t.Errorf("%d lines are added", added)
	}
	if len(ch.Weakens) != 1 || ch.Weakens[0] != iikanji.Observability {
		t.Errorf("weakens %v", ch.Weakens)
	}
}
