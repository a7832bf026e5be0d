package cause_test

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/cause/diagnose"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// sourceFact is a fact about the source of the app.
func sourceFact(topic, key string, v any) iikanji.Fact {
	b, err := json.Marshal(v)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return iikanji.Fact{Target: "app", Topic: topic, Key: key, Value: string(b)}
}

func codePlace(code, function string, p fact.CodePlace) iikanji.Fact {
	p.Code, p.Func, p.File, p.Line = iikanji.Code(code), function, "main.go", 7
	if p.What == "" {
		p.What, p.How = "something is done in a slow way", "do it otherwise"
	}
	return sourceFact(string(fact.TopicCode), code+function+p.What, p)
}

// leverInput is a run of two statements and two routes: hot and cold ones.
func leverInput(places ...iikanji.Fact) cause.Input {
	row := func(digest, sql string, count, sent int64, took time.Duration) iikanji.Row {
		return iikanji.Row{Key: sql, Count: count, Total: took, Example: iikanji.Sighting{Text: sql},
			Query: &iikanji.SQLRow{Digest: digest, Fingerprint: sql, Sent: sent, Examined: sent}}
	}
	web := func(route string, count int64, took time.Duration) iikanji.Row {
		return iikanji.Row{Key: route, Count: count, Web: &iikanji.WebRow{Upstream: took}}
	}
	return cause.Input{
		Levers: diagnose.Levers(),
		Run: &iikanji.Run{Took: 10 * time.Second, Outcome: iikanji.Passed, Place: iikanji.Placement{Cores: 2},
			Usage: []iikanji.Usage{{Who: "app", User: 8 * time.Second, Share: 0.4}, {Who: "database", User: 4 * time.Second, Share: 0.2}}},
		Target: iikanji.Target{Services: []iikanji.Service{{Name: "app", Role: iikanji.RoleApp, Engine: iikanji.EngineGo},
			{Name: "database", Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB}, {Name: "nginx", Role: iikanji.RoleWeb, Engine: iikanji.EngineNginx}}},
		Profiles: []iikanji.Profile{
			{Source: iikanji.Slow, Target: "database", Rows: []iikanji.Row{row("hot1", "select * from orders where user = ?", 100, 5000, 4*time.Second),
				row("cold", "select * from users where id = ?", 100, 100, time.Millisecond)}},
			{Source: iikanji.Access, Target: "nginx", Rows: []iikanji.Row{web("GET /api/list/:id", 1000, 9*time.Second), web("POST /api/drop", 9000, time.Second)}},
		},
		Facts: append(places, sourceFact(string(fact.TopicHandler), "GET /api/list/:user", fact.Handler{Func: "list", Reaches: []string{"list", "render"}}),
			sourceFact(string(fact.TopicHandler), "ANY /api/drop", fact.Handler{Func: "drop", Reaches: []string{"drop"}})),
	}
}

// levers are the findings of code levers for an input.
func levers(t *testing.T, in cause.Input) []iikanji.Finding {
	t.Helper()
	all, err := findAll(in)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(f iikanji.Finding) bool { return !strings.HasPrefix(string(f.Code), "APP2") })
}

// TestLevers: a place is a finding if its statement, its function or its routes took
// time, and no finding otherwise.
func TestLevers(t *testing.T) {
	fix := []string{"rewrite"}
	for name, c := range map[string]struct {
		place  iikanji.Fact
		lo, hi float64 // of the gain; 0 for no finding
		says   string  // a part of the evidence
	}{
		"statement":          {codePlace("APP201", "list", fact.CodePlace{Digests: []string{"hot1"}, Statements: []string{"SELECT …"}, Variants: fix}), 1.9, 8, "100 executions"},
		"cold statement":     {codePlace("APP201", "list", fact.CodePlace{Digests: []string{"cold"}, Variants: fix}), 0, 0, ""},
		"no such statement":  {codePlace("APP205", "list", fact.CodePlace{Digests: []string{"other"}, Variants: fix}), 0, 0, ""},
		"built statement":    {codePlace("APP213", "list", fact.CodePlace{Statements: []string{"SELECT * FROM\n orders WHERE \ufffd"}, Variants: fix}), 0.1, 8, "100 executions"},
		"built, other table": {codePlace("APP213", "list", fact.CodePlace{Statements: []string{"SELECT * FROM shops WHERE \ufffd"}, Variants: fix}), 0, 0, ""},
		"built, other end":   {codePlace("APP213", "list", fact.CodePlace{Statements: []string{"SELECT * FROM orders WHERE \ufffd ORDER BY id"}, Variants: fix}), 0, 0, ""},
		"route":              {codePlace("APP206", "render", fact.CodePlace{Variants: fix}), 0.3, 3.7, "GET /api/list/:id (1,000 requests)"},
		"no route":           {codePlace("APP206", "setUp", fact.CodePlace{Variants: fix}), 0, 0, ""},
		"hint":               {codePlace("APP211", "render", fact.CodePlace{}), 0, 2.2, ""},
		"unknown lever":      {codePlace("APP299", "render", fact.CodePlace{Variants: fix}), 0, 0, ""},
	} {
		got := levers(t, leverInput(c.place))
		if c.hi == 0 {
			if len(got) > 0 {
				t.Errorf("%s: %+v", name, got)
			}
			continue
		}
		if len(got) != 1 || got[0].Gain.Lo < c.lo || got[0].Gain.Hi > c.hi || got[0].Gain.Hi == 0 || got[0].Where != "main.go:7 "+strings.Fields(got[0].Where)[1] {
			t.Errorf("%s: %+v, want a gain of %g to %g", name, got, c.lo, c.hi)
			continue
		}
		if !slices.ContainsFunc(got[0].Evidence, func(e iikanji.Evidence) bool { return strings.Contains(e.Text, c.says) }) {
			t.Errorf("%s: evidence %+v", name, got[0].Evidence)
		}
	}
}

// TestReadAhead: a loop without a fix has the query cache as its first remedy, where the app
// can have one.
func TestReadAhead(t *testing.T) {
	loop := codePlace("APP205", "list", fact.CodePlace{Digests: []string{"hot1"}, What: "one query is sent per element of the loop"})
	pool := codePlace("APP207", "main", fact.CodePlace{Digests: []string{"other"}, How: "keep answers in a query cache"})
	got := levers(t, leverInput(loop, pool))
	if len(got) != 1 || len(got[0].Remedies) != 2 || got[0].Remedies[0].Args["levers"] != "APP207" || got[0].Remedies[0].Args["func"] != "main" || got[0].Remedies[1].Kind != "patch" {
		t.Errorf("%+v", got)
	}
	if got := levers(t, leverInput(loop)); len(got) != 1 || len(got[0].Remedies) != 1 || got[0].Remedies[0].Kind != "patch" {
		t.Errorf("without a pool: %+v", got)
	}
	loop = codePlace("APP205", "list", fact.CodePlace{Digests: []string{"hot1"}, Variants: []string{"rewrite"}})
	if got := levers(t, leverInput(loop, pool)); len(got) != 1 || len(got[0].Remedies) != 2 || got[0].Remedies[0].Args["levers"] != "APP205" || got[0].Remedies[1].Args["levers"] != "APP207" {
		t.Errorf("with a fix: %+v", got)
	}
}

// TestReadingOfRows: the time in which the app reads rows counts with the rows of a place,
// as far as the profile of the CPU shows it, and not at all without a profile.
func TestReadingOfRows(t *testing.T) {
	place := codePlace("APP201", "list", fact.CodePlace{Digests: []string{"hot1"}, Variants: []string{"rewrite"}})
	high := func(facts ...iikanji.Fact) float64 {
		got := levers(t, leverInput(append(facts, place)...))
		if len(got) != 1 {
			t.Fatalf("%+v, want one finding", got)
		}
		return got[0].Gain.Hi
	}
	without := high()
	reading := func(d time.Duration) iikanji.Fact {
		return sourceFact(string(fact.TopicHot), "database/sql", fact.HotFunction{Package: "database/sql", Each: d})
	}
	if other := high(sourceFact(string(fact.TopicHot), "fmt", fact.HotFunction{Package: "fmt", Each: 3 * time.Second})); other != without {
		t.Errorf("with another hot package the gain is at most %g, without %g", other, without)
	}
	if one, two := high(reading(time.Second))-without, high(reading(2*time.Second))-without; one < 0.9 || one > 1 || two < 1.8 || two > 2 {
		t.Errorf("1 s and 2 s of reading, almost all rows: %g and %g s more", one, two)
	}
}

// TestLeverProfile: the profile of the CPU counts before the routes.
func TestLeverProfile(t *testing.T) {
	place := codePlace("APP206", "render", fact.CodePlace{Variants: []string{"x"}})
	hot := func(d time.Duration) iikanji.Fact {
		return sourceFact(string(fact.TopicHot), "render", fact.HotFunction{Each: d})
	}
	if got := levers(t, leverInput(place, hot(2*time.Second))); len(got) != 1 || got[0].Gain.Hi != 1 {
		t.Errorf("%+v", got)
	}
	if got := levers(t, leverInput(place, hot(time.Millisecond))); len(got) != 0 {
		t.Errorf("a cold function: %+v", got)
	}
}

// TestLeverRemedies: fixes of a function together and alone, the values of a knob,
// and a patch by hand for a hint.
func TestLeverRemedies(t *testing.T) {
	fix, digest := []string{"rewrite"}, []string{"hot1"}
	knob := fact.CodePlace{What: "a share is dropped (0.9)", Variants: []string{"half", "end"}, Weakens: []iikanji.Promise{iikanji.Behaviour}}
	got := levers(t, leverInput(
		codePlace("APP203", "list", fact.CodePlace{Digests: digest, Variants: fix}),
		codePlace("APP213", "list", fact.CodePlace{Digests: digest, Variants: fix}),
		codePlace("APP201", "list", fact.CodePlace{Digests: digest, Variants: fix, Weakens: []iikanji.Promise{iikanji.TestedOnly}}),
		codePlace("APP214", "drop", knob),
		codePlace("APP208", "list", fact.CodePlace{}),
		codePlace("APP205", "drop", fact.CodePlace{Digests: digest, Variants: fix}),
	))
	args := map[iikanji.Code][]string{}
	for _, f := range got {
		for _, r := range f.Remedies {
			args[f.Code] = append(args[f.Code], strings.Trim(r.Kind+" "+r.Args["levers"]+" "+r.Args["variant"], " "))
		}
	}
	for code, want := range map[iikanji.Code][]string{
		"APP203": {"gocode APP213,APP203", "gocode APP203"},
		"APP213": {"gocode APP213,APP203", "gocode APP213"},
		"APP201": {"gocode APP201"}, // it weakens another promise
		"APP214": {"gocode APP214 half", "gocode APP214 end"},
		"APP208": {"patch"},
		"APP205": {"gocode APP205"},
	} {
		if !slices.Equal(args[code], want) {
			t.Errorf("%s: %q, want %q", code, args[code], want)
		}
	}
	i := slices.IndexFunc(got, func(f iikanji.Finding) bool { return f.Code == "APP214" })
	if i >= 0 && got[i].Remedies[0].Args["place"] != knob.What {
		t.Errorf("%+v", got[i].Remedies)
	}
}

// TestRareIntervals: an interval that a run has once at most throttles nothing in it.
func TestRareIntervals(t *testing.T) {
	knob := fact.CodePlace{What: "work is done at a fixed interval", Variants: []string{"half", "double"}, Weakens: []iikanji.Promise{iikanji.Behaviour}, Waits: time.Second}
	in := leverInput(codePlace("APP214", "list", knob))
	in.Run.Took = time.Minute
	if got := levers(t, in); len(got) != 1 {
		t.Errorf("an interval of a second: %+v", got)
	}
	knob.Waits = 62 * time.Second
	in = leverInput(codePlace("APP214", "list", knob))
	in.Run.Took = time.Minute
	if got := levers(t, in); len(got) != 0 {
		t.Errorf("an interval of 62 seconds: %+v", got)
	}
}

// TestLeverDrops: a knob that leaves work out says how much more the site would do: by
// the share of the requests that reach it. Its seconds stay those of its requests.
func TestLeverDrops(t *testing.T) {
	knob := fact.CodePlace{What: "a share is dropped (0.9)", Variants: []string{"end", "half"}, Weakens: []iikanji.Promise{iikanji.Behaviour}}
	seconds := map[float64]iikanji.Range{}
	for drops, want := range map[float64]float64{0: 0, 0.9: 0.9 * math.Log(10), 1: 0} {
		knob.Drops = drops
		got := levers(t, leverInput(codePlace("APP214", "drop", knob)))
		if len(got) != 1 || math.Abs(got[0].More-want) > 1e-9 {
			t.Errorf("a share of %v: %+v, want %v more", drops, got, want)
			continue
		}
		seconds[drops] = got[0].Gain
	}
	if seconds[0] != seconds[0.9] {
		t.Errorf("seconds differ: %v", seconds)
	}
}

// TestLibraries: work in packages that no lever makes less is a finding if the profile
// shows a considerable share of it.
func TestLibraries(t *testing.T) {
	hot := func(pkg string, d time.Duration) iikanji.Fact {
		return sourceFact(string(fact.TopicHot), pkg, fact.HotFunction{Package: pkg, Each: d, Within: []iikanji.Named{{Name: "login", Count: int64(d)}}})
	}
	in := leverInput(hot("golang.org/x/crypto/bcrypt", 3*time.Second), hot("golang.org/x/crypto/blowfish", 2*time.Second), hot("encoding/json", time.Millisecond), hot("example.org/own", 4*time.Second))
	all, err := findAll(in)
	if err != nil {
		t.Fatal(err)
	}
	all = slices.DeleteFunc(all, func(f iikanji.Finding) bool { return f.Code != "APP107" })
	if len(all) != 1 || all[0].Where != "app golang.org/x/crypto/bcrypt" || all[0].Gain.Hi != 2.7 || !strings.Contains(all[0].Evidence[0].Text, "login (3.0 s)") ||
		!strings.Contains(all[0].Claim, "hashing passwords takes 3.0 s of the 8.0 s") {
		t.Errorf("%+v", all)
	}
}

// TestQueryCache: the place where the pool is opened is a finding by the time of all
// statements that read, and its remedy adds the cache.
func TestQueryCache(t *testing.T) {
	place := codePlace("APP207", "main", fact.CodePlace{Digests: []string{"hot1", "cold"}, Statements: []string{"SELECT …", "SELECT …"}, What: "no answer is kept", How: "keep answers"})
	got := levers(t, leverInput(place))
	if len(got) != 1 || got[0].Gain.Hi < 0.5 || len(got[0].Remedies) != 1 {
		t.Fatalf("%+v", got)
	}
	r := got[0].Remedies[0]
	if r.Kind != "gocode" || r.Args["levers"] != "APP207" || r.Args["file"] != "main.go" || r.Args["func"] != "main" || r.Says != "keep answers" {
		t.Errorf("%+v", r)
	}
	files := leverInput(place) // the statements of the trace of an app with SQLite files
	files.Target.Services[1].Engine = iikanji.EngineSQLite
	if got := levers(t, files); len(got) != 1 || got[0].Code != "APP207" || len(got[0].Remedies) != 1 || got[0].Gain.Hi < 0.5 {
		t.Errorf("with SQLite files: %+v", got)
	}
	others := []iikanji.Fact{codePlace("APP207", "main", fact.CodePlace{Digests: []string{"other"}})}
	for _, digest := range []string{"hot1", "cold"} {
		others = append(others, sourceFact(string(fact.TopicSends), digest, fact.SentStatement{Text: "SELECT …", Digest: digest}))
	}
	if got := levers(t, leverInput(others...)); len(got) > 0 {
		t.Errorf("statements that did not run: %+v", got)
	}
}

// TestQueryCacheOfMappers: where no source shows the statements of the run, as those of a mapper,
// the place where the pool is opened is a finding by their time, and its remedy has their texts,
// without their values. A loop whose text is not known is a finding by its function.
func TestQueryCacheOfMappers(t *testing.T) {
	pool := codePlace("APP207", "main", fact.CodePlace{What: "no answer is kept", How: "keep answers"})
	loop := codePlace("APP205", "list", fact.CodePlace{What: "each element of the loop sends a query of gorm", How: "read the rows before"})
	in := leverInput(pool, loop)
	for i, logged := range []string{"SELECT * FROM `orders` WHERE user = 71 AND kind = 'open' LIMIT 5", "INSERT INTO users (id) VALUES (9)"} {
		in.Profiles[0].Rows[i].Example.Text, in.Profiles[0].Rows[i].Query.Fingerprint = logged, logged
	}
	in.Profiles[0].Rows[0].Query.Typical.Text = "SELECT * FROM `orders` WHERE user = 12 AND kind = 'open' LIMIT 5"
	got := levers(t, in)
	want := []string{
		"SELECT * FROM `orders` WHERE user = ? AND kind = ? LIMIT ?", "SELECT * FROM `orders` WHERE user = ? AND kind = ? LIMIT 5",
		"SELECT * FROM `orders` WHERE user = ? AND kind = 'open' LIMIT ?", "SELECT * FROM `orders` WHERE user = ? AND kind = 'open' LIMIT 5",
	}
	seen := map[iikanji.Code][]string{}
	for _, f := range got {
		for _, r := range f.Remedies {
			if r.Args["levers"] == "APP207" {
				seen[f.Code] = r.Seen
			}
		}
	}
	if len(got) != 2 || !slices.Equal(seen["APP207"], want) || !slices.Equal(seen["APP205"], want) {
		t.Errorf("%q\n%+v", seen, got)
	}
}

// TestQueryCacheUse: the counters of a query cache that is on are shown, without a gain
// and without a remedy.
func TestQueryCacheUse(t *testing.T) {
	use := fact.QueryCache{Entries: 12, Bytes: 3 << 20, All: fact.QueryCacheUse{Hits: 300, Misses: 600, Doubts: 100, Evicted: 7},
		Statements: []fact.QueryCacheUse{{Text: "SELECT a FROM t", Hits: 0, Misses: 500}},
		Batches: []fact.QueryCacheBatch{{Child: "SELECT b FROM u WHERE k = ?", Column: "k", Sent: 3, Keys: 90, Used: 70, Stopped: true,
			Parents: []fact.QueryCacheParent{{Text: "SELECT a FROM t", Column: "a"}}}}}
	got := levers(t, leverInput(sourceFact(string(fact.TopicQueryCache), "", use)))
	if len(got) != 1 || got[0].Code != "APP207" || got[0].Where != "app sqlcache" || got[0].Gain.Hi != 0 || len(got[0].Remedies) > 0 ||
		got[0].Claim != "the query cache gave 30% of the 1,000 answers of statements that it may keep" {
		t.Fatalf("%+v", got)
	}
	for i, want := range []string{"300 hits, 600 misses, 100 asked during a write, 7 removed for lack of memory; it held 12 answers in 3.0 MiB", "0 hits, 500 misses: SELECT a FROM t",
		"read ahead: 90 keys by 3 statements, 70 of the answers used: SELECT b FROM u WHERE k = ? (given up); keys of SELECT a FROM t, column a"} {
		if e := got[0].Evidence; len(e) != 3 || !strings.Contains(e[i].Text, want) {
			t.Errorf("%+v, want %q", e, want)
		}
	}
	if got := levers(t, leverInput(sourceFact(string(fact.TopicQueryCache), "", fact.QueryCache{}))); len(got) > 0 {
		t.Errorf("a cache that nothing asked: %+v", got)
	}
}

// TestReasonInRemedy: a place without a fix says in its remedy which condition of the fix
// does not hold, and where.
func TestReasonInRemedy(t *testing.T) {
	got := levers(t, leverInput(codePlace("APP205", "list", fact.CodePlace{Digests: []string{"hot1"}, Reason: "the loop has a label (main.go:12)"})))
	if len(got) != 1 || len(got[0].Remedies) != 1 {
		t.Fatalf("%+v", got)
	}
	if says := got[0].Remedies[0].Says; says != "change the source by hand: do it otherwise; no automatic fix: the loop has a label (main.go:12)" {
		t.Error(says)
	}
}
