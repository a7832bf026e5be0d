package target

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
)

const whole = `version = 1
name = "shop"
url = "http://127.0.0.1:8080"

[[service]]
name = "front"
role = "web"
engine = "nginx"
listen = "0.0.0.0:8080"
config = "conf/nginx.conf"
logs = { access = "/var/log/a.log" }

[[service]]
name = "clerk"
role = "app"
engine = "go"
listen = "127.0.0.1:9000"
program = "/srv/clerk"
[service.app]
source = "src"

[[service]]
name = "store"
role = "database"
engine = "mariadb"
socket = "/run/s"
health = "sql"
[service.database]
schema = "shop"
user = "shop"
password = "dsn:clerk:DSN"
schema_folders = ["sql"]

[bench]
command = "./load"
length = "75s"
score = "json:result.score"
exit = [0, 1]
[bench.env]
KEY = "x"
[bench.reset]
how = "snapshot"

[policy]
allow = ["row-order", "freshness"]
folders = ["conf"]
budget = "20m"
`

func TestParse(t *testing.T) {
	f, err := Parse("/site/iikanji.toml", []byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	store, _ := f.Service("store")
	switch {
	case len(f.Services) != 3 || f.Services[0].Config != "/site/conf/nginx.conf" || f.Services[0].Logs.Access != "/var/log/a.log":
		t.Errorf("services: %+v", f.Services)
	case f.Services[1].App.Source != "/site/src" || f.Services[1].Method() != ByProcess:
		t.Errorf("the app: %+v", f.Services[1])
	case store.Database.Password != "dsn:clerk:DSN" || !store.Check().SQL || !slices.Equal(store.Database.Loads, []string{"/site/sql"}):
		t.Errorf("the database: %+v", store)
	case f.Bench.RunLength() != 75*time.Second || f.Bench.Limit() != 345*time.Second || !slices.Equal(f.Bench.Score.JSON, []string{"result", "score"}) || f.Bench.Env["KEY"] != "x":
		t.Errorf("the benchmarker: %+v", f.Bench)
	case !slices.Equal(f.Policy.Allow, []iikanji.Promise{iikanji.RowOrder, iikanji.Freshness}) || f.Policy.Folders[0] != "/site/conf":
		t.Errorf("the policy: %+v", f.Policy)
	}
	tg := f.Target()
	if s := tg.WithRole(iikanji.RoleDatabase); len(s) != 1 || s[0].Schema != "shop" || s[0].Socket != "/run/s" {
		t.Errorf("the target: %+v", tg)
	}
}

// TestByteOrderMark: some editors begin a file with a mark that is not of the text.
func TestByteOrderMark(t *testing.T) {
	if _, err := Parse("/site/iikanji.toml", []byte("\ufeff"+whole)); err != nil {
		t.Error(err)
	}
}

// TestSQLite: a service of SQLite files needs no process, and its folders are those of
// the file's place.
func TestSQLite(t *testing.T) {
	text := whole + `
[[service]]
name = "tenants"
role = "database"
engine = "sqlite"
logs = { slow = "log/trace.json" }
[service.database]
files = ["data", "/srv/more"]
originals = "initial"
schema_folders = ["sql/tenant"]
`
	f, err := Parse("/site/iikanji.toml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s, _ := f.Service("tenants")
	if !s.InFiles() || s.Database.Originals != "/site/initial" || !slices.Equal(s.Database.Files, []string{"/site/data", "/srv/more"}) {
		t.Errorf("%+v", s)
	}
	tg := f.Target()
	got := tg.WithEngine(iikanji.EngineSQLite)
	if len(got) != 1 || !slices.Equal(got[0].Files, s.Database.Files) || got[0].LogPath("slow") != "/site/log/trace.json" {
		t.Errorf("%+v", got)
	}
}

// TestMistakes expects each mistake with its line and a suggestion.
func TestMistakes(t *testing.T) {
	for name, c := range map[string]struct{ from, to, want, hint string }{
		"unknown key":         {`config = "conf/nginx.conf"`, `cofnig = "x"`, `x.toml:LINE: there is no key "service.1.cofnig"`, "did you mean config?"},
		"key of another":      {`health = "sql"`, `command = "x"`, `x.toml:LINE: there is no key "service.3.command"`, "did you mean commands?"},
		"key far away":        {`health = "sql"`, `max_runs = 4`, `x.toml:LINE: there is no key "service.3.max_runs"`, "max_runs is a key of [bench]"},
		"wrong type":          {`length = "75s"`, `length = 75`, `x.toml:LINE: bench.length is an integer; want a string`, `write length = "60s"`},
		"list for a string":   {`name = "front"`, `name = ["front"]`, `x.toml:LINE: service.1.name is a list; want a string`, `write name = "web"`},
		"string for a list":   {`exit = [0, 1]`, `exit = "0"`, `x.toml:LINE: bench.exit is a string; want a list of integers`, "write exit = [0]"},
		"wrong element":       {`exit = [0, 1]`, `exit = [0, "1"]`, `x.toml:LINE: bench.exit is a string; want an integer`, ""},
		"wrong word":          {`role = "web"`, `role = "wab"`, `x.toml:LINE: service.1.role is "wab", which is not a possible value`, `did you mean "web"?`},
		"wrong promise":       {`"freshness"]`, `"fresh"]`, `x.toml:LINE: policy.allow is "fresh", which is not a possible value`, "possible: durability, freshness"},
		"no duration":         {`length = "75s"`, `length = "75"`, `x.toml:LINE: bench.length: "75" is not a duration`, ""},
		"a secret":            {`password = "dsn:clerk:DSN"`, `password = "hunter2"`, `x.toml:LINE: service.3.database.password: not a reference`, ""},
		"wrong service":       {`password = "dsn:clerk:DSN"`, `password = "dsn:clark:DSN"`, `x.toml:LINE: password refers to the service "clark"`, ""},
		"no path":             {`score = "json:result.score"`, `score = "result.score"`, `x.toml:LINE: bench.score: "result.score" is not a pattern`, ""},
		"bad expression":      {`score = "json:result.score"`, `score = "regex:("`, `x.toml:LINE: bench.score: error parsing regexp`, ""},
		"single table":        {"[[service]]\nname = \"store\"", "[service]\nname = \"store\"", `x.toml:LINE: `, ""},
		"list of tables":      {"[bench]", "[[bench]]", `x.toml:LINE: bench is one table`, "write [bench] in place of [[bench]]"},
		"unknown table":       {"[policy]", "[polici]", `x.toml:LINE: there is no key "polici"`, "did you mean policy?"},
		"syntax":              {`length = "75s"`, `length = 75s`, `x.toml:LINE: toml: `, "https://toml.io"},
		"twice":               {`name = "clerk"`, `name = "front"`, `x.toml:LINE: two services are called "front"`, ""},
		"no URL":              {`url = "http://127.0.0.1:8080"`, `url = "8080"`, `x.toml:LINE: url is "8080"`, ""},
		"newer":               {`version = 1`, `version = 2`, `x.toml:LINE: version is 2; this iikanji reads up to 1`, "newer iikanji"},
		"nothing to find":     {`socket = "/run/s"`, ``, `nothing tells which process is the service "store"`, "give one of unit"},
		"files of a server":   {`schema = "shop"`, `files = ["db"]`, `x.toml:LINE: service "store" names files and is not of engine sqlite`, `write engine = "sqlite"`},
		"SQLite, no files":    {`engine = "mariadb"`, `engine = "sqlite"`, `service "store" is of engine sqlite and names no folder with its files`, "write files"},
		"SQLite, an app":      {`engine = "go"`, `engine = "sqlite"`, `service "clerk" is of engine sqlite and no database`, `write role = "database"`},
		"command not given":   {`health = "sql"`, `restart = "command"`, `x.toml:LINE: service "store" is restarted by commands that are not given`, ""},
		"reset without":       {`how = "snapshot"`, `how = "command"`, `x.toml:LINE: reset is by a command that is not given`, ""},
		"escapes":             {`name = "shop"`, `"na\u001bme" = "shop"`, `there is no key "na?me"`, ""},
		"health":              {`health = "sql"`, `health = "select 1"`, `x.toml:LINE: health: "select 1"`, ""},
		"inline, unknown key": {`access = "/var/log/a.log"`, `acess = "/var/log/a.log"`, `x.toml:LINE: there is no key "service.1.logs.acess"`, "did you mean access?"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(whole, c.from, c.to, 1)
			if text == whole {
				t.Fatal("nothing was replaced")
			}
			_, err := Parse("x.toml", []byte(text))
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("error %v", err)
			}
			line := 1 + strings.Count(whole[:strings.Index(whole, c.from)], "\n")
			if want := strings.ReplaceAll(c.want, "LINE", strconv.Itoa(line)); !strings.Contains(e.Error(), want) {
				t.Errorf("got %s\nwant %s", e, want)
			}
			if hints := strings.Join(e.Hints(), "\n"); !strings.Contains(hints, c.hint) {
				t.Errorf("hints %q, want %q", hints, c.hint)
			}
			if strings.Contains(e.Error(), "hunter2") {
				t.Error("the secret is in the message")
			}
		})
	}
}

// TestPrint expects a printed file to be read as the same file.
func TestPrint(t *testing.T) {
	f, err := Parse("/site/iikanji.toml", []byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	text := Print(f, map[string]string{"": "about\nthe file", "service.1.listen": "sure", "bench.max_runs": "a number\nof runs"})
	again, err := Parse("/site/iikanji.toml", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if twice := Print(again, nil); twice != Print(f, nil) {
		t.Errorf("printed again:\n%s\nat first:\n%s", twice, Print(f, nil))
	}
	for _, want := range []string{"# about\n# the file\nversion = 1", "# sure\nlisten = ", "# a number\n# of runs\n# max_runs = 1\n", "[service.database]\nschema = \"shop\""} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestPrintLongLists: a long list has one entry a line, and is read again as it was.
func TestPrintLongLists(t *testing.T) {
	f, err := Parse("/site/iikanji.toml", []byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"nginx", "app", "mariadb", "redis-server"} {
		f.Policy.Folders = append(f.Policy.Folders, "/etc/systemd/system/"+name+".service.d/90-iikanji.conf")
	}
	text := Print(f, nil)
	if !strings.Contains(text, "folders = [\n  \"/site/conf\",\n  \"/etc/systemd/system/nginx.service.d/90-iikanji.conf\",\n") {
		t.Errorf("%s", text)
	}
	again, err := Parse("/site/iikanji.toml", []byte(text))
	if err != nil || !slices.Equal(again.Policy.Folders, f.Policy.Folders) {
		t.Errorf("%v\n%s", err, text)
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, Name)
	if _, ok := Find(dir); ok {
		t.Error("a folder without the file")
	}
	if err := os.WriteFile(file, []byte(whole), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{dir, file} {
		if path, ok := Find(name); !ok || path != file {
			t.Errorf("%s: %q, %v", name, path, ok)
		}
	}
	if _, err := Load(filepath.Join(dir, "none.toml")); err == nil {
		t.Error("a file that is not there was read")
	}
	if f, err := Load(file); err != nil || f.Path != file {
		t.Errorf("%v, %v", f, err)
	}
}

func TestReachable(t *testing.T) {
	for listen, want := range map[string]string{"0.0.0.0:80": "127.0.0.1:80", "[::]:80": "localhost:80", ":80": "127.0.0.1:80", "10.0.0.1:80": "10.0.0.1:80"} {
		if got := Reachable(listen); got != want {
			t.Errorf("%s: %s, want %s", listen, got, want)
		}
	}
}

const docs = "../../../docs/"

// held compares a committed text with one that is derived from the structs; with
// UPDATE=1 it writes it.
func held(t *testing.T, path string, got []byte) {
	t.Helper()
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	now, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(now, got) {
		t.Errorf("%s differs from the structs: UPDATE=1 go test -run TestSchema ./internal/site/target", path)
	}
}

func TestSchema(t *testing.T) {
	schema, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	held(t, docs+"iikanji.schema.json", schema)
}

var generated = regexp.MustCompile(`(?s)<!-- keys -->\n.*<!-- end of keys -->\n`)

// TestReferencePage compares the tables of the page with the structs, and reads
// the page's example.
func TestReferencePage(t *testing.T) {
	page, err := os.ReadFile(docs + "iikanji-toml.md")
	if err != nil {
		t.Fatal(err)
	}
	if !generated.Match(page) {
		t.Fatal("the page has no place for the keys")
	}
	held(t, docs+"iikanji-toml.md", generated.ReplaceAllLiteral(page, []byte("<!-- keys -->\n"+Reference()+"<!-- end of keys -->\n")))
	n := 0
	for _, m := range regexp.MustCompile("(?s)```toml\n(.*?)```").FindAllSubmatch(page, -1) {
		n++
		if _, err := Parse("/srv/shop/iikanji.toml", m[1]); err != nil {
			t.Errorf("example %d of the page: %v", n, err)
		}
	}
	if n == 0 {
		t.Error("the page has no example")
	}
}

// FuzzParse expects no text to stop the reader, and each accepted file to be
// printed and read again as the same file.
func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte("[[service]]\nname = {a = 1}\n"))
	f.Add([]byte("a.b.c = [[1], 2]\n[bench.env]\nx.y = 1"))
	f.Fuzz(func(t *testing.T, text []byte) {
		one, err := Parse("/site/iikanji.toml", text)
		if err != nil {
			return
		}
		printed := Print(one, nil)
		two, err := Parse("/site/iikanji.toml", []byte(printed))
		if err != nil {
			t.Fatalf("%v\n%s", err, printed)
		}
		if again := Print(two, nil); again != printed {
			t.Errorf("printed:\n%s\nthen:\n%s", printed, again)
		}
	})
}

// TestPolicyProfiles: each profile allows what the stricter one allows, and more; none lets
// an answer reach another client than the one that it was made for, or refuses a request.
func TestPolicyProfiles(t *testing.T) {
	var before []iikanji.Promise
	for _, p := range Profiles() {
		all := p.Allows()
		for _, promise := range before {
			if !slices.Contains(all, promise) {
				t.Errorf("%s does not allow %s, which a stricter profile allows", p, promise)
			}
		}
		if len(all) <= len(before) || slices.Contains(all, iikanji.Privacy) || slices.Contains(all, iikanji.Availability) {
			t.Errorf("%s allows %v", p, all)
		}
		before = all
	}
	for _, p := range Profiles() {
		f := &File{Policy: Policy{Profile: p}}
		if more := f.Target().Policy.MoreHosts; more != (p == Contest) {
			t.Errorf("%s: more hosts %v", p, more)
		}
	}
	f, err := Parse("/x/iikanji.toml", []byte("version = 1\nurl = \"http://127.0.0.1:1\"\n[[service]]\nname = \"a\"\nrole = \"app\"\nlisten = \"127.0.0.1:1\"\n"+
		"[policy]\nprofile = \"production\"\nallow = [\"freshness\", \"row-order\"]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Target().Policy.Allow; !slices.Equal(got, []iikanji.Promise{iikanji.RowOrder, iikanji.Freshness}) {
		t.Errorf("production and freshness allow %v", got)
	}
	if _, err := Parse("/x/iikanji.toml", []byte("version = 1\nurl = \"http://127.0.0.1:1\"\n[policy]\nprofile = \"contests\"\n")); err == nil {
		t.Error("an unknown profile is accepted")
	}
}
