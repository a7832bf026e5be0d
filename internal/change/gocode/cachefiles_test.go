package gocode

import (
	"bufio"
	"database/sql"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// fileMain answers with the number of a member. Before it, it obeys the files of its
// folder: "initialize" lets a program put the original file in the place of the one in
// use, "write" adds to the number.
const fileMain = `package main

import (
	"database/sql"
	"fmt"
	"net"
	"os"
	"os/exec"

	_ "modernc.org/sqlite"
)

var folder = os.Getenv("FOLDER")

func main() {
	db, err := sql.Open("sqlite", "file:"+folder+"/data/member.db")
	if err != nil {
		panic(err)
	}
	db.SetMaxIdleConns(0) // initialize replaces the file
	l, err := net.Listen("unix", os.Args[1])
	if err != nil {
		panic(err)
	}
	for {
		c, err := l.Accept()
		if err != nil {
			panic(err)
		}
		fmt.Fprintln(c, answer(db))
		c.Close()
	}
}

func answer(db *sql.DB) string {
	if _, err := os.Stat(folder + "/initialize"); err == nil {
		if err := initialize(); err != nil {
			return err.Error()
		}
	}
	if _, err := os.Stat(folder + "/write"); err == nil {
		if _, err := db.Exec("UPDATE member SET n = n + 1 WHERE id = ?", 7); err != nil {
			return err.Error()
		}
	}
	n := 0
	if err := db.QueryRow("SELECT n FROM member WHERE id = ?", 7).Scan(&n); err != nil {
		return err.Error()
	}
	return fmt.Sprint(n)
}

func initialize() error {
	cmd := exec.Command("sh", "-c", "rm initialize && cp original/member.db data/next.tmp && mv data/next.tmp data/member.db")
	cmd.Dir = folder
	return cmd.Run()
}
`

// A fileApp is an app with a file of SQLite.
type fileApp struct{ testApp }

func newFileApp(t *testing.T) fileApp {
	t.Helper()
	folder := t.TempDir()
	files := map[string]string{"main.go": fileMain}
	for _, name := range []string{"go.mod", "go.sum"} { // its modules are in the module cache
		body, err := os.ReadFile(filepath.Join("../../..", name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = strings.Replace(string(body), "module github.com/iikanji/iikanji\n", "module example.org/app\n", 1)
	}
	files["folder.txt"] = folder
	for _, name := range []string{"data", "original"} {
		if err := os.Mkdir(filepath.Join(folder, name), 0o755); err != nil {
			t.Fatal(err)
		}
		execFile(t, filepath.Join(folder, name, "member.db"), "CREATE TABLE member (id INTEGER PRIMARY KEY, n INT NOT NULL); INSERT INTO member VALUES (7, 0), (8, 5)")
	}
	return fileApp{testApp{changetest.NewApp(t, files, "FOLDER="+folder)}}
}

// execFile executes statements on a file and closes it.
func execFile(t *testing.T, file, statements string) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(statements)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// folder is a path in the folder with the files.
func (a fileApp) folder(t *testing.T, name string) string {
	t.Helper()
	body, err := os.ReadFile(a.Source("folder.txt"))
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(string(body), name)
}

func (a fileApp) site(t *testing.T) *change.Site {
	s := a.Open(a.Dir)
	s.Services["files"] = change.Service{Files: []string{a.folder(t, "data")}, Originals: a.folder(t, "original")}
	s.Target.Services = []iikanji.Service{{Name: changetest.Service, Role: iikanji.RoleApp, Engine: iikanji.EngineGo},
		{Name: "files", Role: iikanji.RoleDatabase, Engine: iikanji.EngineSQLite}}
	edit(s, func(x *change.Service) {
		is := x.Running.(changetest.Running)
		is.PIDs = func() []int {
			body, _ := os.ReadFile(a.Path("app.pid"))
			pid, _ := strconv.Atoi(string(body))
			return []int{pid}
		}
		x.Running = is
	})
	return s
}

func (a fileApp) asked(t *testing.T, when, want string) {
	t.Helper()
	if got, err := a.Ask(); err != nil || got != want+"\n" {
		t.Errorf("%s: %q, %v, want %q", when, got, err, want)
	}
}

// TestCacheOfFiles: a query cache is added to an app with a file of SQLite. Its answers
// hold until a write of the app, or until a program has put another file in the place of
// this one.
func TestCacheOfFiles(t *testing.T) {
	tier.Slow(t)
	a := newFileApp(t)
	live := a.folder(t, "data/member.db")
	touch := func(name string) {
		t.Helper()
		if err := os.WriteFile(a.folder(t, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	site := a.site(t)
	c, ex := applyCache(t, site, a.Dir)
	a.asked(t, "at first", "0")
	execFile(t, live, "UPDATE member SET n = 9 WHERE id = 7") // not announced
	a.asked(t, "a kept answer", "0")
	touch("initialize")
	a.asked(t, "after initialize", "0")
	touch("write")
	a.asked(t, "after a write", "1")
	if err := os.Remove(a.folder(t, "write")); err != nil {
		t.Fatal(err)
	}
	execFile(t, live, "UPDATE member SET n = 9 WHERE id = 7")
	a.asked(t, "kept again", "1")
	execFile(t, a.folder(t, "original/member.db"), "UPDATE member SET n = 4 WHERE id = 7")
	touch("initialize")
	a.asked(t, "after initialize with another original", "4")
	if err := ex.Revert(t.Context(), c.ID, "a test"); err != nil {
		t.Fatal(err)
	}
	execFile(t, live, "UPDATE member SET n = 3 WHERE id = 7")
	a.asked(t, "after the undo", "3")
	if _, err := os.Stat(a.Source(cacheFolder)); err == nil {
		t.Error("the folder of the cache is left")
	}
	a.unsafe(t)
}

// unsafe: files that something else may write, or for which one plan does not hold.
func (a fileApp) unsafe(t *testing.T) {
	live := a.folder(t, "data/member.db")
	other := a.folder(t, "data/other.db")
	for name, c := range map[string]struct {
		spoil func(*change.Site)
		mend  func()
		want  string
	}{
		"no service of files": {func(s *change.Site) { delete(s.Services, "files") }, nil, "no service with the engine sqlite"},
		"two services of files": {func(s *change.Site) {
			s.Services["second"] = s.Services["files"]
			s.Target.Services = append(s.Target.Services, iikanji.Service{Name: "second", Role: iikanji.RoleDatabase, Engine: iikanji.EngineSQLite})
		}, nil, "several services of SQLite files"},
		"no file": {func(s *change.Site) {
			s.Services["files"] = change.Service{Files: []string{a.folder(t, "none")}}
		}, nil, "no SQLite file to read"},
		"other tables": {func(*change.Site) { execFile(t, other, "CREATE TABLE member (id TEXT, n INT)") },
			func() { os.Remove(other) }, "define their tables in different ways"},
		"a trigger of one file": {func(*change.Site) {
			execFile(t, a.folder(t, "original/member.db"), "CREATE TRIGGER twice AFTER INSERT ON member BEGIN UPDATE member SET n = 1; END")
		}, func() { execFile(t, a.folder(t, "original/member.db"), "DROP TRIGGER twice") }, "define their tables in different ways"},
		"a second name": {func(*change.Site) {
			if err := os.Link(live, a.folder(t, "name.db")); err != nil {
				t.Fatal(err)
			}
		}, func() { os.Remove(a.folder(t, "name.db")) }, "several names"},
		"a trigger of the app": {func(*change.Site) {
			a.Write(t, "trigger.go", "package main\n\nimport \"database/sql\"\n\nfunc trigger(db *sql.DB) {\n\tdb.Exec(\"CREATE TRIGGER x AFTER INSERT ON member BEGIN SELECT 1; END\")\n}\n")
		}, func() { os.Remove(a.Source("trigger.go")) }, "defines a trigger"},
		"another app with files": {func(s *change.Site) {
			other := a.Path("worker")
			if err := os.Mkdir(other, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(other, "main.go"), []byte("package main\n\nimport \"os\"\n\nfunc main() { os.Exit(0) }\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			worker := s.Services[changetest.Service]
			worker.Source = other
			s.Services["worker"] = worker
			s.Target.Services = append(s.Target.Services, iikanji.Service{Name: "worker", Role: iikanji.RoleApp, Engine: iikanji.EngineGo})
		}, nil, "the app worker may change files"},
		"files that the app copies": {func(*change.Site) {
			a.Write(t, "copy.go", "package main\n\nimport \"os\"\n\nfunc put(name string, body []byte) error { return os.WriteFile(name, body, 0o600) }\n")
		}, func() { os.Remove(a.Source("copy.go")) }, "changes files by os.WriteFile"},
	} {
		site := a.site(t)
		c.spoil(site)
		_, err := change.Plan(t.Context(), site, cacheRemedy)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if c.mend != nil {
			c.mend()
		}
	}
}

// TestOnlyWriter reads the descriptors of real processes: this one has a file open.
func TestOnlyWriter(t *testing.T) {
	tier.Slow(t)
	folder := t.TempDir()
	file := filepath.Join(folder, "a.db")
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE TABLE t (id INTEGER PRIMARY KEY)"); err != nil {
		t.Fatal(err)
	}
	own := func(pids ...int) change.Service {
		return change.Service{Running: listed(nil, pids...)}
	}
	for name, c := range map[string]struct {
		app   change.Service
		files []string
		want  string // "" for no error
	}{
		"the app itself":          {own(os.Getpid()), []string{file}, ""},
		"another process":         {own(1 << 30), []string{file}, `\(process \d+\) has .*/a\.db open for writing`},
		"an app that is unknown":  {change.Service{}, []string{file}, `open for writing`},
		"a file beside the known": {own(os.Getpid()), nil, `the app has .*/a\.db open, which is not below ` + regexp.QuoteMeta(folder)},
		"another app's files":     {own(1 << 30), nil, ""},
	} {
		err := onlyWriter(t.Context(), host.Local{}, c.app, []string{folder}, c.files)
		if (err == nil) != (c.want == "") || err != nil && !regexp.MustCompile(c.want).MatchString(err.Error()) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}

	held := heldByChild(t, filepath.Join(folder, "b.db"))
	if err := onlyWriter(t.Context(), host.Local{}, own(os.Getpid()), []string{folder}, []string{file, held}); err != nil {
		t.Errorf("a child of the app: %v", err)
	}
	if err := onlyWriter(t.Context(), host.Local{}, own(1<<30), []string{folder}, []string{held}); err == nil || !strings.Contains(err.Error(), "b.db open for writing") {
		t.Errorf("a child of another process: %v", err)
	}
}

// heldByChild starts a process that has a file open for writing.
func heldByChild(t *testing.T, path string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `exec 3<>"$1" && echo open && read -r end`, "sh", path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait() // read fails at the end of its input
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "open\n" {
		t.Fatalf("the process that opens %s: %q, %v", path, line, err)
	}
	return path
}
