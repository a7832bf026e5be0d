package ties

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/lang/settings"
)

// goHead begins the Go forms: the routes are those of net/http.
const goHead = `package main

import (
	"database/sql"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

var db *sql.DB

var _ = os.Args
var _ sync.Mutex
var _ atomic.Int64
var _ time.Time

`

// A form is one way to write something that ties an app to a host, or that does not.
type form struct {
	name string
	file string // with its ending; main.go gets goHead
	text string
	want string // the kind and a part of the name of each tie; "" for none
}

// goForms are forms of Go; each registers what it needs.
var goForms = []form{
	{"a counter that an answer shows", "main.go", `var count int
func show(w http.ResponseWriter, r *http.Request) { count++; println(count) }
func main() { http.HandleFunc("/", show) }`, "memory count"},
	{"a counter that nothing reads", "main.go", `var count int
func show(w http.ResponseWriter, r *http.Request) { count++ }
func main() { http.HandleFunc("/", show) }`, ""},
	{"a map of one's own sessions", "main.go", `var sessions = map[string]int{}
func login(w http.ResponseWriter, r *http.Request) { sessions[r.URL.Path] = 1 }
func me(w http.ResponseWriter, r *http.Request) { println(sessions[r.URL.Path]) }
func main() { http.HandleFunc("/login", login); http.HandleFunc("/me", me) }`, "sessions sessions"},
	{"a rate limit", "main.go", `var mu sync.Mutex
var visits = map[string]int{}
func show(w http.ResponseWriter, r *http.Request) { mu.Lock(); defer mu.Unlock(); visits[r.RemoteAddr]++; if visits[r.RemoteAddr] > 9 { w.WriteHeader(429) } }
func main() { http.HandleFunc("/", show) }`, "memory visits"},
	{"ids from an atomic", "main.go", `var last int64
func add(w http.ResponseWriter, r *http.Request) { id := atomic.AddInt64(&last, 1); db.Exec("INSERT INTO t VALUES (?)", id) }
func main() { http.HandleFunc("/", add) }`, "memory last"},
	{"an atomic for a log", "main.go", `var served atomic.Int64
func show(w http.ResponseWriter, r *http.Request) { served.Add(1) }
func main() { go func() { for range time.Tick(time.Second) { println(served.Load()) } }(); http.HandleFunc("/", show) }`, ""},
	{"a memo of rows", "main.go", `var mu sync.RWMutex
var names = map[string]string{}
func show(w http.ResponseWriter, r *http.Request) {
	mu.RLock()
	name, ok := names[r.URL.Path]
	mu.RUnlock()
	if !ok {
		if err := db.QueryRow("SELECT name FROM t WHERE id = ?", r.URL.Path).Scan(&name); err != nil { return }
		mu.Lock()
		names[r.URL.Path] = name
		mu.Unlock()
	}
	w.Write([]byte(name))
}
func main() { http.HandleFunc("/", show) }`, ""},
	{"a cache that writes empty", "main.go", `var names sync.Map
func show(w http.ResponseWriter, r *http.Request) {
	if v, ok := names.Load(r.URL.Path); ok { w.Write(v.([]byte)); return }
	v := read(r.URL.Path)
	names.Store(r.URL.Path, v)
	w.Write(v)
}
func read(id string) []byte { var v []byte; db.QueryRow("SELECT name FROM t WHERE id = ?", id).Scan(&v); return v }
func rename(w http.ResponseWriter, r *http.Request) { db.Exec("UPDATE t SET name = ?", "x"); names.Delete(r.URL.Path) }
func main() { http.HandleFunc("/show", show); http.HandleFunc("/rename", rename) }`, "memory names"},
	{"a value that is read once", "main.go", `var mu sync.Mutex
var rates []int
func load() []int { db.Query("SELECT 1"); return nil }
func show(w http.ResponseWriter, r *http.Request) { mu.Lock(); defer mu.Unlock(); if rates == nil { rates = load() }; println(rates) }
func main() { http.HandleFunc("/", show) }`, ""},
	{"a value that is read again after some time", "main.go", `var mu sync.Mutex
var at time.Time
var list []int
func load() []int { db.Query("SELECT 1"); return nil }
func show(w http.ResponseWriter, r *http.Request) { mu.Lock(); defer mu.Unlock(); if time.Since(at) > time.Second { list, at = load(), time.Now() }; println(list) }
func main() { http.HandleFunc("/", show) }`, ""},
	{"a value that writes empty", "main.go", `var list []int
func load() []int { db.Query("SELECT 1"); return nil }
func show(w http.ResponseWriter, r *http.Request) { if list == nil { list = load() }; println(list) }
func add(w http.ResponseWriter, r *http.Request) { db.Exec("INSERT"); list = nil }
func main() { http.HandleFunc("/", show); http.HandleFunc("/add", add) }`, "memory list"},
	{"a constant address", "main.go", `const rates = "127.0.0.1:9000"
func show(w http.ResponseWriter, r *http.Request) { http.Get("http://" + rates) ; dial(rates) }
func dial(string) {}
func main() { http.HandleFunc("/", show) }`, "local 127.0.0.1:9000"},
	{"tokens that were seen", "main.go", `var seen = map[string]bool{}
func pay(w http.ResponseWriter, r *http.Request) { if seen[r.URL.Path] { w.WriteHeader(409); return }; seen[r.URL.Path] = true }
func main() { http.HandleFunc("/", pay) }`, "memory seen"},
	{"values that are set at start", "main.go", `var limits map[string]int
func show(w http.ResponseWriter, r *http.Request) { println(limits["a"]) }
func main() { limits = map[string]int{"a": 1}; limits["b"] = 2; http.HandleFunc("/", show) }`, ""},
	{"a field of the handlers", "main.go", `type app struct { db *sql.DB; campaign int }
func (a *app) initialize(w http.ResponseWriter, r *http.Request) { a.campaign = 2 }
func (a *app) show(w http.ResponseWriter, r *http.Request) { println(a.campaign) }
func main() { a := &app{}; http.HandleFunc("/initialize", a.initialize); http.HandleFunc("/", a.show) }`, "memory campaign"},
	{"a field of what one request makes", "main.go", `type answer struct { n int }
func (a *answer) add() { a.n++; println(a.n) }
func show(w http.ResponseWriter, r *http.Request) { a := &answer{}; a.add() }
func main() { http.HandleFunc("/", show) }`, ""},
	{"a cache with a type of its own", "main.go", `type cache struct { mu sync.Mutex; m map[string]int }
func newCache() *cache { return &cache{m: map[string]int{}} }
func (c *cache) set(k string, v int) { c.mu.Lock(); defer c.mu.Unlock(); c.m[k] = v }
func (c *cache) get(k string) int { return c.m[k] }
var scores = newCache()
func post(w http.ResponseWriter, r *http.Request) { scores.set(r.URL.Path, 1) }
func show(w http.ResponseWriter, r *http.Request) { println(scores.get(r.URL.Path)) }
func main() { http.HandleFunc("/post", post); http.HandleFunc("/", show) }`, "memory m"},
	{"a variable around the handler", "main.go", `func main() {
	hits := map[string]int{}
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { hits[r.URL.Path]++; println(hits[r.URL.Path]) })
}`, "memory hits"},
	{"a buffer that a goroutine writes", "main.go", `var queue = make(chan string, 100)
func add(w http.ResponseWriter, r *http.Request) { queue <- r.URL.Path }
func drain() { for { v := <-queue; db.Exec("INSERT INTO t VALUES (?)", v) } }
func main() { go drain(); http.HandleFunc("/", add) }`, ""},
	{"subscribers of a stream", "main.go", `var subscribers = map[chan string]bool{}
func listen(w http.ResponseWriter, r *http.Request) { c := make(chan string); subscribers[c] = true; <-c }
func say(w http.ResponseWriter, r *http.Request) { for c := range subscribers { c <- "x" } }
func main() { http.HandleFunc("/listen", listen); http.HandleFunc("/say", say) }`, "memory subscribers"},
	{"a mutex around a transaction", "main.go", `var booking sync.Mutex
func book(w http.ResponseWriter, r *http.Request) { booking.Lock(); defer booking.Unlock(); db.Exec("UPDATE seats SET taken = 1") }
func main() { http.HandleFunc("/", book) }`, "lock booking"},
	{"an upload", "main.go", `func upload(w http.ResponseWriter, r *http.Request) { os.WriteFile("public/image/1.png", nil, 0o644) }
func main() { http.HandleFunc("POST /image", upload) }`, "files os.WriteFile"},
	{"a temporary file", "main.go", `func resize(w http.ResponseWriter, r *http.Request) { f, err := os.CreateTemp("", "x"); if err != nil { return }; defer os.Remove(f.Name()); os.WriteFile(f.Name(), nil, 0o600) }
func main() { http.HandleFunc("/", resize) }`, ""},
	{"a file that only the start writes", "main.go", `func show(w http.ResponseWriter, r *http.Request) { os.ReadFile("a.html") }
func main() { os.WriteFile("pid", nil, 0o644); http.HandleFunc("/", show) }`, ""},
	{"SQLite", "main.go", `func main() { db, _ = sql.Open("sqlite3", "a.db"); http.HandleFunc("/", nil) }`, "sqlite Open sqlite3"},
	{"MySQL by a socket", "main.go", `func main() { db, _ = sql.Open("mysql", "isu:x@unix(/run/mysqld/mysqld.sock)/isu"); http.HandleFunc("/", nil) }`, "socket unix"},
	{"a job", "main.go", `func match() { for { db.Exec("UPDATE rides SET chair = 1"); time.Sleep(time.Second) } }
func main() { go match(); http.HandleFunc("/", nil) }`, "job go match"},
	{"a loop that only prints", "main.go", `func main() { go func() { for range time.Tick(time.Second) { println("alive") } }(); http.HandleFunc("/", nil) }`, ""},
	{"another server of the host", "main.go", `func show(w http.ResponseWriter, r *http.Request) { http.Get("http://127.0.0.1:9000/rate") }
func main() { http.HandleFunc("/", show); http.ListenAndServe("127.0.0.1:8000", nil) }`, "local 127.0.0.1:9000"},
	{"another server by a variable", "main.go", `func env(k, d string) string { if v := os.Getenv(k); v != "" { return v }; return d }
func show(w http.ResponseWriter, r *http.Request) { http.Get(env("RATE_URL", "http://127.0.0.1:9000/rate")) }
func main() { http.HandleFunc("/", show) }`, ""},
}

// TestForms: each form has its ties, and no others.
func TestForms(t *testing.T) {
	for _, f := range slices.Concat(goForms, otherForms) {
		t.Run(f.name, func(t *testing.T) {
			text := f.text
			if f.file == "main.go" && !strings.HasPrefix(text, "package") {
				text = goHead + text
			}
			all, known := Find([]settings.File{{Path: f.file, Text: text}}, "")
			if !known {
				t.Errorf("%s is not read", f.file)
			}
			var got []string
			for _, tie := range all {
				got = append(got, fmt.Sprintf("%s %s", tie.Kind, tie.Name))
				if tie.Line == 0 || tie.File != f.file || tie.Spread() == "" || tie.Move() == "" || tie.Cure() == "" || tie.Breaks() == "" {
					t.Errorf("%+v is not complete", tie)
				}
			}
			want := strings.Split(f.want, ", ")
			if f.want == "" {
				want = nil
			}
			if len(got) != len(want) {
				t.Fatalf("%q, want %q", got, want)
			}
			for i := range want {
				kind, part, _ := strings.Cut(want[i], " ")
				if !strings.HasPrefix(got[i], kind+" ") || !strings.Contains(got[i], part) {
					t.Errorf("%q, want %q", got[i], want[i])
				}
			}
		})
	}
}

// otherForms are forms of other modules and languages.
var otherForms = []form{
	{"a cookie with a key of each start", "main.go", `package main

import (
	"crypto/rand"
	"net/http"

	"github.com/gorilla/sessions"
)

func main() {
	store := sessions.NewCookieStore([]byte(rand.Text()))
	_ = store
	http.HandleFunc("/", nil)
}`, "key NewCookieStore"},
	{"a cookie with a key from a variable", "main.go", `package main

import (
	"net/http"
	"os"

	"github.com/gorilla/sessions"
)

func main() {
	store := sessions.NewCookieStore([]byte(os.Getenv("KEY")))
	_ = store
	http.HandleFunc("/", nil)
}`, ""},
	{"sessions in files", "main.go", `package main

import "github.com/gorilla/sessions"

var store = sessions.NewFilesystemStore("/tmp", []byte("x"))

func main() {}`, "sessions in files"},
	{"gin with a cache in memory", "main.go", `package main

import (
	"time"

	"github.com/gin-gonic/gin"
	"github.com/patrickmn/go-cache"
)

var kept = cache.New(time.Minute, time.Minute)

func set(c *gin.Context) { kept.Set(c.Param("id"), c.Query("v"), 0) }
func get(c *gin.Context) { v, _ := kept.Get(c.Param("id")); c.JSON(200, v) }

func main() {
	r := gin.Default()
	r.POST("/a/:id", set)
	r.GET("/a/:id", get)
}`, "memory kept"},
	{"echo with a Redis by a variable", "main.go", `package main

import (
	"os"

	"github.com/labstack/echo/v4"
	"github.com/redis/go-redis/v9"
)

var rdb *redis.Client

func set(c echo.Context) error { return rdb.Set(c.Request().Context(), "a", c.QueryParam("v"), 0).Err() }

func main() {
	rdb = redis.NewClient(&redis.Options{Addr: os.Getenv("REDIS")})
	e := echo.New()
	e.POST("/a", set)
}`, ""},
	{"a Redis at a fixed address", "main.go", `package main

import "github.com/redis/go-redis/v9"

var rdb = redis.NewClient

func main() { _ = rdb(&redis.Options{Addr: "localhost:6379"}) }`, "local localhost:6379"},
	{"Python: an upload", "app.py", "def post():\n    with open(path, 'wb') as f:\n        f.write(data)\n", "files open"},
	{"Python: reading", "app.py", "def get():\n    with open(path, 'rb') as f:\n        return f.read()\n", ""},
	{"Python: SQLite", "app.py", "def db():\n    return sqlite3.connect('a.db')\n", "sqlite sqlite3.connect"},
	{"Python: SQLite in memory", "app.py", "def db():\n    return sqlite3.connect(':memory:')\n", ""},
	{"Python: a key of each start", "app.py", "app.secret_key = os.urandom(24)\n", "key secret_key"},
	{"Python: a key of a variable", "app.py", "app.secret_key = os.environ['KEY']\n", ""},
	{"Python: a lock of files", "app.py", "def put():\n    fcntl.flock(f, fcntl.LOCK_EX)\n", "lock flock"},
	{"Python: memcached here", "app.py", "cache = Client('localhost:11211')\n", "local localhost:11211"},
	{"Python: memcached by a variable", "app.py", "cache = Client(os.environ.get('CACHE', 'localhost:11211'))\n", ""},
	{"Ruby: an upload", "app.rb", "post '/image' do\n  File.binwrite(path, data)\nend\n", "files File.binwrite"},
	{"Ruby: a comment", "app.rb", "post '/image' do\n  # File.binwrite(path, data)\nend\n", ""},
	{"Ruby: a socket", "app.rb", "db = Mysql2::Client.new(socket: '/run/mysqld/mysqld.sock')\n", "socket socket"},
	{"Node: an upload", "app.js", "app.post('/', (req, res) => {\n  fs.writeFileSync(name, req.body);\n});\n", "files fs.writeFileSync"},
	{"Node: a job", "app.js", "setInterval(() => pool.query('DELETE FROM t'), 1000);\n", "job setInterval"},
	{"Node: a port", "app.js", "app.listen('127.0.0.1:8000');\n", ""},
	{"PHP: sessions", "index.php", "<?php\nsession_start();\n", "sessions session_start"},
	{"PHP: sessions in Redis", "index.php", "<?php\nini_set('session.save_handler', 'redis');\nsession_start();\n", ""},
	{"PHP: an upload", "index.php", "<?php\nmove_uploaded_file($a, $b);\n", "files move_uploaded_file"},
}

// TestRoutes: a tie of files has the routes whose handlers reach it, and so have the places
// that read files.
func TestRoutes(t *testing.T) {
	all, _ := Find([]settings.File{{Path: "main.go", Text: goHead + `func upload(w http.ResponseWriter, r *http.Request) { keep("images/" + r.URL.Path) }
func keep(name string) { os.WriteFile("images/" + name, nil, 0o644) }
func image(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, "images/" + r.PathValue("id")) }
func list(w http.ResponseWriter, r *http.Request) { db.Query("SELECT 1") }
func icon(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, "static/icon") }
func main() { http.HandleFunc("GET /icon", icon); http.HandleFunc("POST /image", upload); http.HandleFunc("GET /image/{id}", image); http.HandleFunc("GET /list", list) }
`}}, "")
	var got []string
	for _, tie := range all {
		got = append(got, fmt.Sprintf("%s %s %v %s", tie.Kind, tie.Func, tie.Routes, tie.Spread()))
	}
	if want := []string{"files keep [POST /image] pinned", "files image [GET /image/:id] pinned"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestPrograms: of a module with several programs, the named one counts, with what it imports.
func TestPrograms(t *testing.T) {
	files := []settings.File{{Path: "go.mod", Text: "module example.org/two\n"},
		{Path: "web/main.go", Text: "package main\n\nimport (\n\t\"net/http\"\n\n\t\"example.org/two/kept\"\n)\n\nfunc show(w http.ResponseWriter, r *http.Request) { kept.Add(1) }\n\nfunc main() { http.HandleFunc(\"/\", show) }\n"},
		{Path: "kept/kept.go", Text: "package kept\n\nvar n int\n\nfunc Add(by int) int { n += by; return n }\n"},
		{Path: "other/main.go", Text: "package main\n\nimport \"net/http\"\n\nvar m int\n\nfunc show(w http.ResponseWriter, r *http.Request) { m++; println(m) }\n\nfunc main() { http.HandleFunc(\"/\", show) }\n"}}
	for program, want := range map[string]string{"./web": "kept/kept.go:3", "./other": "other/main.go:5"} {
		all, _ := Find(files, program)
		if len(all) != 1 || all[0].Place() != want {
			t.Errorf("%s: %v, want %s", program, all, want)
		}
	}
	if all, _ := Find(files, ""); len(all) != 2 {
		t.Errorf("both: %v", all)
	}
}

// TestOurs: a package of iikanji that keeps answers in the process ties an app that imports it.
func TestOurs(t *testing.T) {
	for head, want := range map[string]int{
		"// Code generated by iikanji sqlcache: a copy of the cache. DO NOT EDIT.\n\n":      1,
		"// Code generated by iikanji: a copy of its package pagegen. DO NOT EDIT.\n\n":     1,
		"// Code generated by protoc: a copy of the cache. DO NOT EDIT.\n\n":                0,
		"// Package kept was written by hand: not by iikanji, and is a copy of the cache\n": 0,
	} {
		files := []settings.File{{Path: "go.mod", Text: "module example.org/shop\n"}, {Path: "main.go", Text: "package main\n\nimport _ \"example.org/shop/kept\"\n\nfunc main() {}\n"},
			{Path: "kept/kept.go", Text: head + "package kept\n"}, {Path: "kept/more.go", Text: head + "package kept\n"}, {Path: "unused/unused.go", Text: head + "package unused\n"}}
		all, _ := Find(files, "")
		if len(all) != want || want > 0 && (all[0].Place() != "kept/kept.go:1" || all[0].Spread() != Refused) {
			t.Errorf("%q: %v", head, all)
		}
	}
}

// TestScripts: a script that the app names is a part of it, and the input of another program
// is none.
func TestScripts(t *testing.T) {
	app := settings.File{Path: "main.go", Text: "package main\n\nconst script = \"../sql/init.sh\"\n\nfunc main() {}\n"}
	script := "#!/bin/sh\n# rm x\nmysql isu <<EOF\nrm x\nEOF\nrm -f ../data/*.db\ncp ../initial/*.db ../data/\nrm -f /tmp/x\n"
	all, _ := Find([]settings.File{app, {Path: "sql/init.sh", Text: script}, {Path: "deploy.sh", Text: "rm -rf x\n"}}, "")
	var got []string
	for _, tie := range all {
		got = append(got, tie.Place())
	}
	if want := []string{"sql/init.sh:6", "sql/init.sh:7"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// FuzzTies: no text breaks the reading, and each tie has a place in it.
func FuzzTies(f *testing.F) {
	for _, form := range slices.Concat(goForms, otherForms) {
		f.Add(form.file, form.text)
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		all, _ := Find([]settings.File{{Path: name, Text: text}}, "")
		for _, tie := range all {
			if tie.Line < 1 || tie.Line > 1+strings.Count(text, "\n") || tie.Spread() == "" {
				t.Errorf("%+v", tie)
			}
		}
	})
}
