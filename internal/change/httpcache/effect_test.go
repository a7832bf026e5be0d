package httpcache

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/machine/servertest"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// TestVarnish: what a real Varnish does with the generated VCL. The subtests add to
// one configuration.
func TestVarnish(t *testing.T) {
	tier.Slow(t)
	if changetest.ChildDir() != "" {
		return
	}
	s := newTestSite(t)
	direct := s.body(t, "/sent", "X-Forwarded-For", "1.2.3.4", "User-Agent", "a")
	first := s.apply(t, remedy("varnish", "path", "/article/:id", "valid", "1s"))
	t.Run("kept", func(t *testing.T) { testKept(t, s) })
	t.Run("private", func(t *testing.T) { testPrivate(t, s) })
	t.Run("fresh", func(t *testing.T) { testFresh(t, s) })
	s.apply(t, remedy("varnish", "path", "/sent", "valid", "100ms"))
	if got := s.body(t, "/sent", "X-Forwarded-For", "1.2.3.4", "User-Agent", "a"); strings.ReplaceAll(got, "Accept-Encoding: gzip\r\n", "") != strings.ReplaceAll(direct, "Connection: close\r\n", "") {
		t.Errorf("the app receives\n%s\ninstead of\n%s", got, direct)
	}
	if _, err := change.Plan(t.Context(), s.open(s.dir), remedy("varnish", "path", "/article/:id", "valid", "1s")); err == nil || !strings.Contains(err.Error(), change.ErrNothing.Error()) {
		t.Errorf("planned again: %v", err)
	}
	purged := remedy("varnish", "path", "/article/:id", "valid", "100s", "cookies", "ignore", "writes", "purge")
	purged.Proof = []iikanji.Proof{iikanji.SameForAll}
	if c := s.apply(t, purged); fmt.Sprint(c.Weakens) != "[tested-only]" {
		t.Errorf("with purges it weakens %v", c.Weakens)
	}
	t.Run("writes", func(t *testing.T) { testWrites(t, s) })
	t.Run("linear", func(t *testing.T) { testLinear(t, s) })
	t.Run("bans", func(t *testing.T) { testBans(t, s) })
	t.Run("cookies ignored", func(t *testing.T) {
		if a, b := s.body(t, "/article/c", "Cookie", "a=1"), s.body(t, "/article/c", "Cookie", "a=2"); a != b {
			t.Errorf("%q and %q", a, b)
		}
	})
	several := s.apply(t, remedy("varnish", "path", "/article/:id; /list;/", "valid", "100s", "writes", "purge"))
	t.Run("several", func(t *testing.T) { testSeveral(t, s) })
	s.undo(t, several)
	if a, b := s.body(t, "/list"), s.body(t, "/list"); a == b {
		t.Errorf("undone, but /list is kept: %q", a)
	}
	esi := s.apply(t, remedy("varnish", "path", "/article/:id", "valid", "100s", "esi", "on"))
	t.Run("esi", func(t *testing.T) { testESI(t, s) })
	if got := fmt.Sprint(first.Weakens, esi.Weakens); got != "[freshness privacy] [freshness privacy behaviour]" {
		t.Errorf("without proof they weaken %s", got)
	}
	t.Run("direct", func(t *testing.T) { testDirect(t, s) })
	same := remedy("varnish", "path", "/article/:id", "valid", "50s")
	same.Proof = []iikanji.Proof{iikanji.SameForAll}
	if c := s.apply(t, same); fmt.Sprint(c.Weakens) != "[freshness]" {
		t.Errorf("with proof it weakens %v", c.Weakens)
	}
}

// testKept: an answer is sent again, to HEAD too, and apart for what tells answers
// apart.
func testKept(t *testing.T, s *testSite) {
	if !s.sentAgain(t, "/article/1") {
		t.Error("an answer is not kept")
	}
	if a, b := s.body(t, "/article/1?a"), s.body(t, "/article/1?b"); a == b {
		t.Error("two queries have one answer")
	}
	if a, b := s.body(t, "/article/1", "X-Who", "alice"), s.body(t, "/article/1", "X-Who", "bob"); !strings.HasSuffix(a, "alice") || !strings.HasSuffix(b, "bob") {
		t.Errorf("%q for alice, %q for bob", a, b)
	}
	if a, b := s.body(t, "/"), s.body(t, "/"); a == b {
		t.Error("another path is kept")
	}
	resp, _, err := s.get("/article/1", "X-Iikanji-Generation", "forged", "X-Iikanji-Step", "generation")
	if err != nil || resp.StatusCode != 200 || len(resp.Header["Via"])+len(resp.Header["X-Varnish"]) > 0 || resp.ContentLength <= 0 {
		t.Errorf("%v %v", resp, err)
	}
}

// sentAgain reports whether an answer is sent again. It is asked for several times: on a busy
// machine one that is valid for a second may be too old for the next request.
func (s *testSite) sentAgain(t *testing.T, path string) bool {
	t.Helper()
	for range 10 {
		if first, second := s.body(t, path), s.body(t, path); first == second {
			return true
		}
	}
	return false
}

// testPrivate: answers that are for one client are computed for each request.
func testPrivate(t *testing.T, s *testSite) {
	for _, path := range []string{"/article/cookie", "/article/private", "/article/short"} {
		if a, b := s.body(t, path), s.body(t, path); a == b {
			t.Errorf("%s is sent again: %q", path, a)
		}
	}
	for _, header := range []string{"Cookie", "Authorization", "X-Api-Key"} {
		if a, b := s.body(t, "/article/2", header, "a=1"), s.body(t, "/article/2", header, "a=1"); a == b {
			t.Errorf("a request with %s got an answer of the cache: %q", header, a)
		}
	}
	for _, who := range []string{"alice", "bob", "alice"} {
		if body := s.body(t, "/article/vary", "X-Other", who); !strings.HasSuffix(body, " for "+who) {
			t.Errorf("%s gets %q", who, body)
		}
	}
	before := s.asked.Load()
	for range 2 {
		if resp, _, err := s.get("/article/missing"); err != nil || resp.StatusCode != 404 {
			t.Errorf("%v %v", resp, err)
		}
	}
	if n := s.asked.Load() - before; n != 2 {
		t.Errorf("404 twice, and the app had %d requests", n)
	}
}

// testFresh: no answer is older than valid, counted from before the app read its
// data, also if the app is slow; and the app has few requests.
func testFresh(t *testing.T, s *testSite) {
	for _, slow := range []time.Duration{0, 300 * time.Millisecond, 700 * time.Millisecond} {
		s.slow.Store(int64(slow))
		var wrote []time.Time // of each number that the app has written
		for range s.wrote.Load() + 1 {
			wrote = append(wrote, time.Now())
		}
		before, requests := s.asked.Load(), 0
		for end := time.Now().Add(2500 * time.Millisecond); time.Now().Before(end) || requests < 3; requests++ {
			began := time.Now()
			if requests%20 == 0 { // the counter is the app's data
				s.wrote.Add(1)
				wrote = append(wrote, time.Now())
				began = time.Now()
			}
			var n, at int64
			body := s.body(t, "/article/fresh")
			if _, err := fmt.Sscanf(body, "answer %d, wrote %d,", &n, &at); err != nil {
				t.Fatalf("%q: %v", body, err)
			}
			// The next number was written after this answer was computed.
			if next := at + 1; next < int64(len(wrote)) && began.Sub(wrote[next]) > time.Second+50*time.Millisecond {
				t.Fatalf("slow by %v: an answer was %v old when it was asked for", slow, began.Sub(wrote[next]))
			}
		}
		if asked := s.asked.Load() - before; slow == 0 && asked > 10 {
			t.Errorf("slow by %v: %d requests, the app had %d", slow, requests, asked)
		}
	}
	s.slow.Store(0)
}

// testWrites: any write drops the pages before its answer is sent, also one that
// fails.
func testWrites(t *testing.T, s *testSite) {
	for i, path := range []string{"/comment/1", "/fails", "/elsewhere"} {
		a, b := s.body(t, "/article/1"), s.body(t, "/article/1")
		if a != b {
			t.Fatalf("not kept: %q, %q", a, b)
		}
		if _, _, err := s.send([]string{"POST", "DELETE", "PUT"}[i], path); err != nil {
			t.Fatal(err)
		}
		if c := s.body(t, "/article/1"); c == a || !strings.Contains(c, fmt.Sprintf("wrote %d,", s.wrote.Load())) {
			t.Errorf("after %s: %q, before: %q", path, c, a)
		}
	}
}

// testSeveral: the paths of one remedy are all kept, no other is, and a write drops
// all of them.
func testSeveral(t *testing.T, s *testSite) {
	paths := []string{"/", "/list", "/article/1"}
	var before []string
	for _, path := range paths {
		a, b := s.body(t, path), s.body(t, path)
		if a != b {
			t.Errorf("%s is not kept: %q, %q", path, a, b)
		}
		before = append(before, a)
	}
	if a, b := s.body(t, "/other"), s.body(t, "/other"); a == b {
		t.Errorf("/other is kept: %q", a)
	}
	if _, _, err := s.send("POST", "/comment/1"); err != nil {
		t.Fatal(err)
	}
	for i, path := range paths {
		if after := s.body(t, path); after == before[i] {
			t.Errorf("%s after a write: %q", path, after)
		}
	}
}

// enoughReads reports whether clients have read for two seconds, on a slow machine for more: until
// there are enough reads to prove something, or for a minute.
func enoughReads(mu *sync.Mutex, reads *int) func() bool {
	began := time.Now()
	return func() bool {
		mu.Lock()
		defer mu.Unlock()
		took := time.Since(began)
		return took > 2*time.Second && *reads >= 100 || took > time.Minute
	}
}

// testLinear: with many clients that read and write, no client gets an answer from
// before a write that was answered before its request began. The app reads its data
// early and answers late, so that fetches overlap writes.
func testLinear(t *testing.T, s *testSite) {
	s.slow.Store(int64(3 * time.Millisecond))
	defer s.slow.Store(0)
	before := s.asked.Load()
	var clients sync.WaitGroup
	var mu sync.Mutex
	reads := 0
	enough := enoughReads(&mu, &reads)
	for i := range 8 {
		clients.Go(func() {
			for k := 0; !enough(); k++ {
				if i < 3 { // several writes at a time
					if _, _, err := s.send("POST", "/comment/1"); err != nil {
						t.Error(err)
						return
					}
					time.Sleep(time.Duration(i) * 7 * time.Millisecond)
					continue
				}
				var least int64
				if k%3 == 0 { // a write of this client
					_, body, err := s.send("POST", "/comment/2")
					if _, scan := fmt.Sscanf(body, "wrote %d", &least); err != nil || scan != nil {
						t.Error(body, err)
						return
					}
				}
				_, body, err := s.get("/article/linear")
				var n, at int64
				if _, scan := fmt.Sscanf(body, "answer %d, wrote %d,", &n, &at); err != nil || scan != nil {
					t.Error(body, err)
					return
				}
				if at < least {
					t.Errorf("an answer from write %d after write %d was answered", at, least)
					return
				}
				mu.Lock()
				reads++
				mu.Unlock()
			}
		})
	}
	clients.Wait()
	if asked := s.asked.Load() - before; reads < 20 {
		t.Errorf("%d reads, the app had %d requests", reads, asked)
	}
}

// testBans: no ban of a write replaces another one, which a request may be comparing its
// object with, and Varnish removes the bans and the pages of older generations.
func testBans(t *testing.T, s *testSite) {
	const writes = 20
	before := s.counter(t, "MAIN.bans_added")
	for range writes {
		s.body(t, "/article/1")
		if _, _, err := s.send("POST", "/comment/1"); err != nil {
			t.Fatal(err)
		}
	}
	if added, same := s.counter(t, "MAIN.bans_added")-before, s.counter(t, "MAIN.bans_dups"); added != writes || same != 0 {
		t.Errorf("%d writes: %d bans, %d of them replaced another one", writes, added, same)
	}
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(400 * time.Millisecond) {
		bans, objects := s.counter(t, "MAIN.bans"), s.counter(t, "MAIN.n_object")
		if bans <= writes/4 && objects < writes { // the bans of the last second stay
			return
		}
		if _, _, err := s.send("POST", "/comment/1"); err != nil { // a ban wakes the ban lurker
			t.Fatal(err)
		}
		if time.Now().After(end) {
			t.Fatalf("%d bans and %d objects are left", bans, objects)
		}
	}
}

// counter is a counter of Varnish.
func (s *testSite) counter(t *testing.T, name string) int {
	t.Helper()
	out, err := exec.Command("varnishstat", "-n", filepath.Join(s.dir, "varnish"), "-1", "-f", name).CombinedOutput()
	fields := strings.Fields(string(out))
	if err != nil || len(fields) < 2 || fields[0] != name {
		t.Fatalf("varnishstat: %v\n%s", err, out)
	}
	n, err := strconv.Atoi(fields[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// testESI: a fragment is a part of the page, and a page without a length closes its
// connection.
func testESI(t *testing.T, s *testSite) {
	_, body, err := s.get("/article/page")
	if err != nil || !strings.HasPrefix(body, "<html>answer ") {
		t.Fatalf("%q %v", body, err)
	}
	req, err := http.NewRequest("GET", fmt.Sprintf("http://127.0.0.1:%d/article/page", s.port), nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.ContentLength >= 0 || !resp.Close {
		t.Errorf("length %d, the connection closes: %v: a client that waits for the end would hang", resp.ContentLength, resp.Close)
	}
}

// TestFull: a Varnish whose storage is full drops old answers, and one that is
// larger than the storage reaches the client whole.
func TestFull(t *testing.T) {
	tier.Slow(t)
	if changetest.ChildDir() != "" {
		return
	}
	t.Parallel()
	s := newTestSite(t)
	s.apply(t, remedy("varnish", "path", "/article/:id", "valid", "100s"))
	for i := range 40 { // each is 1 MiB, the storage 16 MiB
		if body := s.body(t, fmt.Sprintf("/article/full?%d", i)); len(body) < 1<<20 {
			t.Fatalf("answer %d has %d bytes", i, len(body))
		}
	}
	if a, b := s.body(t, "/article/full?39"), s.body(t, "/article/full?39"); a != b {
		t.Error("the latest answer is not kept")
	}
	if kept := s.stored(t, "s0"); kept < 8<<20 || kept > 16<<20 {
		t.Errorf("the storage of 16 MiB has %d bytes", kept)
	}
	before := s.asked.Load()
	s.body(t, "/article/full?0")
	if s.asked.Load() == before {
		t.Error("the first answer is still kept: the storage was not full")
	}
	for _, path := range []string{"/article/large", "/article/chunked"} {
		if body := s.body(t, path); len(body) != 24<<20 {
			t.Errorf("%s, 24 MiB, has %d bytes", path, len(body))
		}
	}
	// An answer that the storage cannot hold is freed when it was sent.
	if err := servertest.Eventually(func() error {
		if n := s.stored(t, "Transient"); n > 1<<20 {
			return fmt.Errorf("the storage without a limit has %d bytes", n)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// stored is how many bytes are in a storage of Varnish.
func (s *testSite) stored(t *testing.T, storage string) int {
	t.Helper()
	out, err := exec.Command("varnishstat", "-n", filepath.Join(s.dir, "varnish"), "-1", "-f", "SMA."+storage+".g_bytes").Output()
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(out))
	if len(fields) < 2 {
		t.Fatalf("varnishstat prints %q", out)
	}
	n, err := strconv.Atoi(fields[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// testUndo: the undo leaves nginx with the app, and Varnish stopped.
func testUndo(t *testing.T, s *testSite) {
	before, err := s.state()
	if err != nil {
		t.Fatal(err)
	}
	one := s.apply(t, remedy("varnish", "path", "/article/:id", "valid", "1s"))
	two := s.apply(t, remedy("varnish", "path", "/", "valid", "2s", "writes", "purge"))
	s.undo(t, two)
	if !s.sentAgain(t, "/article/1") {
		t.Error("the first change is not in force any more")
	}
	s.undo(t, one)
	if after, err := s.state(); err != nil || after != before {
		t.Errorf("%v\n%s\nwant\n%s", err, after, before)
	}
}

// TestRefused: remedies that cannot be planned.
func TestRefused(t *testing.T) {
	tier.Slow(t)
	if changetest.ChildDir() != "" {
		return
	}
	t.Parallel()
	s := newTestSite(t)
	t.Run("undo", func(t *testing.T) { testUndo(t, s) })
	state := func() (string, error) { return changetest.Tree(filepath.Join(s.dir, "conf")) }
	type refused = struct {
		Remedy iikanji.Remedy
		Why    string
	}
	changetest.Refuse(t, s.open(s.dir), state, []refused{
		{remedy("varnish", "path", "/a", "valid", "1h"), "want 100ms to 100s"},
		{remedy("varnish", "path", "/a", "valid", "1ms"), "want 100ms to 100s"},
		{remedy("varnish", "path", `/a"; return (pipe)`, "valid", "1s"), "want the path of a URL"},
		{remedy("varnish", "path", "/a/", "valid", "1s", "cookies", "ignore"), "not for a folder"},
		{remedy("varnish", "path", "/*", "valid", "1s", "writes", "purge"), "not a folder"},
		{remedy("varnish", "path", "/a;/b/", "valid", "1s", "cookies", "ignore"), "not for a folder"},
		{remedy("varnish", "path", "/a; /a", "valid", "1s"), "named twice"},
		{remedy("varnish", "path", "/a;", "valid", "1s"), "want the path of a URL"},
		{remedy("varnish", "path", "/a;/guarded", "valid", "1s"), "auth_basic is in effect"},
		{remedy("varnish", "path", "/guarded", "valid", "1s"), "auth_basic is in effect"},
		{remedy("varnish", "path", "/file", "valid", "1s"), "no location passes it on"},
		{remedy("varnish", "path", "/a", "valid", "1s", "service", "nginx"), "not a varnish"},
		{remedy("varnish", "path", "/a", "valid", "1s", "server", "nowhere"), "no server has that name"},
	})
	small := s.open(s.dir)
	svc := small.Services["pages"]
	svc.Memory = 1 << 50
	small.Services["pages"] = svc
	changetest.Refuse(t, small, state, []refused{{remedy("varnish", "path", "/a", "valid", "1s"), "more than half"}})

	s.apply(t, remedy("varnish", "path", "/a", "valid", "1s"))
	path := filepath.Join(s.dir, "conf/pages.vcl")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for edited, why := range map[string]string{noApp: "a VCL of its own", string(text) + "# mine\n": "was edited"} {
		if err := os.WriteFile(path, []byte(edited), 0o644); err != nil {
			t.Fatal(err)
		}
		changetest.Refuse(t, s.open(s.dir), state, []refused{{remedy("varnish", "path", "/b", "valid", "1s"), why}})
	}
}
