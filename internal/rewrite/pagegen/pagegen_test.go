package pagegen

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A blog is an app with two kinds of pages. A comment changes one kind or both.
type blog struct {
	mu       sync.Mutex
	comments map[string]int
	hidden   bool // comments change the list, too
	listed   int
}

// ServeHTTP implements http.Handler.
func (b *blog) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	kind, id, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch {
	case r.Method == "POST" && kind == "panic":
		panic(http.ErrAbortHandler)
	case r.Method == "POST" && kind == "long":
		for range 200 {
			fmt.Fprint(w, strings.Repeat("x", 1000))
		}
	case r.Method == "POST":
		b.comments[id]++
		if b.hidden {
			b.listed++
		}
		http.Redirect(w, r, "/article/"+id, http.StatusSeeOther)
	case kind == "article":
		fmt.Fprintf(w, "article %s, %d comments", id, b.comments[id])
	case kind == "list":
		fmt.Fprintf(w, "list %d", b.listed)
	}
}

// A kept is a store, the app that it runs in, and what a web server would see.
type kept struct {
	t     *testing.T
	store *Store
	blog  *blog
	http.Handler
}

func open(t *testing.T, p Plan) *kept {
	t.Helper()
	if p.Folder == "" {
		p.Folder = filepath.Join(t.TempDir(), "generations")
	}
	s, err := Open(p)
	if err != nil {
		t.Fatal(err)
	}
	b := &blog{comments: map[string]int{}}
	return &kept{t, s, b, s.Handler(b)}
}

// generation is what nginx has in the key of a link.
func (k *kept) generation(link string) string {
	k.t.Helper()
	to, err := filepath.EvalSymlinks(filepath.Join(k.store.plan.Folder, link))
	if err != nil {
		k.t.Fatal(err)
	}
	return to
}

func (k *kept) send(method, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	k.ServeHTTP(w, httptest.NewRequest(method, path, nil))
	return w
}

// TestDropAll: every write renews the generation before its answer, and no read does.
func TestDropAll(t *testing.T) {
	k := open(t, Plan{Kept: []string{"/article/:id"}})
	seen := []string{k.generation(Common)}
	for i, path := range []string{"/comment/1", "/long"} {
		for _, method := range []string{"GET", "HEAD", "OPTIONS"} {
			k.send(method, "/article/1")
		}
		if now := k.generation(Common); now != seen[len(seen)-1] {
			t.Errorf("reads renewed the generation: %s", now)
		}
		w := k.send("POST", path)
		if want := []int{303, 200}[i]; w.Code != want {
			t.Errorf("%s: status %d", path, w.Code)
		}
		if path == "/long" && w.Body.Len() != 200_000 {
			t.Errorf("the long answer has %d bytes", w.Body.Len())
		}
		now := k.generation(Common)
		if slices.Contains(seen, now) {
			t.Errorf("after %s the generation is still %s", path, now)
		}
		seen = append(seen, now)
	}
	func() {
		defer func() { _ = recover() }()
		k.send("POST", "/panic")
	}()
	if slices.Contains(seen, k.generation(Common)) {
		t.Error("a handler that panicked dropped no page")
	}
	if again := open(t, k.store.plan); slices.Contains(seen, again.generation(Common)) {
		t.Error("a restart dropped no page")
	}
}

// TestBeforeAnswer: the client has no byte of the answer before the pages are dropped.
func TestBeforeAnswer(t *testing.T) {
	for _, path := range []string{"/comment/1", "/long"} {
		k := open(t, Plan{Kept: []string{"/list"}})
		before := k.generation(Common)
		w := &watched{ResponseRecorder: httptest.NewRecorder(), check: func() bool { return k.generation(Common) != before }}
		k.ServeHTTP(w, httptest.NewRequest("POST", path, nil))
		if w.early || w.Code != 303 && w.Body.Len() != 200_000 {
			t.Errorf("%s: something was sent before the pages were dropped, or not all of it: %d, %d bytes", path, w.Code, w.Body.Len())
		}
	}
}

// watched notes whether something is sent while check is false.
type watched struct {
	*httptest.ResponseRecorder
	check func() bool
	early bool
}

func (w *watched) WriteHeader(status int) {
	w.early = w.early || !w.check()
	w.ResponseRecorder.WriteHeader(status)
}

func (w *watched) Write(b []byte) (int, error) {
	w.early = w.early || !w.check()
	return w.ResponseRecorder.Write(b)
}

// TestNoRoom: if no generation can be made, the link goes: then nginx keeps no page. If
// that fails too, the answer is an error.
func TestNoRoom(t *testing.T) {
	k := open(t, Plan{Kept: []string{"/list"}})
	moved := k.store.plan.Folder + "-moved"
	if err := os.Rename(k.store.plan.Folder, moved); err != nil {
		t.Fatal(err)
	}
	if w := k.send("POST", "/comment/1"); w.Code != 303 { // no folder, so no link either
		t.Errorf("status %d", w.Code)
	}
	if err := os.WriteFile(k.store.plan.Folder, nil, 0o644); err != nil { // a file: neither can be done
		t.Fatal(err)
	}
	func() {
		defer func() { _ = recover() }()
		w := httptest.NewRecorder()
		defer func() {
			if w.Code != 500 {
				t.Errorf("pages could not be dropped, and the status is %d", w.Code)
			}
		}()
		k.ServeHTTP(w, httptest.NewRequest("POST", "/comment/1", nil))
	}()
	if _, err := Open(Plan{Folder: k.store.plan.Folder}); err == nil {
		t.Error("a file was taken for the folder")
	}
}

// learn sends comments and reads every page after each.
func (k *kept) learn(rounds int) {
	for i := range rounds {
		for _, path := range []string{"/article/1", "/article/2", "/list"} {
			k.send("GET", path)
		}
		k.send("POST", fmt.Sprintf("/comment/%d", 1+i%2))
	}
}

// TestLearn: which pages a write changes.
func TestLearn(t *testing.T) {
	k := open(t, Plan{Kept: []string{"/article/:id", "/list"}})
	k.learn(11)
	k.send("GET", "/list")
	l, _ := k.store.seen.learned()
	want := `[{POST /comment/:1 /article/:1 10 0} {POST /comment/:1 /article/:id 0 10} {POST /comment/:1 /list 0 11}]`
	if got := fmt.Sprint(l.Pairs); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	k.blog.hidden = true
	k.learn(3)
	l, _ = k.store.seen.learned()
	if got := l.Pairs[2]; got.Changed != 2 {
		t.Errorf("the list changed: %+v", got)
	}
	k.blog.mu.Lock()
	k.blog.listed++ // no request did that
	k.blog.mu.Unlock()
	k.send("GET", "/list")
	k.blog.mu.Lock()
	k.blog.listed++
	k.blog.mu.Unlock()
	k.send("GET", "/list")
	if l, _ = k.store.seen.learned(); l.Unstable["/list"] != 1 {
		t.Errorf("the list changed without a write: %v", l.Unstable)
	}
	text, err := os.ReadFile(filepath.Join(k.store.plan.Folder, LearnedFile))
	if err == nil {
		err = json.Unmarshal(text, &l)
	}
	if err != nil || len(l.Pairs) == 0 {
		t.Errorf("%v %s", err, text)
	}
}

var table = Plan{Kept: []string{"/article/:id", "/list"}, Table: []Row{{"POST /comment/:1", []string{"/article/:1"}}}}

// TestTable: a write drops the pages of its row, and those of an unknown form; a write
// without a row drops all.
func TestTable(t *testing.T) {
	k := open(t, table)
	of := func(paths ...string) (now []string) {
		for _, p := range paths {
			now = append(now, k.generation(BucketOf(p)))
		}
		return append(now, k.generation(Common))
	}
	before := of("/article/1", "/article/2", "/list")
	k.send("POST", "/comment/1")
	after := of("/article/1", "/article/2", "/list")
	for i, dropped := range []bool{true, false, false, true} {
		if (before[i] != after[i]) != dropped {
			t.Errorf("page %d is dropped: %v", i, !dropped)
		}
	}
	k.send("DELETE", "/article/1")
	for i, now := range of("/article/1", "/article/2", "/list") {
		if now == after[i] {
			t.Errorf("page %d is kept after an unknown write", i)
		}
	}
}

// TestFault: a page that changes without being dropped is found when it is computed
// again. From then on every write drops all pages.
func TestFault(t *testing.T) {
	k := open(t, table)
	k.learn(6)
	if l, _ := k.store.seen.learned(); len(l.Stale) > 0 || k.store.distrusts.Load() {
		t.Fatalf("the table is right, and a fault is reported: %v", l.Stale)
	}
	k.blog.hidden = true
	k.send("GET", "/list")
	k.send("POST", "/comment/1") // changes the list, which the table does not know
	before := k.generation(BucketOf("/list"))
	k.send("GET", "/list")
	if l, _ := k.store.seen.learned(); fmt.Sprint(l.Stale) != "[{/list POST /comment/1}]" {
		t.Errorf("%v", l.Stale)
	}
	if k.generation(BucketOf("/list")) == before {
		t.Error("the page is still kept")
	}
	before = k.generation(BucketOf("/article/2"))
	k.send("POST", "/comment/1")
	if k.generation(BucketOf("/article/2")) == before {
		t.Error("the table is still trusted")
	}
}

// TestWriteOf: ids of a path, and other texts that may name the same.
func TestWriteOf(t *testing.T) {
	for path, want := range map[string]string{
		"/a/12/b/0": "POST /a/:1/b/:2 [12 0]", "/a/012": "POST /a/012 []", "/": "POST / []", "/a/:1": "POST /a/::1 []",
		"/u/0190a6b2-0c5e-7f00-8000-0123456789ab": "POST /u/:1 [0190a6b2-0c5e-7f00-8000-0123456789ab]",
	} {
		write, ids := WriteOf("POST", path)
		if got := fmt.Sprint(write, " ", ids); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	p := Plan{Table: []Row{{"POST /a/:1/:2", []string{"/b/:2/:1", "/c"}}}}
	if pages, known := p.pagesOf("POST", "/a/5/6"); !known || fmt.Sprint(pages) != "[/b/6/5 /c]" {
		t.Errorf("%v %v", pages, known)
	}
}

// TestConcurrent: reads and writes side by side; the race detector looks on.
func TestConcurrent(t *testing.T) {
	k := open(t, table)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for n := range 50 {
				if (n+i)%5 == 0 {
					k.send("POST", "/comment/1")
				} else {
					_, _ = io.ReadAll(k.send("GET", "/article/1").Body)
				}
			}
		})
	}
	all.Wait()
	entries, err := os.ReadDir(k.store.plan.Folder)
	if err != nil || len(entries) > 3*(Buckets+1)+2 {
		t.Errorf("%d files are left, %v", len(entries), err)
	}
	if l, _ := k.store.seen.learned(); len(l.Stale) > 0 {
		t.Errorf("reads that overlap writes were compared: %v", l.Stale)
	}
}

// FuzzPaths: any path has a bucket, and a page of a row is the path that it was made of.
func FuzzPaths(f *testing.F) {
	f.Add("POST", "/comment/12/3")
	f.Add("PUT", "//")
	f.Fuzz(func(t *testing.T, method, path string) {
		write, ids := WriteOf(method, path)
		if got := method + " " + withIDs(strings.TrimPrefix(write, method+" "), ids); !strings.Contains(path, ":") && got != method+" "+path {
			t.Errorf("%q became %q", path, got)
		}
		if b := BucketOf(path); len(b) == 0 || len(b) > 2 {
			t.Errorf("%q has bucket %q", path, b)
		}
	})
}
