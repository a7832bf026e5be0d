package worker

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/contest"
	"github.com/iikanji/iikanji/internal/portal/sandbox"
	"github.com/iikanji/iikanji/internal/show/progress"
)

// arenaRole is this binary as `iikanji bench ARENA …`: it asks the site to connect to the address of
// the setting jia, and writes a history as the command does. Its notes are what it reached beside.
func arenaRole(args []string) error {
	flags := map[string]string{}
	for i := 1; i+1 < len(args); i += 2 {
		flags[args[i]] = strings.TrimPrefix(args[i+1], "jia=")
	}
	l, err := net.Listen("tcp", flags["--set"])
	if err != nil {
		return err
	}
	defer l.Close()
	run := &iikanji.Run{Version: iikanji.RunVersion, ID: 1, Outcome: iikanji.Passed, Score: 310, Raw: 320, Deducted: 10, Points: []iikanji.PointStat{{Event: "view", Count: 31, Points: 320}}, Took: time.Second,
		Faults: []iikanji.Fault{{Kind: iikanji.FaultCheck, Step: "GET /", Message: "wrong total", Count: 3}}}
	dir := filepath.Join(flags["--history"], "runs", "1")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	w := progress.NewWriter(flags["--history"], "bench", args[0], time.Now)
	time.Sleep(reportEvery) // a writer leaves out what follows at once
	w.Update(func(s *progress.State) { s.Run.Growth, s.Run.Score = []float64{100, 310}, 310 })
	res, err := http.Get(flags["--url"] + "/call?at=" + l.Addr().String())
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return err
	}
	conn, err := l.Accept()
	if err != nil {
		return err
	}
	defer conn.Close()
	if os.WriteFile(filepath.Join(filepath.Dir(flags["--dir"]), "../../outside"), nil, 0o600) == nil {
		run.Reasons = append(run.Reasons, "a file outside")
	}
	if os.Getuid() == 0 {
		run.Reasons = append(run.Reasons, "root")
	}
	text, err := json.Marshal(run)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "run.json"), text, 0o600)
}

// callingSite is a site that connects to where it is asked to.
func callingSite(t *testing.T) *httptest.Server {
	t.Helper()
	site := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		conn, err := net.DialTimeout("tcp", r.URL.Query().Get("at"), 10*time.Second)
		if err != nil {
			http.Error(rw, err.Error(), http.StatusBadGateway)
			return
		}
		conn.Close()
	}))
	t.Cleanup(site.Close)
	return site
}

// TestConfinedArena: the benchmarker of an arena runs in the sandbox, takes connections of the site
// at its port for callbacks, and its result is that of its run.json; without the sandbox it is the
// same.
func TestConfinedArena(t *testing.T) {
	tier.Slow(t)
	tier.Needs(t, "a sandbox", sandbox.Missing())
	w, _ := newWorker(t)
	site := callingSite(t)
	a := &api.Assignment{Job: "j", Epoch: 1, Handle: "h", Target: site.URL, Targets: []string{site.URL}, Log: 1000, Ports: []int{1}, Seed: 7,
		Problem: contest.Problem{ID: "p", Arena: "toy", Load: time.Second, Timeout: time.Minute, Set: map[string]string{"jia": contest.Callback}, Callbacks: []int{free(t)}}}
	for _, confined := range []bool{true, false} {
		w.o.Unconfined = !confined
		r, err := w.run(t.Context(), a, api.Claimed{Worker: w.id, Job: "j", Epoch: 1, Handle: "h"})
		if err != nil || r.Outcome != iikanji.Passed || r.Score != 310 || r.Raw != 320 || r.Deducted != 10 || len(r.Points) != 1 || len(r.Faults) != 1 || r.Faults[0].Message != "wrong total" || len(r.Growth) != 2 || r.Load != time.Second {
			t.Errorf("confined %v: %+v, %v", confined, r, err)
		}
		if confined && len(r.Reasons) > 0 {
			t.Errorf("it reached %q", r.Reasons)
		}
	}
}

// free is a port at which nothing listens now.
func free(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// TestArenaLines: of a report only the last whole line counts, and what the worker decides is not
// taken from it.
func TestArenaLines(t *testing.T) {
	b := &confinedArena{}
	text := []byte(`{"progress":{"score":5,"phase":"load"}}` + "\n" + `{"progress":{"score":7,"phase":"load"}}` + "\n" + `{"progress":{"sco`)
	if p := b.progress(text); p == nil || p.Score != 7 || p.Phase != "load" {
		t.Errorf("progress %+v", p)
	}
	for _, odd := range []string{"", "x", "{}\n", "null\n", "[]\n", `{"report":{"outcome":"nonsense"}}` + "\n"} {
		if r := b.report(ending{report: []byte(odd)}); r.Outcome != iikanji.OutcomeUnknown || r.Error == "" {
			t.Errorf("%q: %+v", odd, r)
		}
	}
	forged := `{"report":{"outcome":"passed","score":5,"seed":9,"refused":"not today","log":"forged","stderr":"forged"}}` + "\n"
	if r := b.report(ending{report: []byte(forged)}); r.Outcome != iikanji.Passed || r.Score != 5 || r.Seed != 0 || r.Refused != "" || r.Log != "" || r.Stderr != "" {
		t.Errorf("forged: %+v", r)
	}
	if r := b.report(ending{report: []byte(`{"report":{"outcome":"interrupted"}}` + "\n")}); r.Outcome != iikanji.OutcomeUnknown {
		t.Errorf("interrupted: %+v", r)
	}
}

// TestCallbacks: runs at one time have different ports, and a port is free again after its run.
func TestCallbacks(t *testing.T) {
	w, _ := newWorker(t)
	a := &api.Assignment{Target: "http://127.0.0.1:9", Problem: contest.Problem{Callbacks: []int{5001, 5002}}}
	var got []string
	first, release, err := w.callback(a)
	got = append(got, first, fmt.Sprint(err))
	second, _, err := w.callback(a)
	got = append(got, second, fmt.Sprint(err))
	if third, _, err := w.callback(a); err == nil {
		t.Errorf("a third run got %s", third)
	}
	release()
	again, _, err := w.callback(a)
	got = append(got, again, fmt.Sprint(err))
	if want := []string{"127.0.0.1:5001", "<nil>", "127.0.0.1:5002", "<nil>", "127.0.0.1:5001", "<nil>"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if none, _, err := w.callback(&api.Assignment{Target: "x"}); err != nil || none != "" {
		t.Errorf("without callbacks: %q, %v", none, err)
	}
	if six, err := towards(netip.MustParseAddrPort("[::1]:9")); err == nil && six.String() != "::1" {
		t.Errorf("towards ::1 from %s", six)
	}
}

// FuzzArenaLines: no report panics or makes a result that is none.
func FuzzArenaLines(f *testing.F) {
	f.Add([]byte(`{"report":{"outcome":"passed","score":5}}` + "\n"))
	f.Add([]byte("{\"progress\":{}}\nx"))
	f.Fuzz(func(t *testing.T, text []byte) {
		b := &confinedArena{}
		b.progress(text)
		r := b.report(ending{report: text})
		if r.Outcome == iikanji.OutcomeUnknown && r.Error == "" || r.Refused != "" {
			t.Fatalf("%+v", r)
		}
	})
}

// TestShards: a problem with shards is loaded by several generators: on the machines that the worker
// names, or in the sandbox on this one.
func TestShards(t *testing.T) {
	w := &Worker{o: Options{Dir: t.TempDir(), Generators: []string{"ssh gen2 iikanji", "ssh gen3 iikanji"}}}
	a := &api.Assignment{Local: true, Target: "http://127.0.0.1:1", Targets: []string{"http://127.0.0.1:1"}, Problem: contest.Problem{Arena: "isuxi", Shards: 2}}
	args := func() string {
		t.Helper()
		s, err := w.kindOf(a, "").command(a, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(s.Args, " ")
	}
	if got := args(); !strings.HasPrefix(got, "load isuxi ") || !strings.HasSuffix(got, "--shards 2 --on ssh gen2 iikanji") {
		t.Errorf("arguments %s", got)
	}
	w.o.Confined = true
	if got := args(); !strings.HasSuffix(got, "--shards 2") {
		t.Errorf("in the sandbox: %s", got)
	}
	if a.Problem.Shards = 1; !strings.HasPrefix(args(), "bench isuxi ") {
		t.Errorf("one generator: %s", args())
	}
}
