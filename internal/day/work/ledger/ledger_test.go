package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/day/work/difference"
	"github.com/iikanji/iikanji/internal/day/work/snapshot"
	"github.com/iikanji/iikanji/internal/day/work/state"
	"github.com/iikanji/iikanji/internal/day/work/store"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// A bed is a folder as /etc, with a store and a ledger.
type bed struct {
	t    *testing.T
	etc  string
	st   *store.Store
	l    *Ledger
	runs int
}

func newBed(t *testing.T) *bed {
	t.Helper()
	st, err := store.Open(filepath.Join(t.TempDir(), "work"))
	if err != nil {
		t.Fatal(err)
	}
	b := &bed{t: t, etc: t.TempDir(), st: st}
	if b.l, err = Open(st); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bed) write(name, text string) string {
	b.t.Helper()
	full := filepath.Join(b.etc, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
	return full
}

// record takes a state and makes the record of a run.
func (b *bed) record(edit func(r *Record)) Record {
	b.t.Helper()
	b.runs++
	h, err := snapshot.Take(b.t.Context(), snapshot.Options{Host: host.Local{}, Folders: []string{b.etc}, Now: time.Now}, b.st)
	if err != nil {
		b.t.Fatal(err)
	}
	h.Sysctl, h.Packages = nil, nil
	r := Record{State: &state.State{Version: state.Version, Run: iikanji.RunID(b.runs), Hosts: []state.Host{h}}, Run: &iikanji.Run{ID: iikanji.RunID(b.runs), Outcome: iikanji.Passed, Score: 100},
		Subject: fmt.Sprintf("run %d: 100", b.runs), Body: "body", Who: "aoi"}
	if edit != nil {
		edit(&r)
	}
	return r
}

func (b *bed) commit(edit func(r *Record)) (string, []Stopped) {
	b.t.Helper()
	id, stopped, err := b.l.Write(b.t.Context(), b.record(edit))
	if err != nil {
		b.t.Fatal(err)
	}
	return id, stopped
}

// objects are the contents of all objects of the ledger's repository.
func (b *bed) objects() []byte {
	b.t.Helper()
	out, err := exec.Command("git", "--git-dir", filepath.Join(b.l.Dir(), ".git"), "cat-file", "--batch-all-objects", "--batch", "--buffer").Output()
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

func gitHere(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.org"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// TestCanaries: a secret in any of 18 places is in no object of the repository.
func TestCanaries(t *testing.T) {
	tier.Slow(t)
	b := newBed(t)
	canary := func(n int) string { return fmt.Sprintf("cAn4ry%02dQz7Kp2Lm9Xw3Rt8Vb", n) }
	b.write("shadow", "root:"+canary(1)+":1::::::\n")
	b.write("ssl/private/site.key", canary(2))
	b.write("nginx/tls.pem", "-----BEGIN CERTIFICATE-----\n"+canary(3)+"\n-----END CERTIFICATE-----\n")
	b.write("nginx/inline.conf", "# key\n-----BEGIN RSA PRIVATE KEY-----\n"+canary(4)+"\n")
	b.write("app/main.go", "package main\nvar dsn = \"isucon:"+canary(5)+"@tcp(127.0.0.1:3306)/isu\"\n")
	b.write("app/config.rb", "PASSWORD = '"+canary(6)+"'\n")
	b.write("app/settings.py", "SECRET_KEY = \""+canary(7)+"\"\n")
	b.write("app/db.js", "const pool = mysql.createPool({ password: '"+canary(8)+"' });\n")
	b.write("env.sh", "export MYSQL_PASSWORD="+canary(9)+"\n")
	b.write("app/url.yml", "database_url: postgres://isu:"+canary(10)+"@db/isu\n")
	b.write("sql/dump.sql", "-- MySQL dump 10\nINSERT INTO user VALUES ('"+canary(11)+"');\n")
	b.write("nginx/auth.conf", "proxy_set_header Authorization \"Bearer "+canary(12)+"\";\n")
	b.write("hook.conf", "url = https://discord.com/api/webhooks/123/"+canary(13)+"\n")
	b.write("app/user.sql", "CREATE USER isu IDENTIFIED BY '"+canary(14)+"';\n")
	diff, err := b.st.Put([]byte("--- a/main.go\n+++ b/main.go\n+\tpassword := \"" + canary(15) + "\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	clean := b.write("nginx/nginx.conf", "events {}\n# mail of the team: team@example.org\n")
	id, stopped := b.commit(func(r *Record) {
		h := &r.State.Hosts[0]
		h.Repos = []state.Repo{{Dir: "/srv/app", Head: "1234", Dirty: diff}}
		h.Services = []state.Service{{Name: "app", Env: map[string]string{"DB_PASSWORD": b.st.Keyed([]byte(canary(16)))}, Tables: map[string]string{"isu.user": "CREATE TABLE `user` (`id` int)"}}}
		r.Body = "set password = " + canary(17)
		r.Run.Faults = []iikanji.Fault{{Kind: iikanji.FaultStatus, Message: "GET /x?token=" + canary(18) + ": 500"}}
		r.Edits = []difference.Edit{{Kind: difference.Other, Place: "/etc/x", Names: []string{"password = " + canary(18)}}}
	})
	all := b.objects()
	for n := 1; n <= 18; n++ {
		if bytes.Contains(all, []byte(canary(n))) {
			t.Errorf("canary %d is in the repository", n)
		}
	}
	if !bytes.Contains(all, []byte("events {}")) || id == "" {
		t.Error("the clean file is not in the repository")
	}
	if len(stopped) < 9 {
		t.Errorf("only %d files were stopped: %+v", len(stopped), stopped)
	}
	for _, s := range stopped {
		if s.Place == clean || s.Line == 0 || !s.New {
			t.Errorf("%+v", s)
		}
	}
	// Allowed files are taken, but no key, account file or dump.
	for _, name := range []string{"env.sh", "shadow", "ssl/private/site.key", "sql/dump.sql", "nginx/inline.conf"} {
		if err := b.st.Allow(filepath.Join(b.etc, name)); err != nil {
			t.Fatal(err)
		}
	}
	b.commit(nil)
	all = b.objects()
	for n, want := range map[int]bool{9: true, 1: false, 2: false, 4: false, 11: false} {
		if bytes.Contains(all, []byte(canary(n))) != want {
			t.Errorf("canary %d is in the repository: %v, want %v", n, !want, want)
		}
	}
}

// TestLayout: the files of a state are where the documentation says, and those that are gone
// go.
func TestLayout(t *testing.T) {
	b := newBed(t)
	conf := b.write("nginx/nginx.conf", "events {}\n")
	b.commit(func(r *Record) {
		r.State.Hosts[0].Services = []state.Service{{Name: "db", Tables: map[string]string{"isu.t": "CREATE TABLE `t` (`id` int)\n"}, Variables: map[string]state.Variable{"max_connections": {Value: "300", Origin: "sql"}, "port": {Value: "3306", Origin: "compile-time"}}}}
		r.Routes = &iikanji.Profile{Rows: []iikanji.Row{{Key: "GET /a", Count: 3}}}
	})
	for name, want := range map[string]string{"hosts/local" + conf: "events {}\n", "hosts/local/schema/db/isu.t.sql": "CREATE TABLE `t` (`id` int)\n", "hosts/local/settings/variables-db.tsv": "max_connections\t300\tsql\n",
		"routes.tsv": "key\tcount\terrors\ttotal_s\tmean_ms\tp99_ms\nGET /a\t3\t0\t0.000\t0.000\t0.000\n"} {
		if got, err := os.ReadFile(filepath.Join(b.l.Dir(), name)); err != nil || string(got) != want {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
	if err := os.Remove(conf); err != nil {
		t.Fatal(err)
	}
	b.commit(nil)
	if _, err := os.Stat(filepath.Join(b.l.Dir(), "hosts/local"+conf)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file that is gone is there: %v", err)
	}
	if got := gitHere(t, b.l.Dir(), "log", "--format=%an %s"); got != "aoi run 2: 100\naoi run 1: 100\n" {
		t.Errorf("%q", got)
	}
}

// TestPush: a push that is rejected, a remote that is not there, and one that does not
// answer are one line each and fail nothing; the next push sends all.
func TestPush(t *testing.T) {
	tier.Slow(t)
	b := newBed(t)
	b.write("a.conf", "x = 1\n")
	b.commit(nil)
	remote := filepath.Join(t.TempDir(), "remote.git")
	if err := b.l.Push(t.Context(), remote); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("no remote: %v", err)
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	began := time.Now()
	err = b.l.Push(t.Context(), "git://"+silent.Addr().String()+"/x")
	if took := time.Since(began); err == nil || took > PushTime+time.Minute {
		t.Errorf("a silent remote: %v after %v", err, took)
	}
	gitHere(t, t.TempDir(), "init", "--quiet", "--bare", "--initial-branch=main", remote)
	if err := b.l.Push(t.Context(), remote); err != nil {
		t.Fatal(err)
	}
	clone := filepath.Join(t.TempDir(), "clone") // another member pushes
	gitHere(t, t.TempDir(), "clone", "--quiet", remote, clone)
	gitHere(t, clone, "commit", "--quiet", "--allow-empty", "-m", "by another")
	gitHere(t, clone, "push", "--quiet", "origin", "HEAD:main")
	b.write("a.conf", "x = 2\n")
	b.commit(nil)
	if err := b.l.Push(t.Context(), remote); err == nil || !strings.Contains(err.Error(), "the remote has commits") {
		t.Errorf("a rejected push: %v", err)
	}
	second := filepath.Join(t.TempDir(), "second.git")
	gitHere(t, t.TempDir(), "init", "--quiet", "--bare", "--initial-branch=main", second)
	if err := b.l.Push(t.Context(), second); err != nil || strings.Count(gitHere(t, second, "log", "--format=%s", "main"), "\n") != 2 {
		t.Errorf("the push of all: %v", err)
	}
}

// TestUsersRepository: nothing is written into the repository that the files are in, also
// with git's variables of a hook in the environment, and with attributes and ignores there.
func TestUsersRepository(t *testing.T) {
	b := newBed(t)
	gitHere(t, b.etc, "init", "--quiet")
	b.write(".gitignore", "*.conf\n")
	b.write(".gitattributes", "*.conf filter=evil\n")
	b.write("a.conf", "x = 1\n")
	gitHere(t, b.etc, "add", "-A")
	gitHere(t, b.etc, "commit", "--quiet", "-m", "mine")
	b.write("a.conf", "x = 2\n")
	before := tree(t, b.etc)
	t.Setenv("GIT_DIR", filepath.Join(b.etc, ".git"))
	t.Setenv("GIT_WORK_TREE", b.etc)
	t.Setenv("GIT_INDEX_FILE", filepath.Join(b.etc, ".git", "index"))
	b.commit(nil)
	for _, name := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"} {
		if err := os.Unsetenv(name); err != nil {
			t.Fatal(err)
		}
	}
	if after := tree(t, b.etc); after != before {
		t.Errorf("the user's repository was touched:\n%s\nwas\n%s", after, before)
	}
	if !bytes.Contains(b.objects(), []byte("x = 2")) {
		t.Error("the file that the user's .gitignore names is not in the ledger")
	}
}

// tree is the content of a folder, with times.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(&all, "%s %v %s\n", path, info.ModTime(), state.Sum(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// TestSize: the repository of 200 runs (make soak; 40 in make check), each with edits of some
// files, has at most 50 MiB on the disk, with the files themselves and the store.
func TestSize(t *testing.T) {
	tier.Slow(t)
	b := newBed(t)
	for i := range 1500 { // as many as /etc of a contest's image has
		b.write(fmt.Sprintf("d%d/%d.conf", i%50, i), strings.Repeat(fmt.Sprintf("setting_%d = %d\n", i, i*7919), 30))
	}
	runs, most := 40, 20
	if tier.Soaking() {
		runs, most = 200, 50
	}
	for run := range runs {
		for i := range 5 {
			b.write(fmt.Sprintf("d%d/%d.conf", (run+i)%50, (run+i)%50), strings.Repeat(fmt.Sprintf("setting_%d = %d\n", i, run*104729+i), 200))
		}
		b.commit(func(r *Record) {
			for i := range 300 {
				r.Run.Notes = append(r.Run.Notes, fmt.Sprintf("message %d of run %d: %d", i, run, i*run*7919))
			}
		})
	}
	out, err := exec.Command("du", "-sk", b.st.Dir()).Output()
	if err != nil {
		t.Fatal(err)
	}
	var kib int
	if _, err := fmt.Sscan(string(out), &kib); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d runs take %.1f MiB", runs, float64(kib)/1024)
	if kib > most<<10 {
		t.Errorf("%d runs take %d MiB, want %d at most", runs, kib>>10, most)
	}
}

// TestSecretLine: lines that look like secrets, and those that do not.
func TestSecretLine(t *testing.T) {
	for name, c := range map[string]struct {
		file, text string
		want       int
	}{
		"a form":      {"a.go", "password := r.FormValue(\"password\")\n", 0},
		"a literal":   {"a.go", "x := 1\npassword := \"hunter2hunter2\"\n", 2},
		"a default":   {"a.go", "getEnv(\"MYSQL_PASS\", \"isucon\")\n", 1},
		"mail":        {"a.conf", "admin = root@example.org\n", 0},
		"go.sum":      {"go.sum", "github.com/x v1.0.0 h1:abcDEF123abcDEF123abcDEF123abcDEF123abcDEF12=\n", 0},
		"a column":    {"a.sql", "CREATE TABLE user (password VARCHAR(255) NOT NULL, token CHAR(64));\n", 0},
		"nginx":       {"nginx.conf", "proxy_pass http://app;\nserver_tokens off;\n", 0},
		"an env file": {"env", "MYSQL_PASS=isucon\n", 1},
		"url":         {"a.rb", "Redis.new(url: 'redis://:s3cret@db:6379')\n", 1},
		"a session":   {"a.py", "app.secret_key = os.environ['SECRET']\n", 0},
	} {
		if got := SecretLine(c.file, c.text); got != c.want {
			t.Errorf("%s: line %d, want %d", name, got, c.want)
		}
	}
}

// FuzzSecretLine: any text has a line of its own, or none.
func FuzzSecretLine(f *testing.F) {
	f.Add("a.go", "password := \"x\"\n")
	f.Add("env", "A=B\n\n")
	f.Fuzz(func(t *testing.T, name, text string) {
		if n := SecretLine(name, text); n < 0 || n > strings.Count(text, "\n")+1 {
			t.Fatalf("line %d of %q", n, text)
		}
	})
}
