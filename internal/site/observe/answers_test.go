package observe

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/bench"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/fact"
	"github.com/iikanji/iikanji/internal/site/facts"
)

func TestFits(t *testing.T) {
	for _, c := range []struct {
		route, url string
		words      int
		ok         bool
	}{
		{"GET /", "GET /", 2, true},
		{"GET /a/:id", "GET /a/7", 2, true},
		{"GET /a/:id", "GET /a/", 0, false},
		{"GET /a/:id", "GET /a/7/b", 0, false},
		{"GET /a/:id/b", "GET /a/7/b", 3, true},
		{"GET /a/:file.js", "GET /a/x.123.js", 2, true},
		{"GET /a/:file.js", "GET /a/x.css", 0, false},
		{"POST /a", "GET /a", 0, false},
		{"GET /a", "GET /ab", 0, false},
	} {
		if n, ok := fits(c.route, c.url); ok != c.ok || n != c.words {
			t.Errorf("%s fits %s: %d %v, want %d %v", c.route, c.url, n, ok, c.words, c.ok)
		}
	}
}

// TestSeriesOf folds URLs into routes: one icon changed its size, and another one was
// requested only once, so that it is not counted as fixed or changed.
func TestSeriesOf(t *testing.T) {
	row := func(key string, n int64, bytes, most iikanji.Bytes) iikanji.Row {
		return iikanji.Row{Key: key, Count: n, Web: &iikanji.WebRow{Bytes: bytes, MaxBytes: most}}
	}
	access := &iikanji.Profile{Rows: []iikanji.Row{{Key: "GET /icon/:id"}, {Key: "GET /icon/new"}, {Key: "GET /"}}}
	urls := &iikanji.Profile{Rows: []iikanji.Row{row("GET /icon/1?x=1", 4, 400, 100), row("GET /icon/2", 5, 450, 100), row("GET /icon/3", 1, 7, 7), row("GET /icon/new", 2, 20, 10), row("GET /b/c", 1, 1, 1), row("GET /", 3, 3*16803-30, 16803)}}
	got := seriesOf(access, urls)
	if len(got) != 3 || got["GET /"].Fixed != 1 || got["GET /"].FixedBytes != 2*16803-30 || *got["GET /icon/:id"] != (fact.Series{URLs: 3, Repeats: 7, Again: 2, Fixed: 1, FixedRepeats: 3, FixedBytes: 300, Sizes: 1, Heaviest: "/icon/2"}) || got["GET /icon/new"].FixedBytes != 10 {
		t.Errorf("%+v %+v", got["GET /icon/:id"], got["GET /icon/new"])
	}
}

// TestAddURLs: in a load of 9.5 s, the cache answers what is beyond 10 requests for
// each URL.
func TestAddURLs(t *testing.T) {
	access := &iikanji.Profile{Rows: []iikanji.Row{{Key: "GET /a/:id"}, {Key: "GET /"}}}
	row := func(url string, n int64) iikanji.Row {
		return iikanji.Row{Key: "GET " + url, Count: n, Web: &iikanji.WebRow{}}
	}
	urls := &iikanji.Profile{Rows: []iikanji.Row{row("/a/1", 3), row("/a/2", 300), row("/a/3", 20), row("/a/4", 9), row("/a/5", 1), row("/a/6", 4), row("/", 11), row("/elsewhere", 99)}}
	series := seriesOf(access, urls)
	heaviest := series["GET /a/:id"].Heaviest
	addURLs(series, access, urls, 9500*time.Millisecond)
	if s := series["GET /a/:id"]; s.Crowded != 300 || heaviest != "/a/1" || s.Others != [3]string{"/a/2", "/a/3", "/a/4"} {
		t.Errorf("%+v", *s)
	}
	if s := series["GET /"]; s.Crowded != 1 || s.Others != [3]string{} {
		t.Errorf("%+v", *s)
	}
	seen := []iikanji.Fact{facts.SeriesFact("nginx", "GET /a/:id", *series["GET /a/:id"]), facts.SeriesFact("other", "GET /", *series["GET /a/:id"])}
	if got := fmt.Sprint(othersToAsk(seen, "nginx")); got != "map[GET /a/:id:[/a/2 /a/3 /a/4]]" {
		t.Error(got)
	}
}

// TestCompare checks that consecutive answers to two clients are compared, and that
// answers to one client and answers far apart are not.
func TestCompare(t *testing.T) {
	at := func(ms int, client, bytes uint32) bench.Sample {
		return bench.Sample{End: time.Duration(ms) * time.Millisecond, Client: client, Bytes: bytes}
	}
	s := &fact.Series{}
	compare(s, []bench.Sample{at(0, 1, 10), at(1000, 3, 20), at(10, 2, 10), at(20, 2, 99), at(1010, 1, 20), at(1300, 2, 20), at(1310, 1, 40)})
	if *s != (fact.Series{Clients: 3, Pairs: 3, Alike: 2, Changes: 1, Least: 20, Most: 40}) {
		t.Errorf("%+v", *s)
	}
}

// TestSeriesWithoutSizes checks that a log without sizes gives no data about changed
// answers, and that its URLs can still be requested.
func TestSeriesWithoutSizes(t *testing.T) {
	access := &iikanji.Profile{Rows: []iikanji.Row{{Key: "GET /a/:file.js"}}}
	urls := &iikanji.Profile{Rows: []iikanji.Row{{Key: "GET /a/x.js", Count: 50, Web: &iikanji.WebRow{}}, {Key: "GET /a/y.js", Count: 9, Web: &iikanji.WebRow{}}}}
	got := *seriesOf(access, urls)["GET /a/:file.js"]
	if got != (fact.Series{URLs: 2, Repeats: 57, Heaviest: "/a/x.js"}) {
		t.Errorf("%+v", got)
	}
}

func TestURLsToAsk(t *testing.T) {
	got := urlsToAsk([]iikanji.Fact{
		{Topic: string(fact.TopicSeries), Key: "GET /a/:id", Value: `{"heaviest":"/a/7?x=1"}`}, {Topic: string(fact.TopicSeries), Key: "GET /b", Value: `{"heaviest":"http://elsewhere/b"}`},
		{Target: "other", Topic: string(fact.TopicSeries), Key: "GET /f", Value: `{"heaviest":"/f"}`},
		{Topic: string(fact.TopicSeries), Key: "GET /c", Value: `{}`}, {Topic: string(fact.TopicSeries), Key: "GET /d", Value: "?"}, {Topic: string(fact.TopicAnswer), Key: "GET /e", Value: `{"heaviest":"/e"}`}}, "")
	if len(got) != 1 || got["GET /a/:id"] != "/a/7?x=1" {
		t.Errorf("%v", got)
	}
	seen := []iikanji.Fact{{Target: "front", Topic: string(fact.TopicSeries), Key: "GET /", Value: `{"heaviest":"/"}`}}
	if _, err := askAnswers(t.Context(), host.Local{}, "", iikanji.Service{Name: "front"}, nil, seen, facts.Clients{}); err == nil {
		t.Error("a web server without an address was asked")
	}
}

// TestAccessRead counts the part of a log from the load in all ways at once. Earlier
// lines are in none of the counts.
func TestAccessRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "access.log")
	line := func(method, url string, status int) string {
		return fmt.Sprintf("127.0.0.1 - - [22/Nov/2026:06:00:00 +0000] \"%s %s HTTP/1.1\" %d 7 \"-\" %q\n", method, url, status, map[string]string{"GET": "ExampleBot/1", "POST": "-"}[method])
	}
	before := strings.Repeat(line("GET", "/before", 502), 50)
	refused := strings.Repeat(line("GET", "/page", 503), 2) + strings.Repeat(line("GET", "/page", 403), 2)
	load := refused + strings.Repeat(line("GET", "/page?n=1", 200), 60) + strings.Repeat(line("GET", "/page", 504), 3) + strings.Repeat(line("POST", "/order", 502), 5) + line("POST", "/order", 200)
	if err := os.WriteFile(path, []byte(before+load), 0o644); err != nil {
		t.Fatal(err)
	}
	w := &webWatch{host: host.Local{}, service: iikanji.Service{Name: "edge"}, path: path, from: int64(len(before))}
	w.end(t.Context())
	defer w.close()
	read, err := w.read(t.Context(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	known, err := read.statuses("edge")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range known {
		got[f.Target+" "+f.Key] = fact.Text(f)
	}
	if want := map[string]string{"edge 503 GET /page": "2", "edge 504 GET /page": "3", "edge 502 POST /order": "5"}; !maps.Equal(got, want) {
		t.Errorf("statuses %v, want %v", got, want)
	}
	agents := read.agentFacts("edge")
	clear(got)
	for _, f := range agents {
		got[f.Key] = fact.Text(f)
	}
	if want := map[string]string{"ExampleBot/1": `{"requests":63,"took_ns":0}`, "(none)": `{"requests":6,"took_ns":0}`, "": `{"requests":69,"took_ns":0}`}; !maps.Equal(got, want) {
		t.Errorf("agents %v, want %v", got, want)
	}
	if n := read.routes.Intake.Lines; n != 73 || read.routes.Target != "edge" {
		t.Errorf("%d lines of %s", n, read.routes.Target)
	}
	if s := seriesOf(read.routes, read.urls.Profile)["GET /page"]; s == nil || s.URLs != 1 || s.Repeats != 59 {
		t.Errorf("series %+v", s)
	}
}
