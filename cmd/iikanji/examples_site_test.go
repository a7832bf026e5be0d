package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/day/portalbench"
	"github.com/iikanji/iikanji/internal/machine/servertest"
	"github.com/iikanji/iikanji/internal/site/target"
	"github.com/iikanji/iikanji/internal/site/targettest"
)

// examples is where a group of examples runs: a folder with the files that they name, and
// what isucondition stands for.
type examples struct {
	t       *testing.T
	dir     string // the working folder, also the home of the user
	target  string // in place of isucondition; "" for isucondition itself
	site    *targettest.Site
	replace *strings.Replacer
	ends    []func() // of what runs in the background
	caches  []string // environment variables: those of the go command, which are below the user's home
}

// newExamples makes the folder.
func newExamples(t *testing.T) *examples {
	t.Helper()
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "hello") }))
	t.Cleanup(page.Close)
	x := &examples{t: t, dir: workFolder(t), caches: []string{"GOCACHE=" + goEnv(t, "GOCACHE"), "GOMODCACHE=" + goEnv(t, "GOMODCACHE")}}
	x.files()
	x.replacing("http://127.0.0.1:8080", page.URL, "/srv/isu", filepath.Join(x.dir, "srv-isu"))
	return x
}

// startSite starts the ferry company's site.
func startSite(t *testing.T, x *examples) {
	t.Helper()
	const data = "sql/data.sql" // a quarter of the rows: each request takes a quarter of the database's time
	site, err := targettest.Start(t.Context(), targettest.Edit{File: data, Old: "1 + (seq * 7919) % 6000", New: "1 + (seq * 7919) % 1500"},
		targettest.Edit{File: data, Old: "seq_1_to_6000", New: "seq_1_to_1500"}, targettest.Edit{File: data, Old: "seq_1_to_20000", New: "seq_1_to_5000"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := site.Stop(); err != nil {
			t.Error(err)
		}
	})
	x.site, x.target = site, site.Dir
	x.replacing("http://127.0.0.1:8080", site.URL, "/srv/shop", site.Dir, "/tmp/failed", filepath.Join(x.dir, "failed"), "db=987", fmt.Sprintf("db=%d", site.PID("db")))
}

// replacing sets what stands for places and addresses of other machines.
func (x *examples) replacing(more ...string) {
	x.t.Helper()
	x.replace = strings.NewReplacer(append(more, "/var/log/nginx/", x.dir+"/", "/var/log/mysql/", x.dir+"/", "/etc/nginx/", x.dir+"/",
		"app=1234", fmt.Sprintf("app=%d", os.Getpid()), "127.0.0.1:9000", "127.0.0.1:0", ":4318", "127.0.0.1:0", "8080", strconv.Itoa(servertest.FreePort(x.t)))...)
}

func (x *examples) write(name, text string) {
	x.t.Helper()
	path := filepath.Join(x.dir, name)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o755)
	}
	if err != nil {
		x.t.Fatal(err)
	}
}

// files writes the files that examples name.
func (x *examples) files() {
	now := time.Now()
	access := strings.NewReplacer("22/Nov/2026:10:00:00 +0000", now.Add(-time.Minute).Format("02/Jan/2006:15:04:05 -0700"),
		"22/Nov/2026:10:00:01 +0000", now.Format("02/Jan/2006:15:04:05 -0700")).Replace(sampleFiles["access.log"])
	for _, name := range []string{"access.log", "access.log.1", "host-a.log", "host-b.log", "host-c.log", "fresh.log"} {
		x.write(name, access)
	}
	slow := "# Time: " + now.Format(time.DateOnly) + "T23:59:59.000000Z\n# User@Host: isu[isu] @ localhost []\n# Thread_id: 8  Schema: isu  QC_hit: No\n" +
		"# Query_time: 0.010000  Lock_time: 0.000000  Rows_sent: 1  Rows_examined: 10\nSET timestamp=" + strconv.FormatInt(now.Unix(), 10) + ";\nSELECT 1 FROM t WHERE id = 1;\n"
	for _, name := range []string{"slow.log", "before.log", "after.log", "slow-before.log", "slow-after.log"} {
		x.write(name, slow)
	}
	x.write("old.gz", gzipText(x.t, access))
	x.write("slow.log.gz", gzipText(x.t, slow))
	x.write("openapi.yaml", "openapi: 3.0.0\npaths:\n  /a:\n    get: {}\n")
	x.write("nginx.conf", `events {}
http {
    log_format timed '$remote_addr - - [$time_local] "$request" $status $body_bytes_sent "-" "$http_user_agent" $request_time';
    access_log access.log timed;
}
`)
	x.write("c.json", "")
	x.write("after.json", "")
	for _, name := range []string{"c.json", "after.json"} {
		if out, errs, status := invoke(x.t, "access", "--save", filepath.Join(x.dir, name), filepath.Join(x.dir, "fresh.log")); status != exitDone {
			x.t.Fatalf("saving %s: %s%s", name, out, errs)
		}
	}
	x.write("claude", "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done; shift; exec \"$@\"\n")
	x.write("state/iikanji/.keep", "") // the services' user must reach the folders below
	for _, folder := range []string{".local/share/bash-completion/completions", ".zfunc", ".config/fish/completions"} {
		x.write(folder+"/.keep", "")
	}
	proposer, err := os.ReadFile("../../docs/examples/proposer.py")
	if err != nil {
		x.t.Fatal(err)
	}
	x.write("propose.py", string(proposer))
	remedies := []iikanji.Remedy{{Kind: "nginxconf", Target: "nginx", Args: map[string]string{"act": "upstream keepalive", "keepalive": "16"}},
		{Kind: "mysqlconf", Target: "mariadb", Args: map[string]string{"innodb_buffer_pool_size": "96M"}}}
	for name, list := range map[string][]iikanji.Remedy{"remedy.json": remedies[1:], "keepalive.json": remedies[:1], "remedies.json": remedies} {
		text, err := json.Marshal(list)
		if err != nil {
			x.t.Fatal(err)
		}
		x.write(name, string(text))
	}
	x.module()
}

func gzipText(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// module writes a Go module with a statement that lint mends.
func (x *examples) module() {
	const store = `package store

import "database/sql"

// First returns the first row only.
func First(db *sql.DB, id int) (name string, err error) {
	rows, err := db.Query("SELECT name FROM t WHERE kind = ? ORDER BY id", id)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	if rows.Next() {
		err = rows.Scan(&name)
	}
	return name, err
}
`
	x.write("go.mod", "module example.com/app\n\ngo 1.26\n")
	x.write("store.go", store)
	x.write("internal/store/store.go", store)
	x.write("schema.sql", "CREATE TABLE t (id INT PRIMARY KEY, kind INT NOT NULL, name VARCHAR(20) NOT NULL);\n")
}

// traffic requests pages of the site until the example ends.
func (x *examples) traffic() {
	tick := time.NewTicker(50 * time.Millisecond)
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for n := 0; ; n++ {
			select {
			case <-quit:
				return
			case <-tick.C:
			}
			if res, err := http.Get(fmt.Sprintf("%s/harbour/harbour-%d", x.site.URL, n%50)); err == nil { // it may restart now
				res.Body.Close()
			}
		}
	}()
	x.t.Cleanup(func() { tick.Stop(); close(quit); <-done })
}

// command is the command line of an example, and the folder in which it runs.
func (x *examples) command(one *example) (line, dir string) {
	line, dir = x.replace.Replace(one.line), x.dir
	if x.target != "" {
		line = isuconditionWord.ReplaceAllString(line, "${1}"+x.target)
	}
	switch {
	case line == "iikanji init": // other sites may run here: it must know which one
		line, dir = line+" "+x.site.URL, x.site.Dir
	case line == "iikanji doctor", line == "iikanji diagnose", ofDay.MatchString(line):
		dir = x.site.Dir
		line = strings.Replace(line, "iikanji deploy app ", "iikanji deploy "+x.app()+" ", 1)
	case strings.HasPrefix(line, "iikanji init --policy"):
		line, dir = strings.Replace(line, "init", "init --force "+x.site.URL, 1), x.site.Dir
	case strings.HasPrefix(line, "iikanji init --into"):
		line = strings.Replace(line, "init", "init --force "+x.site.URL, 1)
	case strings.HasPrefix(line, "iikanji collect --for"):
		line = strings.Replace(line, "collect", "collect --url "+x.site.URL, 1)
	}
	return strings.TrimSpace(line + " " + one.with), dir
}

// ofDay matches commands of a contest day, which take the site in the working folder.
var ofDay = regexp.MustCompile(`^iikanji (turn|score|deploy|notify|work|finalize|rehearse|hosts|(bench|plan|apply) \.)( |$)`)

// isuconditionWord is the name of the target as an argument.
var isuconditionWord = regexp.MustCompile(`( )isucondition\b`)

// tooSlow matches what a command prints whose time was too short for a slow machine: a
// search could not even measure the noise, or a load had no answer.
var tooSlow = regexp.MustCompile("the time is up before the noise was known|the score is not above 0: 0 − 0")

// run runs one example.
func (x *examples) run(t *testing.T, one *example) {
	x.t = t
	if one.before != nil {
		one.before(x)
	}
	line, status, text, out := x.once(t, one)
	if one.slower != "" && status != one.status && tooSlow.MatchString(out) {
		again := *one
		again.with, again.slower, again.before = one.slower, "", nil
		x.run(t, &again)
		return
	}
	for try := 1; one.again && try < busyTries && !strings.Contains(text, one.want); try++ {
		line, status, text, out = x.once(t, one)
	}
	if status != one.status || one.want == "" || !strings.Contains(text, one.want) {
		t.Errorf("%s: status %d, want %d; want %q in\n%.4000s\n%s", line, status, one.status, one.want, text, out)
	}
}

// once runs the line of an example. It returns the line, its exit status, the text that must have
// what is wanted, and what it printed.
func (x *examples) once(t *testing.T, one *example) (line string, status int, text, printed string) {
	t.Helper()
	line, dir := x.command(one)
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "trap : INT\n"+line) // the shell outlives Ctrl-C
	var out lockedBuffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, x.env(), &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if one.in != "" {
		if _, err := io.WriteString(stdin, one.in); err != nil {
			t.Error(err)
		}
	}
	if one.forever || one.in != "" {
		x.await(&out, one.want)
	}
	if one.forever {
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil { // as Ctrl-C does
			t.Error(err)
		}
	}
	stdin.Close()
	var failed *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	status = cmd.ProcessState.ExitCode()
	t.Logf("%v, %v of CPU, status %d", time.Since(began).Round(time.Millisecond), (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Round(time.Millisecond), status)
	text, printed = out.String(), out.String()
	if one.file != "" {
		text = x.content(one.file)
	}
	return line, status, text, printed
}

// content is a file that an example wrote.
func (x *examples) content(name string) string {
	x.t.Helper()
	b, err := os.ReadFile(filepath.Join(x.dir, name))
	if err != nil {
		x.t.Error(err)
	}
	return string(b)
}

// env is the environment of a command. The rest between runs and the least load are
// those of tests.
func (x *examples) env() []string {
	x.t.Helper()
	env := append(os.Environ(), "HOME="+x.dir, "XDG_STATE_HOME="+filepath.Join(x.dir, "state"), "PATH="+x.dir+":"+os.Getenv("PATH")+":/usr/sbin", "GORACE=atexit_sleep_ms=0",
		"GOFLAGS="+os.Getenv("GOFLAGS")+" -mod=mod", shopVariable+"=1", restVariable+"=50ms", leastLoadVariable+"=100ms")
	env = append(env, x.caches...)
	for _, name := range []string{"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"} {
		env = append(env, name+"=test@example.com")
	}
	return env
}

// await waits until the output has a text, three minutes at most.
func (x *examples) await(out *lockedBuffer, want string) {
	for end := time.Now().Add(3 * time.Minute); !strings.Contains(out.String(), want) && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
}

// goEnv is a variable of the go command, as the user of the tests has it.
func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// history is the folder of the site's history.
func (x *examples) history() string {
	x.t.Helper()
	found, err := filepath.Glob(filepath.Join(x.dir, "state/iikanji/site-"+filepath.Base(x.site.Dir)+"-*/history"))
	if err != nil || len(found) != 1 {
		x.t.Fatalf("the site has the histories %q, %v", found, err)
	}
	return found[0]
}

// giveBench adds the benchmarker to the site's file. Its runs have so many requests that
// a slow machine finds the same causes.
func (x *examples) giveBench() {
	x.t.Helper()
	x.shell("iikanji init " + x.site.URL + " --force --into " + x.site.Dir + " --bench './bin/load $IIKANJI_URL $IIKANJI_SECONDS 200'")
	file := filepath.Join(x.site.Dir, target.Name)
	text, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, []byte(strings.Replace(string(text), "\n[bench]\n", "\n[bench]\nlength = \"2s\"\n", 1)), 0o600)
	}
	if err != nil || strings.Count(string(text), "\n[bench]\n") != 1 {
		x.t.Fatalf("%v\n%s", err, text)
	}
}

// editByHand edits a file of the site as a person does.
func (x *examples) editByHand() {
	x.t.Helper()
	x.shell("echo '# by hand, at " + time.Now().Format(time.RFC3339Nano) + "' >> " + filepath.Join(x.site.Dir, "conf", "site-ferry.conf"))
}

// editAndRun edits a file of the site and makes a run of the new state.
func (x *examples) editAndRun() {
	x.t.Helper()
	x.editByHand()
	x.shell("cd " + x.site.Dir + " && iikanji bench . --load 1s")
}

// shell runs a line that is not an example.
func (x *examples) shell(line string) {
	x.t.Helper()
	cmd := exec.CommandContext(x.t.Context(), "sh", "-c", line)
	cmd.Dir, cmd.Env = x.dir, x.env()
	if out, err := cmd.CombinedOutput(); err != nil {
		x.t.Fatalf("%s: %v\n%s", line, err, out)
	}
}

// fillRuns adds saved runs up to a number.
func (x *examples) fillRuns(last iikanji.RunID) {
	x.t.Helper()
	h, err := history.Open(x.history())
	if err != nil {
		x.t.Fatal(err)
	}
	defer h.Close()
	for {
		list, err := h.RunList()
		if err != nil {
			x.t.Fatal(err)
		}
		if len(list) > 0 && list[len(list)-1].ID >= last {
			return
		}
		id, _, err := h.NewRun()
		if err == nil {
			err = h.SaveRun(&iikanji.Run{ID: id, Scenario: "ferry", Began: time.Now(), Outcome: iikanji.Passed, Score: 100, Took: time.Second})
		}
		if err != nil {
			x.t.Fatal(err)
		}
	}
}

// team gives the site a receiver of notices.
func (x *examples) team() {
	x.t.Helper()
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	x.t.Cleanup(hook.Close)
	env := filepath.Join(x.site.Dir, "hooks.env")
	text, err := os.ReadFile(filepath.Join(x.site.Dir, target.Name))
	if err == nil {
		err = os.WriteFile(env, []byte("HOOK="+hook.URL+"\n"), 0o600)
	}
	if err == nil && !bytes.Contains(text, []byte("[team]")) {
		err = errors.Join(os.WriteFile(filepath.Join(x.site.Dir, target.Name), append(text, "\n[team]\nnotify = [\"file:"+env+":HOOK\"]\n"...), 0o600))
	}
	if err != nil {
		x.t.Fatal(err)
	}
}

// app is the name of the site's app in its file.
func (x *examples) app() string {
	x.t.Helper()
	f, err := target.Load(filepath.Join(x.site.Dir, target.Name))
	if err != nil {
		x.t.Fatal(err)
	}
	for i := range f.Services {
		if f.Services[i].Role == iikanji.RoleApp {
			return f.Services[i].Name
		}
	}
	x.t.Fatal("the site has no app")
	return ""
}

// sourceElsewhere puts a copy of the app's source into the folder ./go.
func (x *examples) sourceElsewhere() {
	x.t.Helper()
	x.shell("cp -r " + filepath.Dir(x.source()) + " " + filepath.Join(x.site.Dir, "go"))
}

// cloneLedger makes a clone of the ledger in the folder ./ledger.
func (x *examples) cloneLedger() {
	x.t.Helper()
	x.shell("git clone --quiet " + filepath.Join(filepath.Dir(x.history()), "work", "ledger") + " " + filepath.Join(x.site.Dir, "ledger"))
}

// allowLogsOff permits to write no logs.
func (x *examples) allowLogsOff() {
	x.t.Helper()
	path := filepath.Join(x.site.Dir, target.Name)
	text, err := os.ReadFile(path)
	if err == nil {
		plain := regexp.MustCompile(`(?m)^(profile|allow) = .*\n`).ReplaceAllString(string(text), "")
		err = os.WriteFile(path, []byte(strings.Replace(plain, "[policy]\n", "[policy]\nprofile = \"contest\"\n", 1)), 0o600)
	}
	if err != nil {
		x.t.Fatal(err)
	}
}

// portalRun makes run 15 one that a person started in a portal.
func (x *examples) portalRun() {
	x.t.Helper()
	x.fillRuns(14)
	h, err := history.Open(x.history())
	if err != nil {
		x.t.Fatal(err)
	}
	defer h.Close()
	now := time.Now()
	if id, err := portalbench.Record(h, "ferry", portalbench.Load{From: now.Add(-time.Minute), To: now}, "an example"); err != nil || id != 15 {
		x.t.Fatal(id, err)
	}
}

// messages writes what a portal shows.
func (x *examples) messages() {
	x.t.Helper()
	if err := os.WriteFile(filepath.Join(x.site.Dir, "messages.txt"), []byte("score: 44034\nGET /api/trend: timeout\n"), 0o600); err != nil {
		x.t.Fatal(err)
	}
}

// changeShop keeps one change of the arena. The other machine of export has its
// configuration without the change.
func (x *examples) changeShop() {
	x.shell("cp state/iikanji/shop/conf/nginx.conf nginx.conf && iikanji apply shop --file keepalive.json")
}

// upShop keeps the arena up until the example ends.
func (x *examples) upShop() {
	x.t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(x.t.Context()), "iikanji", "up", "shop") // the test ends it
	var out lockedBuffer
	cmd.Env, cmd.Stdout, cmd.Stderr = x.env(), &out, &out
	stdin, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		x.t.Fatal(err)
	}
	x.t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt) // Wait returns the error if it has ended
		if err := cmd.Wait(); err != nil {
			x.t.Errorf("iikanji up shop: %v\n%s", err, out.String())
		}
		stdin.Close()
	})
	x.await(&out, "http://127.0.0.1:")
}

// revertShop brings the arena into its original state.
func (x *examples) revertShop() { x.shell("iikanji revert shop --all") }

// forgetFile removes the iikanji.toml that another example wrote.
func (x *examples) forgetFile() { x.shell("rm -f iikanji.toml") }

// copyHistory copies the site's history into a repository.
func (x *examples) copyHistory() {
	x.shell("git init --quiet && cp -r " + x.history() + " history")
}

// historyInGit makes a repository of the site's history.
func (x *examples) historyInGit() {
	x.shell("git -C " + x.history() + " init --quiet")
}
