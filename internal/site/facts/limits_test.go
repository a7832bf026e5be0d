package facts

import (
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/fact"
)

func value(t *testing.T, fs []iikanji.Fact, topic, key string, into any) {
	t.Helper()
	for _, f := range fs {
		if f.Topic == topic && f.Key == key {
			if err := json.Unmarshal([]byte(fact.Text(f)), into); err != nil {
				t.Fatalf("%s %s: %v", topic, key, err)
			}
			return
		}
	}
	t.Fatalf("no fact %s %s among %v", topic, key, fs)
}

// TestLimitFacts compares the limits read for this process with the kernel's
// system calls.
func TestLimitFacts(t *testing.T) {
	fs, err := LimitFacts(host.Local{}, "me", os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	var files, cores float64
	value(t, fs, string(fact.TopicLimit), "nofile", &files)
	value(t, fs, string(fact.TopicProcess), "cores", &cores)
	if files < 10 || cores <= 0 {
		t.Errorf("%v files, %v cores", files, cores)
	}
	if _, err := LimitFacts(host.Local{}, "gone", 1<<30); err == nil || !strings.Contains(err.Error(), "limits of gone") {
		t.Errorf("a process that is not there: %v", err)
	}
	if fs := SysctlFacts(host.Local{}, "host"); len(fs) < 3 || fs[0].Key != "net.core.somaxconn" || fact.Text(fs[0]) == "" {
		t.Errorf("%v", fs)
	}
}

// TestListenFacts checks that a socket of this process is found, with its queue and
// the connection that waits in it.
func TestListenFacts(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fs, err := ListenFacts(host.Local{}, map[string][]int{"me": {os.Getpid()}, "gone": {1 << 30}})
	if err != nil {
		t.Fatal(err)
	}
	var got fact.Listener
	value(t, fs, string(fact.TopicListen), l.Addr().String(), &got)
	if got.Waiting != 1 || got.Backlog < 1 {
		t.Errorf("%+v", got)
	}
	for _, f := range fs {
		if f.Target != "me" {
			t.Errorf("the socket of another process: %+v", f)
		}
	}
}

func TestAnswerFacts(t *testing.T) {
	n := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/text":
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			w.Header().Set("Cache-Control", "no-store")
			fmt.Fprint(w, strings.Repeat("the same text ", 1000))
		case "/counts":
			n++
			http.SetCookie(w, &http.Cookie{Name: "s", Value: fmt.Sprint(n)})
			w.Header().Set("ETag", `"1"`)
			fmt.Fprint(w, n)
		case "/kept":
			w.Header().Set("ETag", `"2"`)
			if r.Header.Get("If-None-Match") == `"2"` {
				w.WriteHeader(http.StatusNotModified)
				return
			}
			fmt.Fprint(w, "kept")
		case "/elsewhere":
			http.Redirect(w, r, "/text", http.StatusFound)
		default:
			panic(http.ErrAbortHandler)
		}
	}))
	defer s.Close()
	fs, err := AnswerFacts(t.Context(), host.Local{}, "nginx", s.URL, map[string]string{"GET /text": "/text?x=1", "GET /counts": "/counts", "GET /kept": "/kept", "GET /elsewhere": "/elsewhere", "GET /dead": "/dead"}, nil, Clients{})
	if err != nil || len(fs) != 4 {
		t.Fatalf("%v, %v", fs, err)
	}
	var text, counts, kept, elsewhere fact.Answer
	value(t, fs, string(fact.TopicAnswer), "GET /kept", &kept)
	value(t, fs, string(fact.TopicAnswer), "GET /text", &text)
	value(t, fs, string(fact.TopicAnswer), "GET /counts", &counts)
	value(t, fs, string(fact.TopicAnswer), "GET /elsewhere", &elsewhere)
	if text.Status != 200 || text.Type != "application/json" || text.Bytes != 14000 || text.Packed == 0 || text.Packed > 1000 || !text.Same || text.Cookie || text.CacheControl != "no-store" || text.URL != "/text?x=1" {
		t.Errorf("%+v", text)
	}
	if kept.Unchanged == 0 || kept.Status != 200 || !kept.Same || counts.Unchanged != 0 {
		t.Errorf("304: %+v %+v", kept, counts)
	}
	if counts.Same || !counts.Cookie || !counts.ETag || elsewhere.Status != 302 {
		t.Errorf("%+v %+v", counts, elsewhere)
	}
}

// TestLimitsOfAnotherHost reads the limits of a process of a host that is not
// this machine: its own /proc and /sys only.
func TestLimitsOfAnotherHost(t *testing.T) {
	h := &host.Fake{Root: t.TempDir(), Host: "other"}
	for name, text := range map[string]string{
		"proc/7/limits":                   "Limit                     Soft Limit           Hard Limit           Units\nMax open files            123                  4096                 files\n",
		"proc/7/status":                   "Name:\tapp\nCpus_allowed_list:\t0-7\n",
		"proc/7/cgroup":                   "0::/app.slice\n",
		"proc/7/environ":                  "A=b\x00GOMAXPROCS=3\x00",
		"proc/sys/net/core/somaxconn":     "99\n",
		"sys/devices/system/cpu/online":   "0-3,6\n",
		"sys/fs/cgroup/app.slice/cpu.max": "450000 100000\n",
	} {
		path := filepath.Join(h.Root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	known, err := LimitFacts(h, "app", 7)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, f := range append(known, SysctlFacts(h, "other")...) {
		got[f.Topic+" "+f.Key] = fact.Text(f)
	}
	want := map[string]string{"limit nofile": "123", "process cores": "4.5", "process gomaxprocs": "3", "sysctl net.core.somaxconn": "99"}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if err := os.Remove(filepath.Join(h.Root, "sys/fs/cgroup/app.slice/cpu.max")); err != nil {
		t.Fatal(err)
	}
	if n := coresOf(h, 7); n != 5 {
		t.Errorf("%v cores, want the 5 of those allowed that are online", n)
	}
	if n := coresOf(h, 8); n != 0 {
		t.Errorf("%v cores of a process that is not there", n)
	}
}

// TestCoresOfThisProcess compares the CPUs of this process with what the
// kernel returns by sched_getaffinity(2).
func TestCoresOfThisProcess(t *testing.T) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		t.Fatal(err)
	}
	if n := allowedCPUs(host.Local{}, os.Getpid()); n != set.Count() {
		t.Errorf("%d CPUs, want %d", n, set.Count())
	}
}

// FuzzCPUs checks that no parsed CPU number is outside the kernel's range.
func FuzzCPUs(f *testing.F) {
	for _, s := range []string{"0-3,7", "", "5", "3-1", "-1", "0-99999999", "x,2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, list string) {
		for cpu := range parseCPUs(list) {
			if cpu < 0 || cpu >= mostCPUs {
				t.Errorf("%q: CPU %d", list, cpu)
			}
		}
	})
}
