package worker

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/servertest"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/contest"
	"github.com/iikanji/iikanji/internal/portal/sandbox"
)

// foreignRole is the first argument of a process that plays a hostile benchmarker: PORTAL FILE.
const foreignRole = "portal-foreign"

// foreign sends a forged result to the portal, writes outside, leaves a process behind that floods
// its output, and then reports what it reached.
func foreign(args []string) error {
	var reached []string
	client := &http.Client{Timeout: 3 * time.Second}
	forged := `{"worker":"w","job":"j","epoch":1,"handle":"h","report":{"outcome":"passed","score":999999}}`
	if res, err := client.Post(args[0]+"/worker/v1/finish", "application/json", strings.NewReader(forged)); err == nil {
		res.Body.Close()
		reached = append(reached, "the portal")
	}
	if os.WriteFile(args[1], []byte("x"), 0o644) == nil {
		reached = append(reached, "a file outside")
	}
	res, err := client.Get(os.Getenv("IIKANJI_TARGET"))
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return err
	}
	report := os.NewFile(3, "report")
	for i := range 3 { // a verdict of the guard, on every descriptor that could be one
		_, _ = os.NewFile(uintptr(4+i), "guess").WriteString(`{"exit":0}`)
	}
	line, err := json.Marshal(map[string]any{"end": true, "pass": true, "score": 310, "reasons": reached})
	if err != nil {
		return err
	}
	_, err = report.Write(append(line, '\n'))
	return err
}

// newWorker is a worker whose portal lets every attempt go on; finished counts its calls of finish.
func newWorker(t *testing.T) (w *Worker, finished *atomic.Int64) {
	t.Helper()
	finished = &atomic.Int64{}
	portal := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/finish") {
			finished.Add(1)
		}
		_ = json.NewEncoder(rw).Encode(api.BeatAnswer{Do: api.Continue, Now: time.Now()}) // the caller may be gone
	}))
	t.Cleanup(portal.Close)
	w, err := New(Options{URL: portal.URL, Token: "t", Dir: t.TempDir(), Program: program(t), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return w, finished
}

// foreignJob is a job of a contest that is not local.
func foreignJob(t *testing.T, w *Worker, target, file string) *api.Assignment {
	t.Helper()
	return &api.Assignment{Job: "j", Epoch: 1, Handle: "h", Target: target, Targets: []string{target}, Log: 1000, Ports: []int{1},
		Problem: contest.Problem{ID: "p", Command: []string{program(t), foreignRole, w.o.URL, file}, Load: time.Second, Timeout: time.Minute}}
}

// TestForeign: a hostile benchmarker reaches its target, and neither the portal nor files; its own
// report is the result.
func TestForeign(t *testing.T) {
	tier.Slow(t)
	tier.Needs(t, "a sandbox", sandbox.Missing())
	w, finished := newWorker(t)
	site := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { fmt.Fprint(rw, "ok") }))
	defer site.Close()
	file := filepath.Join(t.TempDir(), "outside")
	a := foreignJob(t, w, site.URL, file)
	r, err := w.run(t.Context(), a, api.Claimed{Worker: w.id, Job: "j", Epoch: 1, Handle: "h"})
	if err != nil || r.Outcome != iikanji.Passed || r.Score != 310 || len(r.Reasons) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if n := finished.Load(); n != 0 {
		t.Errorf("the portal got %d forged results", n)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("it wrote outside")
	}
	w.o.Unconfined = true // what the sandbox keeps it from
	if r, err = w.run(t.Context(), a, api.Claimed{}); err != nil || len(r.Reasons) != 2 {
		t.Errorf("unconfined: %+v, %v", r, err)
	}
	if finished.Load() != 1 {
		t.Error("the test does not call the portal")
	}
}

// TestNoSandbox: without a sandbox a foreign benchmarker is refused in one line, and an arena or a
// local contest is not.
func TestNoSandbox(t *testing.T) {
	w, _ := newWorker(t)
	w.missing = "the kernel has no Landlock"
	a := foreignJob(t, w, "http://10.20.0.3:80", "/x")
	s := spec{Path: program(t)}
	err := w.confine(a, &s, "")
	if err == nil || !strings.Contains(err.Error(), w.missing) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
	if kinds := w.kinds(); len(kinds) != 2 {
		t.Errorf("it takes %q", kinds)
	}
	a.Local = true
	if err := w.confine(a, &s, ""); err != nil || s.Confine != nil {
		t.Errorf("local: %v", err)
	}
}

// TestAddresses: a benchmarker reaches the hosts of its team at the contest's ports.
func TestAddresses(t *testing.T) {
	a := &api.Assignment{Target: "http://10.20.0.3:8080", Targets: []string{"http://10.20.0.3:8080", "https://[2001:db8::1]"}, Ports: []int{80, 443}}
	got, err := addresses(a)
	if err != nil || fmt.Sprint(got) != "[10.20.0.3:8080 10.20.0.3:80 10.20.0.3:443 [2001:db8::1]:443 [2001:db8::1]:80]" {
		t.Errorf("%v, %v", got, err)
	}
	a.Ports = nil
	if got, err = addresses(a); err != nil || fmt.Sprint(got) != "[10.20.0.3:0 [2001:db8::1]:0]" {
		t.Errorf("%v, %v", got, err)
	}
	a.Target = "http://example.com"
	if _, err := addresses(a); err == nil {
		t.Error("a name was resolved")
	}
}

// TestForgedVerdict: a benchmarker cannot write what its guard says.
func TestForgedVerdict(t *testing.T) {
	tier.Slow(t)
	s := spec{Path: "/bin/sh", Args: []string{"-c", `for i in 3 4 6 7; do echo '{"exit":0}' >&$i; done 2>/dev/null; exit 7`}, Env: []string{"PATH=" + os.Getenv("PATH")}, Dir: t.TempDir(),
		Silent: time.Minute, Soft: time.Minute, Hard: time.Minute}
	h, err := hold(program(t), nil, s, 1000)
	if err != nil {
		t.Fatal(err)
	}
	if e := <-h.ended; e.exit != 7 || e.why != "" {
		t.Errorf("ended as %+v", e)
	}
}

// TestFlood: 20 MiB of output and 12 MiB of messages are cut, and the end is still found.
func TestFlood(t *testing.T) {
	tier.Slow(t)
	script := `head -c 20000000 /dev/zero | tr '\0' 'x'; i=0; while [ $i -lt 12 ]; do i=$((i+1)); { printf '{"t":1,"message":"'; head -c 1000000 /dev/zero | tr '\0' 'm'; echo '"}'; } >&3; done
echo '{"end":true,"pass":true,"score":310}' >&3`
	s := spec{Path: "/bin/sh", Args: []string{"-c", script}, Env: []string{"PATH=" + os.Getenv("PATH")}, Dir: t.TempDir(), Silent: time.Minute, Soft: time.Minute, Hard: time.Minute, Report: true}
	h, err := hold(program(t), nil, s, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	e := <-h.ended
	if len(e.log) > 11_000 || !strings.Contains(e.log, "bytes were left out") || len(e.report) > maxReport {
		t.Errorf("%d bytes of log, %d of report", len(e.log), len(e.report))
	}
	if r := (&commandBench{}).report(e); r.Outcome != iikanji.Passed || r.Score != 310 {
		t.Errorf("%+v", r)
	}
}

// A hostileHost answers checks in bad ways.
func hostileHost(t *testing.T, want string) (base string, reached *atomic.Int64) {
	t.Helper()
	reached = &atomic.Int64{}
	inner := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	t.Cleanup(inner.Close)
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	if _, err := z.Write(bytes.Repeat([]byte("a"), 50<<20)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	var stop sync.Once
	ended := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch way, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/"); way {
		case "redirect":
			http.Redirect(rw, r, inner.URL+"/latest/meta-data", http.StatusFound)
		case "endless":
			for r.Context().Err() == nil {
				if _, err := rw.Write(bytes.Repeat([]byte("x"), 32<<10)); err != nil {
					return
				}
			}
		case "bomb":
			rw.Header().Set("Content-Encoding", "gzip")
			_, _ = rw.Write(bomb.Bytes()) // the worker hangs up
		case "slow":
			select {
			case <-r.Context().Done():
			case <-ended:
			}
		case "headers":
			for i := range 1000 {
				rw.Header().Set(fmt.Sprint("X-", i), strings.Repeat("h", 100))
			}
		case "stranger":
			_ = json.NewEncoder(rw).Encode(map[string]any{"answer": "guess", "boot": "b", "now": time.Now()}) // the worker may hang up
		case "late":
			_ = json.NewEncoder(rw).Encode(map[string]any{"answer": want, "boot": "b", "now": time.Now().Add(-time.Hour)})
		case "good":
			_ = json.NewEncoder(rw).Encode(map[string]any{"answer": want, "boot": "b", "now": time.Now()})
		default:
			fmt.Fprintln(rw, want)
		}
	}))
	t.Cleanup(func() { stop.Do(func() { close(ended) }); server.Close() })
	return server.URL, reached
}

// TestHostChecks: answers of a host are bounded in time, size and headers, are not decompressed,
// and lead nowhere else.
func TestHostChecks(t *testing.T) {
	tier.Slow(t)
	t.Parallel() // it waits
	w, _ := newWorker(t)
	base, reached := hostileHost(t, "right")
	for _, c := range []struct {
		way, problem     string
		proven, stranger bool
	}{
		{"good", "", true, false}, {"stranger", "another one", false, true}, {"late", "clock", true, false}, {"redirect", "answered 302", false, false}, {"endless", "longer than", false, false},
		{"bomb", "cannot be read", false, false}, {"slow", "no answer", false, false}, {"headers", "no answer", false, false},
	} {
		r := w.checkHost(t.Context(), &api.HostCheck{Way: api.ByAgent, Target: base, Agent: base + "/" + c.way, Nonce: "n", Want: "right", Local: true})
		if c.problem == "" != (r.Problem == "") || !strings.Contains(r.Problem, c.problem) || r.Proven != c.proven || r.Stranger != c.stranger {
			t.Errorf("%s: %+v", c.way, r)
		}
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("a redirect was followed %d times", n)
	}
	if r := w.checkHost(t.Context(), &api.HostCheck{Way: api.ByPath, Target: base, Want: "right", Local: true}); !r.Proven || r.Problem != "" {
		t.Errorf("by path: %+v", r)
	}
	if r := w.checkHost(t.Context(), &api.HostCheck{Way: api.ByPath, Target: base, Want: "other", Local: true}); !r.Stranger {
		t.Errorf("another text: %+v", r)
	}
	gone := "http://" + servertest.FreeAddress(t)
	if r := w.checkHost(t.Context(), &api.HostCheck{Way: api.ByStaff, Target: gone, Local: true}); r.Problem == "" {
		t.Error("a host that is gone is well")
	}
}

// TestForbidden: no job leads to this machine, the portal, the metadata of a cloud, or a name.
func TestForbidden(t *testing.T) {
	w, _ := newWorker(t)
	w.o.URL = "https://10.20.0.9"
	own := "127.0.0.1"
	if all, err := net.InterfaceAddrs(); err == nil {
		for _, a := range all {
			if ip, _, err := net.ParseCIDR(a.String()); err == nil && ip.To4() != nil && !ip.IsLoopback() {
				own = ip.String()
			}
		}
	}
	for target, refused := range map[string]bool{"http://10.20.0.3": false, "http://127.0.0.1:80": true, "http://[::1]": true, "http://[::ffff:127.0.0.1]": true, "http://169.254.169.254": true, "http://224.0.0.1": true,
		"http://0.0.0.0": true, "http://10.20.0.9:8080": true, "http://example.com": true, "http://" + own: true} {
		if got := w.forbidden(target, false); (got != "") != refused {
			t.Errorf("%s: %q", target, got)
		}
	}
	if got := w.forbidden("http://127.0.0.1:80", true); got != "" {
		t.Errorf("loopback in a local contest: %s", got)
	}
}

// TestSpoolFull: a result is sent from memory where the worker's disk is full, and what was written
// of it is not taken for a kept result.
func TestSpoolFull(t *testing.T) {
	tier.Slow(t)
	w, finished := newWorker(t)
	missing := ""
	if err := unix.Mount("tmpfs", w.spool.dir, "tmpfs", 0, "size=16384"); err != nil {
		missing = err.Error()
	}
	tier.Needs(t, "a small file system", missing)
	t.Cleanup(func() {
		if err := unix.Unmount(w.spool.dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	f := api.Finish{Claimed: api.Claimed{Job: "j", Epoch: 1}, Report: api.Report{Outcome: iikanji.Passed, Score: 1, Log: strings.Repeat("x", 100_000)}}
	if err := w.spool.put(f); !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	w.deliver(t.Context(), f)
	if n := finished.Load(); n != 1 {
		t.Errorf("the result was sent %d times", n)
	}
	if left, err := w.spool.all(); err != nil || len(left) != 0 {
		t.Errorf("kept: %+v, %v", left, err)
	}
}
