package node_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/machine/servertest"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/carry"
	"github.com/iikanji/iikanji/internal/portal/lead"
	"github.com/iikanji/iikanji/internal/portal/node"
	"github.com/iikanji/iikanji/internal/portal/store"
	"github.com/iikanji/iikanji/internal/portal/worker"
)

// Roles of processes of the system tests.
const (
	portalRole = "portal-portal" // FOLDER ADDRESS [PEER …], its own first
	workerRole = "portal-worker" // FOLDER URL TOKEN
	benchRole  = "portal-bench"
)

// faster divides leases and heartbeats: one of 20 s lasts 2 s.
const faster = 10

// portalProcess serves a portal until it is interrupted. SIGUSR1 deletes every stream and key.
func portalProcess(args []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	s, err := store.Open(ctx, filepath.Join(args[0], "portal.db"), store.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	var c carry.Carrier
	if len(args) > 2 {
		c, err = carry.Clustered(ctx, filepath.Join(args[0], "nats-"+args[2]), carry.Peers{Self: args[2], Others: args[3:]}, faster)
	} else {
		c, err = carry.Embedded(ctx, filepath.Join(args[0], "nats"), faster)
	}
	if err != nil {
		return err
	}
	defer c.Close()
	core := lead.New(lead.Options{Store: s, Carry: c, Secret: []byte("x"), Faster: faster})
	n, err := node.New(ctx, core, c, log)
	if err != nil {
		return err
	}
	host, _, err := net.SplitHostPort(args[1])
	if err != nil {
		return err
	}
	server, err := api.NewServer(api.Options{Portal: n, Auth: core, Workers: n, Pages: append(api.HostRoutes(n), api.JudgeRoutes(n)...), Hosts: []string{host}, Log: log})
	if err != nil {
		return err
	}
	empty := make(chan os.Signal, 1)
	signal.Notify(empty, syscall.SIGUSR1)
	go func() {
		for range empty {
			log.Info("emptied", "error", c.Empty(ctx))
		}
	}()
	l, err := net.Listen("tcp", args[1])
	if err != nil {
		return err
	}
	go core.Lead(ctx, log)
	web := &http.Server{Handler: server.Handler()}
	context.AfterFunc(ctx, func() { web.Close() })
	return web.Serve(l)
}

// workerProcess is a worker until it is interrupted.
func workerProcess(args []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	program, err := os.Executable()
	if err != nil {
		return err
	}
	w, err := worker.New(worker.Options{URL: args[1], Token: args[2], Name: filepath.Base(args[0]), Dir: args[0], Program: program, Log: slog.New(slog.NewTextHandler(os.Stderr, nil)), Faster: faster})
	if err != nil {
		return err
	}
	return w.Run(ctx, ctx)
}

// benchProcess loads the site for 0.2 to 0.6 s: one connection that is held. It locks a file of
// its target: the kernel knows at each instant whether another load is alive.
func benchProcess(args []string) error {
	u, err := url.Parse(os.Getenv("IIKANJI_TARGET"))
	if err != nil {
		return err
	}
	lock, err := os.OpenFile(filepath.Join(args[0], "site-"+u.Port()), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return errors.Join(err, os.WriteFile(filepath.Join(args[0], "overlap"), []byte(u.Host), 0o600))
	}
	length := time.Duration(200+rand.IntN(400)) * time.Millisecond
	answer, err := http.Get(os.Getenv("IIKANJI_TARGET") + "/load?ms=" + fmt.Sprint(length.Milliseconds()))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return err
	}
	_, err = fmt.Fprintln(os.NewFile(3, "report"), `{"end":true,"pass":true,"score":310}`)
	return err
}

// A site counts the loads.
type site struct {
	mu    sync.Mutex
	loads int
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.loads++
	s.mu.Unlock()
	ms, out := 0, http.NewResponseController(w)
	_, _ = fmt.Sscan(r.URL.Query().Get("ms"), &ms) // 0 is no load
	for end := time.Now().Add(time.Duration(ms) * time.Millisecond); time.Now().Before(end) && r.Context().Err() == nil; time.Sleep(10 * time.Millisecond) {
		_, _ = w.Write([]byte("."))
		if out.Flush() != nil {
			break
		}
	}
}

// A system is a portal with workers as processes of their own.
type system struct {
	t       *testing.T
	dir     string
	ip      string // of the portal
	address string
	core    *lead.Core // of the test, on the same database
	token   string
	teams   []string
	site    *site
	procs   map[string]*exec.Cmd
	env     []string // of processes that are started now, beside the test's own
}

const systemContest = `name = "System"
local = true
[[rounds]]
id = "day"
kind = "open"
problem = "p"
[problem.p]
command = ["%s", "` + benchRole + `", "%s"]
report = "lines"
load = "1s"
timeout = "30s"
`

// newSystem makes the contest, its teams and the site, and starts the portal and workers.
func newSystem(t *testing.T, teams, workers int) *system {
	t.Helper()
	return newSystemAt(t, "127.0.0.1", teams, workers)
}

// newSystemAt is a system whose portal has an address.
func newSystemAt(t *testing.T, ip string, teams, workers int) *system {
	t.Helper()
	s := &system{t: t, ip: ip, dir: t.TempDir(), site: &site{}, procs: map[string]*exec.Cmd{}}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), filepath.Join(s.dir, "portal.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	s.core = lead.New(lead.Options{Store: db, Carry: carry.NewMemory(time.Now)})
	if _, err := s.core.AddContest(t.Context(), fmt.Appendf(nil, systemContest, program, s.dir), "system.toml"); err != nil {
		t.Fatal(err)
	}
	for i := range teams {
		team, err := s.core.AddTeam(t.Context(), lead.NewTeam{Contest: "system", Name: fmt.Sprintf("team %d", i)})
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(s.site)
		t.Cleanup(server.Close)
		if _, err := s.core.AddHost(t.Context(), "system", team, "h", server.URL, true); err != nil {
			t.Fatal(err)
		}
		s.teams = append(s.teams, team)
	}
	if s.token, err = s.core.AddToken(t.Context(), lead.ScopeWorker, "", time.Hour); err != nil {
		t.Fatal(err)
	}
	s.address = net.JoinHostPort(s.ip, strconv.Itoa(servertest.FreePort(t)))
	t.Cleanup(func() {
		for name := range s.procs {
			s.kill(name, syscall.SIGKILL)
		}
	})
	s.startPortal()
	for i := range workers {
		s.startWorker(fmt.Sprintf("w%d", i))
	}
	return s
}

// start starts a process of a role.
func (s *system) start(name string, args ...string) {
	s.t.Helper()
	program, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), s.env...)
	log, err := os.OpenFile(filepath.Join(s.dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	cmd.Stderr = log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	log.Close()
	s.procs[name] = cmd
}

func (s *system) startPortal() { s.start("portal", portalRole, s.dir, s.address) }

func (s *system) startWorker(name string) { s.startWorkerAt(name, s.address) }

// startWorkerAt starts a worker of the portal at an address.
func (s *system) startWorkerAt(name, address string) {
	dir := filepath.Join(s.dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		s.t.Fatal(err)
	}
	s.start(name, workerRole, dir, "http://"+address, s.token)
}

func (s *system) kill(name string, sig syscall.Signal) {
	if cmd := s.procs[name]; cmd != nil {
		_ = cmd.Process.Signal(sig) // it may have ended
		if sig == syscall.SIGKILL {
			_ = cmd.Wait()
			delete(s.procs, name)
		}
	}
}

// play enqueues jobs for all teams until n were made, and waits for the end of all. At each
// tenth of them it calls trouble.
func (s *system) play(n int, trouble func(tenth int)) {
	s.t.Helper()
	made, tenth := 0, 0
	end := time.Now().Add(6 * time.Minute)
	for {
		open := 0
		for _, team := range s.teams {
			if made < n {
				if _, err := s.core.Enqueue(s.t.Context(), "u"+team, false, api.Enqueue{Round: "system_day", Team: team}); err == nil {
					made++
				} else if !refusal(err, "open-job") {
					s.t.Fatal(err)
				}
			}
		}
		jobs, err := s.core.Jobs(s.t.Context(), "system_day", "")
		if err != nil {
			s.t.Fatal(err)
		}
		for _, j := range jobs {
			if j.State.Open() {
				open++
			}
		}
		if done := (made - open) * 10 / n; done > tenth && tenth < 9 {
			tenth++
			trouble(tenth)
		}
		if made >= n && open == 0 {
			return
		}
		if time.Now().After(end) {
			s.logs()
			s.t.Fatalf("%d of %d jobs are open after 6 minutes", open, made)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// logs shows the last lines of each process.
func (s *system) logs() {
	files, _ := filepath.Glob(filepath.Join(s.dir, "*.log")) // the pattern is valid
	for _, file := range files {
		text, _ := os.ReadFile(file) // for people
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		s.t.Logf("%s:\n%s", filepath.Base(file), strings.Join(lines[max(0, len(lines)-12):], "\n"))
	}
}

// check compares the end state with what was promised. A machine that is busy may lose three attempts
// of a job, as leases last 2 s here: it is broken then, has no result, and is not charged.
func (s *system) check(n int) {
	s.t.Helper()
	jobs, err := s.core.Jobs(s.t.Context(), "system_day", "")
	if err != nil {
		s.t.Fatal(err)
	}
	done, broken, restarted := 0, 0, 0
	for _, j := range jobs {
		switch {
		case j.State == api.Done && j.Result != nil && j.Result.Score == 310:
			done++
		case j.State == api.Broken && j.Attempt >= 3 && j.Result == nil && strings.Contains(j.Text, "lost"):
			broken++
		default:
			s.t.Errorf("job %s is %s: %s", j.ID, j.State, j.Text)
		}
		if j.Attempt > 1 {
			restarted++
		}
	}
	if done+broken != n || broken > n/5 || len(jobs) != n {
		s.t.Errorf("%d of %d jobs are done, %d broken, %d exist", done, n, broken, len(jobs))
	}
	var h lead.History
	if _, err := s.core.Follow(s.t.Context(), "system_day", &h); err != nil {
		s.t.Error(err)
	} else if len(h.Data.Results) != done {
		s.t.Errorf("%d results in the history, want %d", len(h.Data.Results), done)
	}
	s.site.mu.Lock()
	defer s.site.mu.Unlock()
	if host, err := os.ReadFile(filepath.Join(s.dir, "overlap")); err == nil {
		s.t.Errorf("two loads at the same time on %s", host)
	}
	s.t.Logf("%d jobs, %d loads, %d jobs restarted, %d broken", n, s.site.loads, restarted, broken)
}

// TestTrouble: workers are killed and stopped and the portal dies twice in the middle: each job
// has one result, and no site saw two loads.
func TestTrouble(t *testing.T) {
	tier.Slow(t)
	n := 60
	if tier.Soaking() {
		n = 300
	}
	s := newSystem(t, 10, 5)
	s.play(n, func(tenth int) {
		switch tenth {
		case 1:
			s.kill("w0", syscall.SIGKILL)
			s.startWorker("w0")
		case 2, 6:
			s.kill("portal", syscall.SIGKILL)
			s.startPortal()
		case 3:
			s.kill("w1", syscall.SIGSTOP)
			time.AfterFunc(3*time.Second, func() { _ = s.procs["w1"].Process.Signal(syscall.SIGCONT) })
		case 5:
			s.kill("w2", syscall.SIGKILL)
			s.startWorker("w2")
		}
	})
	s.check(n)
}

// TestEmptied: every stream and key is deleted three times in the middle: all jobs end, and the
// history is whole.
func TestEmptied(t *testing.T) {
	tier.Slow(t)
	s := newSystem(t, 5, 3)
	s.play(30, func(tenth int) {
		if tenth%3 == 0 {
			s.kill("portal", syscall.SIGUSR1)
		}
	})
	s.check(30)
}

// TestStream: a browser's stream shows a result within seconds, without other teams' jobs.
func TestStream(t *testing.T) {
	tier.Slow(t)
	s := newSystem(t, 2, 1)
	var answer *http.Response
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.address+"/api/v1/rounds/system_day/stream", nil)
		if err != nil {
			t.Fatal(err)
		}
		if answer, err = http.DefaultClient.Do(r); err == nil {
			break
		}
		if time.Now().After(end) {
			s.logs()
			t.Fatal(err)
		}
	}
	defer answer.Body.Close()
	var playing sync.WaitGroup
	defer playing.Wait()
	playing.Go(func() { s.play(1, func(int) {}) })
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, "event: job") {
			t.Errorf("the public sees a job: %s", line)
		}
		data, ok := strings.CutPrefix(line, "data: ")
		var b api.Board
		if ok && json.Unmarshal([]byte(data), &b) == nil && b.Runs == 1 {
			if len(b.Rows) != 2 && len(b.Rows) != 1 || b.Rows[0].Standing != 310 {
				t.Errorf("the board shows %+v", b.Rows)
			}
			return
		}
	}
	t.Errorf("the stream ended: %v", lines.Err())
}
