package rewrite

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/lang/goapp"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/facts/factstest"
)

var apps = strings.Fields(cmp.Or(os.Getenv("APPS"), "chi gin echo garden orchard"))

// TestApps runs all levers over five applications of different style, one of them at Go 1.13, one with gorm. Every place
// that a comment "Fires" names is rewritten and no other; the rewritten application
// passes go vet, and answers each request as the original does, on a MariaDB.
func TestApps(t *testing.T) {
	tier.Slow(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	db, err := factstest.Start(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Stop()
	for _, name := range apps {
		t.Run(name, func(t *testing.T) {
			if name == "gin" { // without MessagePack, whose codec takes longer to compile than all other packages
				t.Setenv("GOFLAGS", strings.TrimSpace(os.Getenv("GOFLAGS")+" -tags=nomsgpack"))
			}
			dir := copiedApp(t, name)
			fires, still := marks(t, dir)
			original := buildApp(ctx, t, dir)
			fired, hints := rewriteApp(ctx, t, dir)
			compareMarks(t, fires, still, fired)
			run(ctx, t, dir, "go", "vet", "./...")
			rewritten := buildApp(ctx, t, dir)
			n := compareAnswers(ctx, t, db, dir, name, original, rewritten)
			t.Logf("%s: %d rewrites in %d places, %d lookalikes left alone, %d hints, %d equal answers", name, len(fired), len(fires), len(still), hints, n)
		})
	}
}

// copiedApp copies an application to a folder of its own, with the true names of
// its module files.
func copiedApp(t *testing.T, name string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "apps", name))); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"go.mod", "go.sum"} {
		if err := os.Rename(filepath.Join(dir, f+".txt"), filepath.Join(dir, f)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func run(ctx context.Context, t *testing.T, dir string, argv ...string) {
	t.Helper()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS="+os.Getenv("GOFLAGS")+" -mod=readonly -buildvcs=false")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, out)
	}
}

// buildApp builds a program without debug information, which nothing here reads.
func buildApp(ctx context.Context, t *testing.T, dir string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "app")
	run(ctx, t, dir, "go", "build", "-ldflags=-s -w", "-o", program, ".")
	return program
}

var mark = regexp.MustCompile(`(?m)^(Fires|Lookalike): (.*)$`)

// marks reads the comments of functions that name levers: as "function code".
func marks(t *testing.T, dir string) (fires, still map[string]bool) {
	t.Helper()
	fires, still = map[string]bool{}, map[string]bool{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			fd, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			for _, m := range mark.FindAllStringSubmatch(fd.Doc.Text(), -1) {
				for _, code := range strings.Fields(m[2]) {
					map[string]map[string]bool{"Fires": fires, "Lookalike": still}[m[1]][goapp.FuncName(fd)+" "+code] = true
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return fires, still
}

// rewriteApp applies the first fix of every place. Fixes of one statement are
// applied one after another, each planned on the result of the one before.
func rewriteApp(ctx context.Context, t *testing.T, dir string) (fired []string, hints int) {
	t.Helper()
	schema, err := os.ReadFile(filepath.Join(dir, "schema.sql"))
	if err != nil {
		t.Fatal(err)
	}
	facts := Schema(string(schema))
	for round := 0; ; round++ {
		res, err := Run(ctx, dir, []string{"./..."}, facts, All())
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range res.Problems {
			t.Errorf("%s: %s", p.Package, p.Text)
		}
		var chosen []goapp.Fix
		waiting := false
		for _, h := range res.Hits {
			if len(h.Variants) == 0 {
				if round == 0 {
					hints++
				}
				continue
			}
			key := h.Func + " " + h.Code
			if round > 0 && slices.Contains(fired, key) && !Lookup(h.Code).Again {
				continue // a knob is one again with its new value
			}
			if _, err := goapp.Apply(res.Files, append(slices.Clone(chosen), h.Variants[0])); errors.Is(err, goapp.ErrOverlap) {
				waiting = true
				continue
			} else if err != nil {
				t.Fatal(err)
			}
			chosen, fired = append(chosen, h.Variants[0]), append(fired, key)
			waiting = waiting || Lookup(h.Code).Again
		}
		after, err := goapp.Apply(res.Files, chosen)
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range after {
			if err := os.WriteFile(name, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if len(chosen) == 0 || !waiting {
			return fired, hints
		}
	}
}

func compareMarks(t *testing.T, fires, still map[string]bool, fired []string) {
	t.Helper()
	if len(fires) < 8 || len(still) < 4 {
		t.Fatalf("%d places and %d lookalikes are marked: the test would prove little", len(fires), len(still))
	}
	for key := range fires {
		if !slices.Contains(fired, key) {
			t.Errorf("%s does not fire", key)
		}
	}
	for _, key := range fired {
		if !fires[key] {
			t.Errorf("%s fires and is not marked; a lookalike: %v", key, still[key])
		}
	}
}

// compareAnswers sends the requests of requests.txt in order to both programs, each
// on a database of its own, and compares status, type and body.
func compareAnswers(ctx context.Context, t *testing.T, db *factstest.Server, dir, name string, programs ...string) int {
	t.Helper()
	list, err := os.ReadFile(filepath.Join(dir, "requests.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var clients []*http.Client
	for i, program := range programs {
		clients = append(clients, startApp(ctx, t, db, dir, fmt.Sprintf("%s%d", name, i), program))
	}
	n, fine := 0, 0
	for line := range strings.Lines(string(list)) {
		parts := strings.SplitN(strings.TrimSpace(line)+"  ", " ", 3)
		var answers []string
		for _, c := range clients {
			answers = append(answers, answerOf(ctx, t, c, parts[0], parts[1], strings.TrimSpace(parts[2])))
		}
		if answers[0] != answers[1] {
			t.Errorf("%s\nbefore: %s\nafter:  %s", line, answers[0], answers[1])
		}
		if strings.HasPrefix(answers[0], "2") {
			fine++
		}
		n++
	}
	if fine*3 < n*2 {
		t.Errorf("%d of %d requests succeeded: the comparison would prove little", fine, n)
	}
	return n
}

func answerOf(ctx context.Context, t *testing.T, c *http.Client, method, path, body string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, "http://app"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d %s %s", res.StatusCode, res.Header.Get("Content-Type"), text)
}

// startApp fills a database, starts a program on a unix socket, and returns a
// client for it.
func startApp(ctx context.Context, t *testing.T, db *factstest.Server, dir, name, program string) *http.Client {
	t.Helper()
	pool, err := db.Open(ctx, name)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	schema, err := os.ReadFile(filepath.Join(dir, "schema.sql"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pool.ExecContext(ctx, string(schema)); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(t.TempDir(), "s")
	runProgram(ctx, t, name, dir, program, "unix", socket, "LISTEN="+socket, "DSN=root@unix("+db.Socket+")/"+name+"?parseTime=true")
	return &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", socket)
	}}}
}

// runProgram runs a program until the test ends, and waits until it listens at an
// address. What it printed is in the log of a test that failed.
func runProgram(ctx context.Context, t *testing.T, name, dir, program, network, address string, env ...string) {
	t.Helper()
	cmd := exec.Command(program)
	var log bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &log, &log
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s:\n%s", name, log.String())
		}
	})
	for {
		if c, err := net.Dial(network, address); err == nil {
			c.Close()
			return
		} else if ctx.Err() != nil {
			t.Fatalf("%s does not listen: %v", name, err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
