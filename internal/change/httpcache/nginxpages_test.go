package httpcache

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/servertest"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/rewrite/pagegen"
	"github.com/iikanji/iikanji/internal/site/facts"
)

// blogSource is an app. A page has a header with the number of requests that the app has
// answered, so that a kept page is seen; its body has the app's data alone.
const blogSource = `package main

import (
	"compress/gzip"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

type blog struct {
	mu       sync.Mutex
	asked    int
	comments map[string]int
	total    int
	slow     time.Duration
}

func main() {
	b := &blog{comments: map[string]int{}}
	os.Remove(os.Args[1] + "-http")
	web, err := net.Listen("unix", os.Args[1]+"-http")
	if err != nil {
		panic(err)
	}
	if err := os.Chmod(os.Args[1]+"-http", 0o777); err != nil {
		panic(err)
	}
	go func() { panic(http.Serve(web, b)) }()
	l, err := net.Listen("unix", os.Args[1])
	if err != nil {
		panic(err)
	}
	for {
		c, err := l.Accept()
		if err != nil {
			panic(err)
		}
		fmt.Fprint(c, "runs")
		c.Close()
	}
}

func (b *blog) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	b.asked++
	if r.URL.RawQuery != "plain" {
		w.Header().Set("X-Asked", strconv.Itoa(b.asked))
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	parts := strings.Split(r.URL.Path, "/")
	id := parts[len(parts)-1]
	comments, total, slow := b.comments[id], b.total, b.slow
	b.mu.Unlock()
	switch parts[1] {
	case "comment", "hidden":
		b.mu.Lock()
		b.comments[id]++
		if parts[1] == "hidden" {
			b.total++
		}
		fmt.Fprint(w, "comments ", b.comments[id])
		b.mu.Unlock()
	case "slow":
		b.mu.Lock()
		b.slow, _ = time.ParseDuration(id)
		b.mu.Unlock()
	case "article":
		time.Sleep(slow)
		if id == "cookie" {
			http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
		}
		if id == "vary" {
			w.Header().Set("Vary", "X-Who")
			fmt.Fprint(w, r.Header.Get("X-Who"), ": ")
		}
		if id == "private" {
			w.Header().Set("Cache-Control", "private")
		}
		if id == "zip" && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			defer z.Close()
			fmt.Fprint(z, "article ", id, " comments ", comments)
			return
		}
		fmt.Fprint(w, "article ", id, " comments ", comments)
	case "list":
		fmt.Fprint(w, "list ", total)
	case "full":
		fmt.Fprint(w, "full ", id, " ", strings.Repeat("x", 256<<10))
	}
}
`

// blogConf is nginx's configuration: %[1]s is the folder, %[2]d nginx's port.
const blogConf = `worker_processes 1;
pid %[1]s/nginx.pid;
error_log %[1]s/error.log error;
events { worker_connections 256; }
http {
    access_log off;
    client_body_temp_path %[1]s/tmp; proxy_temp_path %[1]s/tmp;
    fastcgi_temp_path %[1]s/tmp; uwsgi_temp_path %[1]s/tmp; scgi_temp_path %[1]s/tmp;
    server {
        listen 127.0.0.1:%[2]d;
        location / {
            proxy_set_header Host $http_host;
            proxy_pass http://unix:%[1]s/sock-http;
        }
    }
}
`

// A blogSite is a real nginx in front of a Go app that is compiled of its source.
type blogSite struct {
	*testSite
	app *changetest.App
}

func newBlogSite(t *testing.T) *blogSite {
	t.Helper()
	app := changetest.NewApp(t, map[string]string{"go.mod": "module blog\n\ngo 1.24\n", "main.go": blogSource})
	s := &blogSite{&testSite{dir: app.Dir, port: servertest.FreePort(t), cache: servertest.FreePort(t)}, app}
	if changetest.ChildDir() != "" {
		s.read(t)
		return s
	}
	t.Cleanup(func() { os.RemoveAll(s.folder(t)) })
	s.lay(t, fmt.Sprintf(blogConf, s.dir, s.port))
	return s
}

// folder is the folder with the generations.
func (s *blogSite) folder(t *testing.T) string {
	t.Helper()
	source, err := filepath.EvalSymlinks(s.app.Source(""))
	if err != nil {
		t.Fatal(err)
	}
	return generationsOf(source)
}

func (s *blogSite) open(dir string) *change.Site {
	site := s.app.Open(dir)
	app := site.Services[changetest.Service]
	app.Address, app.Engine = "unix:"+filepath.Join(dir, "sock-http"), iikanji.EngineGo
	site.Services[changetest.Service] = app
	front := s.testSite.open(dir)
	site.Services["nginx"] = front.Services["nginx"]
	return site
}

// apply plans and performs a remedy.
func (s *blogSite) apply(t *testing.T, r iikanji.Remedy) *iikanji.Change {
	t.Helper()
	site := s.open(s.dir)
	c, err := change.Plan(t.Context(), site, r)
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range c.Do {
		if err := site.Perform(t.Context(), op); err != nil {
			t.Fatalf("%v\n%s", err, change.Diff(c))
		}
	}
	c.Remedy = &r
	if err := (Kind{}).InForce(t.Context(), site, c, false); err != nil {
		t.Fatalf("the change is not in force: %v", err)
	}
	return c
}

// page is a page, and whether it was kept.
func (s *blogSite) page(t *testing.T, path string, header ...string) (body, asked string) {
	t.Helper()
	resp, body, err := s.send("GET", path, header...)
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("%s: %v %v", path, resp, err)
	}
	return body, resp.Header.Get("X-Asked")
}

// kept reports whether a page comes from the cache the second time.
func (s *blogSite) kept(t *testing.T, path string, header ...string) bool {
	t.Helper()
	_, a := s.page(t, path, header...)
	_, b := s.page(t, path, header...)
	return a == b
}

func (s *blogSite) post(t *testing.T, path string) {
	t.Helper()
	if resp, _, err := s.send("POST", path); err != nil || resp.StatusCode != 200 {
		t.Fatalf("%s: %v %v", path, resp, err)
	}
}

// TestNginxPagesConformance runs the conformance suite of kinds: plan, undo, kills.
func TestNginxPagesConformance(t *testing.T) {
	tier.Slow(t)
	t.Parallel()
	s := newBlogSite(t)
	s.conform(t, "nginx", "kept: true")
}

// conform runs the suite for an act.
func (s *blogSite) conform(t *testing.T, act, effect string) {
	t.Helper()
	changetest.Run(t, changetest.Case{
		Dir: s.dir, Open: s.open,
		State: func() (string, error) {
			conf, err := changetest.Tree(filepath.Join(s.dir, "conf"))
			source, e := changetest.Tree(filepath.Join(s.dir, "src"))
			if err = errors.Join(err, e); err != nil {
				return "", err
			}
			kept, err := s.keeps("/article/1?plain")
			return fmt.Sprintf("%s%skept: %v", conf, source, kept), err
		},
		Policy:   iikanji.Policy{Allow: []iikanji.Promise{iikanji.TestedOnly, iikanji.Privacy, iikanji.Behaviour}},
		Remedies: map[string]iikanji.Remedy{act: keptByTable(act)},
		Effects:  map[string]string{act: effect},
		Disturb: func(op iikanji.Op) (func() error, error) {
			if _, err := os.Stat(filepath.Dir(op.Place)); errors.Is(err, fs.ErrNotExist) {
				return nil, nil // the folder comes with the change
			}
			return changetest.ByHand(op)
		},
		Serves: func() error {
			resp, _, err := s.get("/list")
			if err == nil && resp.StatusCode != 200 {
				err = fmt.Errorf("status %s", resp.Status)
			}
			return err
		},
	})
}

func keptByTable(act string) iikanji.Remedy {
	return remedy(act, "path", "/article/:id;/list", "valid", "100s", "cookies", "ignore", "drops", "POST /comment/:1=/article/:1")
}

// TestNginxPages: what a real nginx keeps, and what writes drop. The subtests share a
// site and add to its configuration.
func TestNginxPages(t *testing.T) {
	tier.Slow(t)
	if changetest.ChildDir() != "" {
		return
	}
	t.Parallel()
	s := newBlogSite(t)
	before, err := changetest.Tree(filepath.Join(s.dir, "src"))
	if err != nil {
		t.Fatal(err)
	}
	s.refused(t)
	proven := remedy("nginx", "path", "/article/:id;/list", "valid", "100s", "cookies", "ignore")
	proven.Proof = []iikanji.Proof{iikanji.SameForAll}
	all := s.apply(t, proven)
	if got := fmt.Sprint(all.Weakens); got != "[tested-only]" {
		t.Errorf("with proof it weakens %s", got)
	}
	t.Run("kept", func(t *testing.T) { s.testKept(t) })
	t.Run("linear", func(t *testing.T) { s.testLinear(t, "") })
	t.Run("learned", func(t *testing.T) { s.testLearned(t) })
	t.Run("fail safe", func(t *testing.T) { s.testFailSafe(t) })
	unproven := remedy("nginx", "path", "/article/:id;/list", "valid", "100s", "cookies", "ignore", "drops", "POST /comment/:1=/article/:1")
	table := s.apply(t, unproven)
	if got := fmt.Sprint(table.Weakens); got != "[privacy tested-only]" {
		t.Errorf("without proof it weakens %s", got)
	}
	if diff := change.Diff(table); !strings.Contains(diff, `{Write: "POST /comment/:1", Pages: []string{"/article/:1"}}`) || !strings.Contains(table.Says, "POST /comment/:1=/article/:1") {
		t.Errorf("the table is not shown: %s\n%s", table.Says, diff)
	}
	t.Run("table", func(t *testing.T) { s.testTable(t) })
	t.Run("fault", func(t *testing.T) { s.testFault(t) })
	s.undoAll(t, table, all)
	if after, err := changetest.Tree(filepath.Join(s.dir, "src")); err != nil || after != before || s.kept(t, "/list") {
		t.Errorf("undone, the source is\n%s\n%v", after, err)
	}
	t.Run("full", func(t *testing.T) { s.testFull(t) })
}

// refused: remedies that cannot be planned.
func (s *blogSite) refused(t *testing.T) {
	t.Helper()
	state := func() (string, error) {
		conf, err := changetest.Tree(filepath.Join(s.dir, "conf"))
		source, e := changetest.Tree(filepath.Join(s.dir, "src"))
		return conf + source, errors.Join(err, e)
	}
	type refused = struct {
		Remedy iikanji.Remedy
		Why    string
	}
	changetest.Refuse(t, s.open(s.dir), state, []refused{
		{remedy("nginx", "path", "/a", "valid", "1h"), "want 100ms to 100s"},
		{remedy("nginx", "path", "/a/", "valid", "1s"), "not a folder"},
		{remedy("nginx", "path", "/a", "valid", "1s", "size", "1g"), "want a size"},
		{remedy("nginx", "path", "/a", "valid", "1s", "drops", "POST /b=/c"), "not among the kept paths"},
		{remedy("nginx", "path", "/a/:id", "valid", "1s", "drops", "POST /b/:1=/a/:2"), "has no id"},
		{remedy("nginx", "path", "/a", "valid", "1s", "drops", "GET /b=/a"), "want a write and its pages"},
		{remedy("nginx", "path", "/a", "valid", "1s", "drops", "POST /b=/a\"; return 200"), "want"},
		{remedy("direct"), "no service of the engine varnish"},
	})
	other := s.open(s.dir)
	app := other.Services[changetest.Service]
	app.Address = "unix:/elsewhere"
	other.Services[changetest.Service] = app
	changetest.Refuse(t, other, state, []refused{{remedy("nginx", "path", "/a", "valid", "1s"), "no service with source"}})
	resets := s.open(s.dir)
	resets.Target.Bench.Resets = true
	changetest.Refuse(t, resets, state, []refused{{remedy("nginx", "path", "/a", "valid", "1s"), "put back before each run"}})
}

// testKept: pages are kept until any write, apart for what tells them apart; personal
// ones never.
func (s *blogSite) testKept(t *testing.T) {
	for _, path := range []string{"/article/1", "/list", "/article/1?q=1"} {
		if !s.kept(t, path) {
			t.Errorf("%s is not kept", path)
		}
	}
	for _, path := range []string{"/article/cookie", "/article/private", "/full/1", "/other"} {
		if s.kept(t, path) {
			t.Errorf("%s is kept", path)
		}
	}
	for _, header := range []string{"Authorization", "X-Api-Key"} {
		if s.kept(t, "/article/1", header, "a") {
			t.Errorf("a request with %s got a kept page", header)
		}
	}
	for _, who := range []string{"alice", "bob", "alice"} {
		if body, _ := s.page(t, "/article/vary", "X-Who", who); !strings.HasPrefix(body, who+":") {
			t.Errorf("%s gets %q", who, body)
		}
	}
	if !s.kept(t, "/article/1", "Cookie", "a=1") {
		t.Error("cookies are not ignored")
	}
	for _, path := range []string{"/list", "/article/zip"} { // one answer for both kinds of clients
		packed, a := s.page(t, path, "Accept-Encoding", "gzip")
		plain, b := s.page(t, path)
		if path == "/list" && packed != plain || path == "/article/zip" && (plain != "article zip comments 0" || packed[:2] != "\x1f\x8b") || a != b {
			t.Errorf("%s: %q and %q, answers %s and %s of the app", path, packed, plain, a, b)
		}
	}
	for i, path := range []string{"/comment/1", "/hidden/1"} {
		s.post(t, path)
		if body, _ := s.page(t, "/article/1"); body != fmt.Sprint("article 1 comments ", i+1) {
			t.Errorf("after %s: %q", path, body)
		}
	}
	if body, _ := s.page(t, "/list"); body != "list 1" {
		t.Errorf("the list after a write: %q", body)
	}
}

// testLinear: with clients that read and write, no client gets a page from before a write
// that was answered before its request began. The app reads its data early and answers
// late, so that pages are computed while writes are answered.
func (s *blogSite) testLinear(t *testing.T, query string) {
	s.post(t, "/slow/3ms")
	defer s.post(t, "/slow/0s")
	var clients sync.WaitGroup
	var mu sync.Mutex
	reads, writes, before := 0, 0, s.counted(t)
	enough := enoughReads(&mu, &reads)
	for i := range 5 {
		clients.Go(func() {
			for k := 0; !enough(); k++ {
				least := 0
				if (i+k)%9 == 0 {
					_, body, err := s.send("POST", "/comment/7")
					if _, scan := fmt.Sscanf(body, "comments %d", &least); err != nil || scan != nil {
						t.Errorf("%q %v %v", body, err, scan)
						return
					}
					mu.Lock()
					writes++
					mu.Unlock()
				}
				_, body, err := s.get("/article/7" + query)
				var n int
				if _, scan := fmt.Sscanf(body, "article 7 comments %d", &n); err != nil || scan != nil {
					t.Errorf("%q %v %v", body, err, scan)
					return
				}
				if n < least {
					t.Errorf("a page with %d comments after comment %d was answered", n, least)
					return
				}
				mu.Lock()
				reads++
				mu.Unlock()
			}
		})
	}
	clients.Wait()
	if fromCache := reads + writes + 1 - (s.counted(t) - before); reads < 20 || fromCache <= 0 {
		t.Errorf("%d reads, %d of them from the cache", reads, fromCache)
	}
}

// testLearned: the app notes which pages its writes change.
func (s *blogSite) testLearned(t *testing.T) {
	for range 6 {
		for _, path := range []string{"/article/1", "/article/2", "/list"} {
			s.page(t, path)
		}
		s.post(t, "/comment/1")
	}
	s.page(t, "/article/1")
	var seen map[string]pagegen.Pair
	whole := func() bool {
		return seen["/article/:1"].Changed >= 5 && seen["/article/:id"].Same >= 5 && seen["/list"].Same >= 5
	}
	for n, end := 1000, time.Now().Add(time.Minute); !whole() && time.Now().Before(end); n++ {
		time.Sleep(200 * time.Millisecond)
		s.page(t, fmt.Sprintf("/article/%d", n)) // the file is written once a second, after an answer
		seen = s.learnedOf(t, "POST /comment/:1")
	}
	if p := seen["/article/:1"]; p.Changed < 5 || p.Same > 0 {
		t.Errorf("%+v", p)
	}
	if p := seen["/article/:id"]; p.Changed > 0 || p.Same < 5 {
		t.Errorf("%+v", p)
	}
	if p := seen["/list"]; p.Changed > 0 || p.Same < 5 {
		t.Errorf("%+v", p)
	}
}

// learnedOf are the pairs of a write in the file of what the app has learned, by page.
func (s *blogSite) learnedOf(t *testing.T, write string) map[string]pagegen.Pair {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.folder(t), pagegen.LearnedFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	var l pagegen.Learned
	if err == nil {
		err = json.Unmarshal(text, &l)
		if err != nil {
			t.Fatal(err)
		}
	}
	pairs := map[string]pagegen.Pair{}
	for _, p := range l.Pairs {
		if p.Write == write {
			pairs[p.Page] = p
		}
	}
	return pairs
}

// testFailSafe: without a generation no page is kept.
func (s *blogSite) testFailSafe(t *testing.T) {
	folder := s.folder(t)
	if err := os.Rename(folder, folder+"-gone"); err != nil {
		t.Fatal(err)
	}
	if s.kept(t, "/list") {
		t.Error("a page without a generation is kept")
	}
	if err := os.Rename(folder+"-gone", folder); err != nil {
		t.Fatal(err)
	}
	if !s.kept(t, "/list") {
		t.Error("the generation is back, and the page is not kept")
	}
}

// testTable: a write drops the pages of its row, and no others.
func (s *blogSite) testTable(t *testing.T) {
	paths := []string{"/article/1", "/article/2", "/list", "/article/01"}
	var before []string
	for _, path := range paths {
		if !s.kept(t, path) {
			t.Errorf("%s is not kept", path)
		}
		_, asked := s.page(t, path)
		before = append(before, asked)
	}
	s.post(t, "/comment/1")
	for i, dropped := range []bool{true, false, false, true} {
		if _, asked := s.page(t, paths[i]); (asked != before[i]) != dropped {
			t.Errorf("%s is dropped: %v", paths[i], !dropped)
		}
	}
	s.post(t, "/slow/0s") // has no row
	for i, path := range paths {
		if _, asked := s.page(t, path); asked == before[i] {
			t.Errorf("%s is kept after a write without a row", path)
		}
	}
}

// testFault: a write changes a page that the table does not know. The page is stale until
// it is computed again; then the fault is noted, and every write drops all pages.
func (s *blogSite) testFault(t *testing.T) {
	lie := s.apply(t, remedy("nginx", "path", "/article/:id;/list", "valid", "100s", "cookies", "ignore", "drops", "POST /comment/:1=/article/:1;POST /hidden/:1=/article/:1"))
	defer s.undoAll(t, lie)
	body, _ := s.page(t, "/list")
	s.post(t, "/hidden/1")
	if now, _ := s.page(t, "/list"); now != body {
		t.Fatalf("the list is not stale: %q", now)
	}
	if now, _ := s.page(t, "/list?again"); now == body { // another URL: it is computed
		t.Fatalf("the computed list is stale: %q", now)
	}
	// The URL itself is computed again when its time is over; here the app is asked past
	// nginx, as the same client.
	client := &http.Client{Transport: &http.Transport{DialContext: s.dialApp, DisableCompression: true}}
	for range 2 {
		req, err := http.NewRequestWithContext(t.Context(), "GET", fmt.Sprintf("http://127.0.0.1:%d/list", s.port), nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept-Encoding", "gzip") // as nginx
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		s.post(t, "/hidden/1")
	}
	if now, _ := s.page(t, "/list"); now == body {
		t.Error("the fault was not found: the list is still stale")
	}
	if log, err := os.ReadFile(s.app.Path("app.log")); err != nil || !strings.Contains(string(log), "fault: /list changed without being dropped, after POST /hidden/1") {
		t.Errorf("%s %v", log, err)
	}
	if says := facts.StaleIn(host.Local{}, s.app.Source("")); len(says) != 1 || !strings.Contains(says[0], "/list changed after POST /hidden/1") {
		t.Errorf("known of the fault: %q", says)
	}
}

// dialApp connects to the app, past nginx.
func (s *blogSite) dialApp(ctx context.Context, _, _ string) (c net.Conn, err error) {
	return new(net.Dialer).DialContext(ctx, "unix", s.app.Path("sock-http"))
}

// testFull: a cache that is smaller than the pages stays within its size, and every
// answer is right.
func (s *blogSite) testFull(t *testing.T) {
	s.apply(t, remedy("nginx", "path", "/full/:id", "valid", "100s", "cookies", "ignore", "size", "2m"))
	const pages = 60 // of 256 KiB, 15 MiB in all
	for i := range 2 * pages {
		path := fmt.Sprintf("/full/%d", i%pages)
		if body, _ := s.page(t, path); !strings.HasPrefix(body, fmt.Sprintf("full %d x", i%pages)) || len(body) < 256<<10 {
			t.Fatalf("%s: %d bytes", path, len(body))
		}
	}
	if !s.kept(t, "/full/0") {
		t.Error("a full cache keeps nothing")
	}
	// nginx's cache manager looks after 10 s at the latest whether the cache is over its size.
	err := servertest.Eventually(func() error {
		var size int64
		err := filepath.WalkDir(filepath.Join(s.dir, pagesZone), func(_ string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // it was removed meanwhile
			}
			if err == nil && d.Type().IsRegular() {
				if info, e := d.Info(); e == nil {
					size += info.Size()
				}
			}
			return err
		})
		if err == nil && size > 2<<20+512<<10 {
			err = fmt.Errorf("the cache has %d KiB on disk", size>>10)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
