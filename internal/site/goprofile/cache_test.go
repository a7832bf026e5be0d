package goprofile

import (
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// cachedMain publishes counters as the package of the cache does: in each session, as
// many hits as the connections to its second socket.
const cachedMain = `package main

import (
	"fmt"
	"net"
	"os"
	"sync/atomic"

	_ "example.org/cached/sqlcache"
)

func main() {
	l, err := net.Listen("unix", os.Args[1])
	if err != nil {
		panic(err)
	}
	for {
		c, err := l.Accept()
		if err != nil {
			panic(err)
		}
		counter.Add(1)
		c.Close()
	}
}

var counter atomic.Int64

func init() { hits = func() string { return fmt.Sprint(counter.Load()) } }
`

// publishedCache stands for the generated package: the counters are what is tested here.
const publishedCache = `package sqlcache

import "expvar"

var Hits = func() string { return "0" }

type stats struct{}

func (stats) String() string {
	return "{\"entries\":3,\"bytes\":4096,\"statements\":[{\"text\":\"SELECT 1\",\"kept\":true,\"hits\":" + Hits() + ",\"misses\":5,\"doubts\":0,\"drops\":0,\"evicted\":0}]}"
}

func init() { expvar.Publish("sqlcache", stats{}) }
`

// TestProfileOfCachedApp: the probe of an app with a query cache sends what its counters
// grew by during the session.
func TestProfileOfCachedApp(t *testing.T) {
	tier.Slow(t)
	dir, err := os.MkdirTemp("", "cached") // short, because of the sockets in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	source, socket, second := filepath.Join(dir, "src"), filepath.Join(dir, "s"), filepath.Join(dir, "hits")
	write := func(name, text string) {
		name = filepath.Join(source, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example.org/cached\n\ngo 1.24\n")
	write("main.go", cachedMain)
	write("hits.go", "package main\n\nimport \"example.org/cached/sqlcache\"\n\nvar hits func() string\n\nfunc init() { sqlcache.Hits = func() string { return hits() } }\n")
	write("sqlcache/app_plan.go", publishedCache)
	path, body, err := Probe(source, socket)
	if err != nil {
		t.Fatal(err)
	}
	write(filepath.Base(path), string(body))
	for _, args := range [][]string{{"vet", "./..."}, {"build", "-o", filepath.Join(dir, "app"), "."}} {
		cmd := exec.Command("go", args...)
		cmd.Dir = source
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	app := exec.Command(filepath.Join(dir, "app"), second)
	if err := app.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { app.Process.Kill(); app.Wait() })
	hit := func() {
		t.Helper()
		out := errors.New("not tried")
		for end := time.Now().Add(time.Minute); out != nil && time.Now().Before(end); time.Sleep(time.Millisecond) {
			var c net.Conn
			if c, out = net.Dial("unix", second); out == nil {
				_, _ = io.Copy(io.Discard, c) // until the app has counted it
				c.Close()
			}
		}
		if out != nil {
			t.Fatal(out)
		}
	}
	hit() // the app runs, and the probe listens
	s, err := Begin(t.Context(), socket)
	if err != nil {
		t.Fatal(err)
	}
	for range 4 {
		hit()
	}
	sent, err := s.End()
	if err != nil {
		t.Fatal(err)
	}
	if len(sent.Profile) == 0 || sent.Cache == nil {
		t.Fatalf("%d bytes of profile, %+v", len(sent.Profile), sent.Cache)
	}
	if c := sent.Cache; c.Entries != 3 || c.Bytes != 4096 || len(c.Statements) != 1 || c.All.Misses != 0 || c.All.Hits != 4 {
		t.Errorf("%+v", c)
	}
}

// TestCacheBetween: the counters are differences, of statements whose answers may be
// kept, those that asked the database most first.
func TestCacheBetween(t *testing.T) {
	before := `{"entries":1,"bytes":10,"statements":[{"text":"a","kept":true,"hits":5,"misses":2},{"text":"w","misses":7}],"batches":[{"child":"c","column":"k","sent":2,"keys":9,"used":5}]}`
	after := `{"entries":2,"bytes":20,"statements":[{"text":"a","kept":true,"hits":9,"misses":3},{"text":"b","kept":true,"hits":1,"misses":1,"doubts":2,"drops":3,"evicted":4},{"text":"w","misses":9}],"batches":[{"child":"c","column":"k","sent":3,"keys":19,"used":12},{"child":"idle","column":"k"}]}`
	got, err := cacheBetween([]byte(before), []byte(after))
	want := fact.QueryCacheUse{Hits: 5, Misses: 2, Doubts: 2, Drops: 3, Evicted: 4}
	if err != nil || got.All != want || got.Entries != 2 || got.Bytes != 20 || len(got.Statements) != 2 || got.Statements[0].Text != "b" || got.Statements[1].Hits != 4 {
		t.Errorf("%+v, %v", got, err)
	}
	if len(got.Batches) != 1 || got.Batches[0].Sent != 1 || got.Batches[0].Keys != 10 || got.Batches[0].Used != 7 {
		t.Errorf("%+v", got.Batches)
	}
	for _, text := range []string{"", "x", "{", "3\nab", "-1\n"} {
		if _, err := parse([]byte(text)); err == nil {
			t.Errorf("%q is no answer of a probe", text)
		}
	}
	if out, err := parse([]byte("2\nab\n\n")); err != nil || string(out.Profile) != "ab" || out.Cache != nil {
		t.Errorf("without a cache: %+v, %v", out, err)
	}
	if _, err := parse([]byte("2\nab\n{\n")); err == nil {
		t.Error("counters that are no JSON")
	}
}
