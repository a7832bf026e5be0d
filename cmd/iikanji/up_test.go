package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// tinyVariable adds an arena to this binary that starts quickly: the data of real
// arenas takes long to generate with the race detector.
const tinyVariable = "IIKANJI_TEST_TINY"

func init() {
	if os.Getenv(tinyVariable) == "" {
		return
	}
	arena.Register(&arena.Arena{
		Name: "tiny",
		Files: fstest.MapFS{
			"go/main.go": {Data: []byte(tinyApp)},
			"nginx.conf": {Data: []byte(tinyConf)},
		},
		Services: []arena.Service{
			{Name: "database", Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB, Database: arena.Database{Name: "tiny", User: "tiny", Password: "tiny"}},
			{Name: "app", Role: iikanji.RoleApp, Engine: iikanji.EngineGo, Source: "go",
				Env: func(p arena.Places) []string { return []string{fmt.Sprintf("PORT=%d", p.Service("app").Port)} }},
			{Name: "nginx", Role: iikanji.RoleWeb, Engine: iikanji.EngineNginx, Configs: []arena.Config{{Template: "nginx.conf"}}},
		},
	})
}

const tinyApp = `package main

import (
	"net/http"
	"os"
)

func main() {
	panic(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), http.NotFoundHandler()))
}
`

const tinyConf = `pid {{.Run}}/nginx.pid;
error_log {{.Self.Log "error"}};
events {}
http {
    access_log {{.Self.Log "access"}};
    client_body_temp_path {{.Run}}/body;
    proxy_temp_path {{.Run}}/proxy;
    fastcgi_temp_path {{.Run}}/fastcgi;
    uwsgi_temp_path {{.Run}}/uwsgi;
    scgi_temp_path {{.Run}}/scgi;
    server {
        listen {{.Self.Address}};
        location / { proxy_pass http://{{(.Service "app").Address}}; }
    }
}
`

// A session is a running iikanji up with its output so far.
type session struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string
	said  []string
}

func startUp(t *testing.T, args ...string) *session {
	t.Helper()
	s := &session{t: t, cmd: exec.Command("iikanji", append([]string{"up", "tiny"}, args...)...), lines: make(chan string, 1000)}
	s.cmd.Env = append(os.Environ(), tinyVariable+"=1", "GORACE=atexit_sleep_ms=0")
	out, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s.cmd.Stdout, s.cmd.Stderr = w, w
	if s.in, err = s.cmd.StdinPipe(); err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill() // if the test ended early
		_ = s.cmd.Wait()
		_ = out.Close()
	})
	go func() {
		defer close(s.lines)
		for r := bufio.NewScanner(out); r.Scan(); {
			s.lines <- r.Text()
		}
	}()
	return s
}

// expect reads lines until one matches, and returns the last group of the match.
func (s *session) expect(pattern string) string {
	s.t.Helper()
	re := regexp.MustCompile(pattern)
	limit := time.After(2 * time.Minute)
	for {
		select {
		case line, ok := <-s.lines:
			if !ok {
				s.t.Fatalf("it ended without saying %q:\n%s", pattern, strings.Join(s.said, "\n"))
			}
			s.said = append(s.said, line)
			if m := re.FindStringSubmatch(line); m != nil {
				return m[len(m)-1]
			}
		case <-limit:
			s.t.Fatalf("it never said %q:\n%s", pattern, strings.Join(s.said, "\n"))
		}
	}
}

func (s *session) order(line string) {
	s.t.Helper()
	if _, err := io.WriteString(s.in, line+"\n"); err != nil {
		s.t.Fatal(err)
	}
}

// TestUp edits and restarts an app in a session of iikanji up.
func TestUp(t *testing.T) {
	tier.Slow(t)
	dir := filepath.Join(t.TempDir(), "isu")
	for d := filepath.Dir(dir); strings.HasPrefix(d, os.TempDir()+"/"); d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil { // root's services run as another user
			t.Fatal(err)
		}
	}
	s := startUp(t, "--dir", dir)
	s.expect(`^tiny is up, ready in `)
	url := s.expect(`^  url +(http://127.0.0.1:\d+)$`)
	source := s.expect(`^  source +(/.*)$`)
	s.expect(`^Ctrl-C stops it\.$`)

	second := startUp(t, "--dir", dir)
	second.expect(`^iikanji: process ` + strconv.Itoa(s.cmd.Process.Pid) + ` already runs a stack in ` + dir + `$`)
	second.expect(`^hint: it answers at ` + url + `, `)
	if err := second.cmd.Wait(); second.cmd.ProcessState.ExitCode() != exitFailed {
		t.Errorf("the second instance: %v", err)
	}

	s.order("nothing")
	s.expect(`^nothing: want database, app or nginx$`)
	s.order("nginx")
	s.expect(`^nginx is up again after `)
	s.order("database")
	s.expect(`^database is up again after `)
	main := filepath.Join(source, "main.go")
	good, err := os.ReadFile(main)
	if err != nil {
		t.Fatal(err)
	}
	edit(t, main, string(good)+"\nbroken\n")
	s.order("app")
	s.expect(`^iikanji: building the app in ` + source + `:$`)
	s.expect(`main\.go:\d+:\d+: syntax error`)
	s.expect(`^hint: edit ` + source)
	edit(t, main, string(good)+"\n// edited\n")
	if err := s.cmd.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	s.expect(`^app is up again after `)
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	s.expect(`^stopping$`)
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("Ctrl-C: %v", err)
	}

	s = startUp(t, "--dir", dir, "--json")
	if again := s.expect(`^  "url": "(http://127.0.0.1:\d+)",$`); again != url {
		t.Errorf("as JSON it answers at %s, was %s", again, url)
	}
	s.expect(`^}$`)
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("Ctrl-C: %v", err)
	}

	// Ctrl-C while it comes up: it stops everything and prints that.
	s = startUp(t, "--dir", dir)
	s.expect(`^keeping your edits of webapp/go/main\.go$`)
	s.expect(`^starting the database$`)
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	s.expect(`^iikanji: interrupted during the start; all started processes were stopped$`)
	if err := s.cmd.Wait(); s.cmd.ProcessState.ExitCode() != exitFailed {
		t.Errorf("Ctrl-C while coming up: %v", err)
	}
}

func edit(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
