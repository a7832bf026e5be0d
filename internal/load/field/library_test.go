package field

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	_ "github.com/iikanji/iikanji/internal/change/all" // every kind
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/facts/factstest"
)

// A library is a Subject that is not an arena: two processes of an app and a
// MariaDB, under other names. The app is this test's binary, executed
// again.
type library struct {
	t      *testing.T
	server *factstest.Server
	site   *change.Site
	deaths Deaths

	mu    sync.Mutex
	desks map[string]*desk
}

// A desk is one process of the app.
type desk struct {
	cmd  *exec.Cmd
	url  string
	done chan struct{}
}

// Services of the library.
const (
	shelves  = "shelves"   // the database
	deskEast = "desk-east" // an app
	deskWest = "desk-west" // the other app
)

// libraryDSN names the environment variable that makes this binary a desk.
const libraryDSN = "IIKANJI_TEST_LIBRARY_DSN"

// TestMain runs a desk if the environment requests it.
func TestMain(m *testing.M) {
	if dsn := os.Getenv(libraryDSN); dsn != "" {
		if err := serveDesk(dsn); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// serveDesk answers "/author?id=N" with the newest books of an author, until
// standard input ends. Its address is its first line of output.
func serveDesk(dsn string) error {
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxIdleConns(4)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /author", func(w http.ResponseWriter, r *http.Request) {
		rows, err := db.QueryContext(r.Context(), "SELECT id, title FROM book WHERE author = ? ORDER BY printed DESC LIMIT 5", r.FormValue("id"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		defer rows.Close()
		for rows.Next() {
			var id int
			var title string
			if err := rows.Scan(&id, &title); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			fmt.Fprintln(w, id, title)
		}
	})
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	l, err := listen()
	if err != nil {
		return err
	}
	fmt.Println("http://" + l.Addr().String())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = srv.Close()
	}()
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// openLibrary starts the database with its books and both desks.
func openLibrary(t *testing.T) *library {
	t.Helper()
	srv, err := factstest.Start(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Stop)
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	root, err := srv.Open(t.Context(), "books")
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, stmt := range []string{
		"CREATE USER IF NOT EXISTS `" + me.Username + "`@localhost", "GRANT ALL ON *.* TO `" + me.Username + "`@localhost WITH GRANT OPTION",
		"CREATE TABLE book (id INT PRIMARY KEY, author INT NOT NULL, printed DATE NOT NULL, title VARCHAR(200) NOT NULL)",
		"INSERT INTO book SELECT seq, seq % 2000, DATE '1900-01-01' + INTERVAL seq % 30000 DAY, CONCAT('本 ', seq, REPEAT('x', 120)) FROM seq_1_to_40000",
	} {
		if _, err := root.ExecContext(t.Context(), stmt); err != nil {
			t.Fatal(err)
		}
	}
	l := &library{t: t, server: srv, desks: map[string]*desk{}}
	db, err := host.Local{}.SQL(host.Login{Socket: srv.Socket, Schema: "books"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	l.site = &change.Site{Target: l.Target(), Services: map[string]change.Service{shelves: {Running: changetest.Running{Pool: db}}, deskEast: {}, deskWest: {}}}
	for _, name := range []string{deskEast, deskWest} {
		if err := l.Restart(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { l.stop(deskEast); l.stop(deskWest) })
	return l
}

func (l *library) slowLog() string {
	path := filepath.Join(filepath.Dir(l.server.Socket), "slow.log")
	if _, err := os.Stat(path); err != nil {
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			l.t.Fatal(err)
		}
	}
	return path
}

func (l *library) Target() iikanji.Target {
	groups := l.Groups()
	return iikanji.Target{Name: "library", Services: []iikanji.Service{
		{Name: deskEast, Role: iikanji.RoleApp, Engine: iikanji.EngineGo, PIDs: groups[deskEast]},
		{Name: deskWest, Role: iikanji.RoleApp, Engine: iikanji.EngineGo, PIDs: groups[deskWest]},
		{Name: shelves, Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB, Socket: l.server.Socket, Schema: "books",
			Logs: []iikanji.Log{{Kind: "slow", Path: l.slowLog()}}},
	}}
}

func (l *library) Site() *change.Site { return l.site }
func (l *library) Deaths() *Deaths    { return &l.deaths }

func (l *library) URL() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.desks[deskEast].url
}

func (l *library) Groups() map[string][]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	groups := map[string][]int{}
	for name, d := range l.desks {
		select {
		case <-d.done:
		default:
			groups[name] = []int{d.cmd.Process.Pid}
		}
	}
	return groups
}

func (l *library) Refresh(ctx context.Context, service string) error { return l.Restart(ctx, service) }

func (l *library) Restart(_ context.Context, service string) error {
	if service == shelves {
		return errors.New("the library's database is not restarted in this test")
	}
	l.stop(service)
	c := mysql.NewConfig()
	c.User, c.Net, c.Addr, c.DBName, c.InterpolateParams = "root", "unix", l.server.Socket, "books", true
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), libraryDSN+"="+c.FormatDSN())
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if _, err := cmd.StdinPipe(); err != nil { // open for as long as this process lives
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	d := &desk{cmd: cmd, url: strings.TrimSpace(line), done: make(chan struct{})}
	go func() { _ = cmd.Wait(); close(d.done) }()
	l.mu.Lock()
	l.desks[service] = d
	l.mu.Unlock()
	return err
}

func (l *library) stop(service string) {
	l.mu.Lock()
	d := l.desks[service]
	l.mu.Unlock()
	if d != nil {
		_ = d.cmd.Process.Kill()
		<-d.done
	}
}

func (l *library) Kill(context.Context) error {
	l.stop(deskEast)
	l.stop(deskWest)
	return nil
}

// Load implements Loader: it requests both desks in turn and checks every answer. The score is the number of right answers per second.
func (l *library) Load(ctx context.Context, spec Load) (*iikanji.Run, error) {
	run := &iikanji.Run{Version: iikanji.RunVersion, Scenario: "library", Began: time.Now(), Place: iikanji.Placement{Cores: 1, Generator: "all"}}
	phase := func(begins bool) {
		if spec.OnPhase != nil {
			spec.OnPhase(scenario.Load, begins)
		}
	}
	if spec.CheckOnly {
		run.Outcome = iikanji.Passed
		return run, nil
	}
	phase(true)
	began, right := time.Now(), int64(0)
	for n := 1; time.Since(began) < spec.Time && ctx.Err() == nil; n++ {
		for _, desk := range []string{deskEast, deskWest} {
			if err := l.ask(ctx, desk, n%2000); err != nil && ctx.Err() == nil {
				run.Faults = append(run.Faults, iikanji.Fault{Step: desk, Message: err.Error(), Fatal: true})
				run.Outcome = iikanji.Failed
			}
			right++
		}
	}
	run.Took = time.Since(began)
	phase(false)
	run.Steps = []iikanji.StepStat{{Step: "author", Count: right}}
	if run.Outcome == iikanji.OutcomeUnknown {
		run.Outcome, run.Score = iikanji.Passed, float64(right)/run.Took.Seconds()
	}
	return run, nil
}

func (l *library) ask(ctx context.Context, name string, author int) error {
	l.mu.Lock()
	url := l.desks[name].url
	l.mu.Unlock()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/author?id=%d", url, author), nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if lines := strings.Count(string(body), "\n"); resp.StatusCode != http.StatusOK || lines != 5 || !strings.Contains(string(body), "本 ") {
		return fmt.Errorf("%s: %d lines for author %d: %.60s", resp.Status, lines, author, body)
	}
	return nil
}
