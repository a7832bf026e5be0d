package window

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/lang/catalog"
	"github.com/iikanji/iikanji/internal/lang/nginx"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// made is a window of a site with one route and one statement: requests a second,
// executions per request, and the time of one.
func made(seed uint64, length int, perSecond, perRequest float64, each time.Duration) *Window {
	rng := rand.New(rand.NewPCG(seed, 0))
	began := time.Unix(1_700_000_000, 0)
	w := &Window{Site: "shop", Began: began, Took: time.Duration(length) * time.Second, CPU: map[string][]float64{}}
	requests, statements := &iikanji.PerSecond{From: began.Unix()}, &iikanji.PerSecond{From: began.Unix()}
	route := iikanji.Row{Key: "GET /a", Mean: 10 * time.Millisecond, Stddev: 5 * time.Millisecond, Web: &iikanji.WebRow{}, PerSecond: requests}
	digest := iikanji.Row{Key: "select ?", Mean: each, Stddev: each, Query: &iikanji.SQLRow{Digest: "d1"}, PerSecond: statements}
	for range length {
		n := poisson(rng, perSecond)
		k := poisson(rng, n*perRequest)
		requests.Counts, statements.Counts = append(requests.Counts, int32(n)), append(statements.Counts, int32(k))
		route.Count, digest.Count = route.Count+int64(n), digest.Count+int64(k)
		w.CPU["app"] = append(w.CPU["app"], n*0.002*(0.9+0.2*rng.Float64()))
		w.Seconds = append(w.Seconds, began.Unix()+int64(len(w.Seconds)))
	}
	digest.Total = time.Duration(digest.Count) * each
	w.Access = []iikanji.Profile{{Source: iikanji.Access, Rows: []iikanji.Row{route}}}
	w.Slow = []iikanji.Profile{{Source: iikanji.Slow, Rows: []iikanji.Row{digest}}}
	return w
}

func poisson(rng *rand.Rand, mean float64) float64 {
	limit, n := math.Exp(-mean), 0.0
	for p := rng.Float64(); p > limit; p *= rng.Float64() {
		n++
	}
	return n
}

// TestCompareFindsNothing compares windows of one site that did not change: about one
// interval in a hundred may exclude 1.
func TestCompareFindsNothing(t *testing.T) {
	compared, sure := 0, 0
	for seed := range uint64(60) {
		c, err := Compare(made(2*seed, 120, 20, 1.5, time.Millisecond), made(2*seed+1, 120, 20, 1.5, time.Millisecond))
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range c.Changes {
			compared++
			if x.Sure {
				sure++
			}
			if x.Lo > x.Ratio || x.Hi < x.Ratio {
				t.Errorf("the interval %.3f–%.3f does not hold %.3f", x.Lo, x.Hi, x.Ratio)
			}
		}
	}
	if compared < 240 || float64(sure) > 0.04*float64(compared) {
		t.Errorf("%d of %d quantities that did not change are called changed", sure, compared)
	}
}

// TestCompareFindsChanges expects a tenth more executions, and half the time of each,
// to be found, with intervals that hold the truth.
func TestCompareFindsChanges(t *testing.T) {
	c, err := Compare(made(1, 300, 20, 1.5, 2*time.Millisecond), made(2, 300, 30, 1.65, time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	want := map[Quantity]float64{StatementRate: 1.1, StatementTime: 0.55}
	for _, x := range c.Changes {
		truth, ok := want[x.Quantity]
		if !ok {
			if x.Sure {
				t.Errorf("%s did not change: %+v", x.Quantity, x)
			}
			continue
		}
		delete(want, x.Quantity)
		if !x.Sure || x.Lo > truth || x.Hi < truth {
			t.Errorf("%s: %+v, the truth is %.2f", x.Quantity, x, truth)
		}
		if x.Quantity == StatementRate && x.Method != "bootstrap" {
			t.Errorf("a long window is compared by %s", x.Method)
		}
	}
	if len(want) > 0 {
		t.Errorf("not compared: %v", want)
	}
	if _, err := Compare(&Window{}, made(1, 10, 2, 1, time.Millisecond)); err == nil {
		t.Error("a window without requests was compared")
	}
}

// TestCompareNew expects a statement that is new, and frequent enough, to be sure.
func TestCompareNew(t *testing.T) {
	a, b := made(1, 20, 20, 1, time.Millisecond), made(2, 20, 20, 1, time.Millisecond)
	b.Slow[0].Rows = append(b.Slow[0].Rows, iikanji.Row{Key: "new", Count: 50, Total: time.Second, Query: &iikanji.SQLRow{Digest: "d2"}},
		iikanji.Row{Key: "rare", Count: 5, Total: time.Second, Query: &iikanji.SQLRow{Digest: "d3"}})
	c, err := Compare(a, b)
	if err != nil {
		t.Fatal(err)
	}
	sure := map[string]bool{}
	for _, x := range c.Changes {
		if x.Quantity == StatementRate {
			sure[x.Where] = x.Sure
		}
	}
	if !sure["new"] || sure["rare"] {
		t.Errorf("sure: %v", sure)
	}
}

// listed is a window whose statements were estimated from readings of the process list,
// one every 50 ms.
func listed(w *Window, each time.Duration) *Window {
	p := &w.Slow[0]
	p.First, p.Last = w.Began, w.Began.Add(w.Took)
	p.Intake = iikanji.Intake{Format: iikanji.ProcessList, Lines: int64(w.Took / (50 * time.Millisecond))}
	r := &p.Rows[0]
	sightings := int64(r.Total / (50 * time.Millisecond))
	r.Total = time.Duration(sightings) * 50 * time.Millisecond
	r.Count, r.Mean, r.Stddev, r.PerSecond = int64(r.Total/each), each, 0, nil
	if sightings == 0 {
		p.Rows = nil
	}
	return w
}

// TestCompareEstimated: what was estimated from readings is compared by its time only, as
// surely as its sightings allow; a statement that no reading saw is not one that was not
// executed.
func TestCompareEstimated(t *testing.T) {
	compare := func(a, b *Window) (rate bool, at *Change) {
		t.Helper()
		c, err := Compare(a, b)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range c.Changes {
			rate = rate || x.Quantity == StatementRate
			if x.Quantity == StatementTime {
				at = &x
			}
		}
		return rate, at
	}
	slow := func(seed uint64) *Window { return made(seed, 20, 40, 2, 8*time.Millisecond) }
	brief := func(seed uint64) *Window { return made(seed, 20, 40, 2, 20*time.Microsecond) }
	rate, x := compare(listed(slow(1), 8*time.Millisecond), listed(brief(2), 20*time.Microsecond))
	if rate || x == nil || !x.Sure || x.Ratio != 0 || x.After != 0 {
		t.Errorf("executions compared: %v; the time: %+v", rate, x)
	}
	if rate, x = compare(listed(slow(1), 8*time.Millisecond), brief(2)); rate || x == nil || !x.Sure || x.Ratio > 0.1 {
		t.Errorf("a log after the process list: executions compared: %v; the time: %+v", rate, x)
	}
	if rate, x = compare(listed(brief(1), 20*time.Microsecond), slow(2)); rate || x == nil || !x.Sure || x.Before != 0 {
		t.Errorf("a log after a process list without the statement: executions compared: %v; the time: %+v", rate, x)
	}
	sure := 0
	for seed := range uint64(60) {
		// The mean of a few elapsed times is a poor one: here it is doubled and halved.
		_, x := compare(listed(slow(2*seed), 16*time.Millisecond), listed(slow(2*seed+1), 4*time.Millisecond))
		if x == nil {
			t.Fatal("the time is not compared")
		}
		if x.Sure {
			sure++
		}
	}
	if sure > 3 {
		t.Errorf("%d of 60 statements that did not change are called changed", sure)
	}
}

// TestFacts: no secret and no literal is in facts, and facts of unknown topics
// left out.
func TestFacts(t *testing.T) {
	value := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	conf, err := nginx.Dump{{Path: "nginx.conf", Text: `http { proxy_set_header Authorization "Basic c2VjcmV0"; proxy_pass http://me:c2VjcmV0@app;
		proxy_set_header Cookie $http_cookie; gzip on; }`}}.Config()
	if err != nil {
		t.Fatal(err)
	}
	known := []iikanji.Fact{
		fact.TopicPlan.Fact("", "", catalog.QueryPlan{SQL: "SELECT * FROM users WHERE mail = 'anna@example.com' AND age = 37", Notes: []string{"anna@example.com"}}, false),
		{Topic: string(fact.TopicLockWait), Key: "UPDATE t SET a = 'anna@example.com'", Value: value(fact.LockWait{Waiting: "UPDATE t SET a = 'anna@example.com'"})},
		{Topic: string(fact.TopicNginx), Data: conf},
		{Topic: string(fact.TopicVariable), Key: "init_connect", Value: "SET @x = 'c2VjcmV0'"},
		{Topic: string(fact.TopicVariable), Key: "innodb_buffer_pool_size", Value: "134217728"},
		fact.TopicUnit.Fact("", "", fact.Unit{Settings: []fact.Setting{{Key: "Environment", Value: "DB=c2VjcmV0"}, {Key: "Restart", Value: "always"}}}, false),
		{Topic: string(fact.TopicNginxFile), Value: "# c2VjcmV0\nset $token c2VjcmV0;\ngzip on;\n"},
		{Topic: string(fact.TopicAgent), Key: "Mozilla/5.0 (c2VjcmV0 Phone) Safari/1"}, {Topic: string(fact.TopicAgent), Key: "ExampleBot/2.1 (c2VjcmV0)"}, {Topic: string(fact.TopicAgent)},
		{Topic: string(fact.TopicAnswer), Value: "anna@example.com"},
	}
	before := value(known)
	kept, left, err := Facts(known)
	if err != nil {
		t.Fatal(err)
	}
	if value(known) != before {
		t.Errorf("facts that others read were changed: %s", value(known))
	}
	text := value(kept)
	for _, bad := range []string{"anna", "37", "c2VjcmV0"} {
		if strings.Contains(text, bad) {
			t.Errorf("%q is left: %s", bad, text)
		}
	}
	for _, good := range []string{"134217728", "$http_cookie", "always", "gzip on", "mail = ?", "ExampleBot"} {
		if !strings.Contains(text, good) {
			t.Errorf("%q was removed: %s", good, text)
		}
	}
	if len(kept) != 10 || len(left) != 1 || left[0] != string(fact.TopicAnswer) {
		t.Errorf("%d facts are kept, left out: %v", len(kept), left)
	}
}

// TestStatement expects the DDL and the settings of remedies.
func TestStatement(t *testing.T) {
	for _, c := range []struct {
		remedy iikanji.Remedy
		want   string
	}{
		{iikanji.Remedy{Kind: "ddl", Args: map[string]string{"act": "add index", "schema": "a", "table": "b`c", "columns": "x, y DESC", "drop": "old"}},
			"ALTER TABLE `a`.`b``c` DROP INDEX `old`, ADD INDEX (x, y DESC);\n"},
		{iikanji.Remedy{Kind: "ddl", Args: map[string]string{"act": "drop index", "schema": "a", "table": "b", "name": "old"}}, "ALTER TABLE `a`.`b` DROP INDEX `old`;\n"},
		{iikanji.Remedy{Kind: "mysqlconf", Args: map[string]string{"innodb_buffer_pool_size": "1073741824"}}, "[mysqld]\ninnodb_buffer_pool_size = 1073741824\n"},
		{iikanji.Remedy{Kind: "patch", Args: map[string]string{"diff": "x"}}, ""},
		{iikanji.Remedy{Kind: "ddl", Args: map[string]string{"act": "add index"}}, ""},
	} {
		if got, ok := Statement(c.remedy); got != c.want || ok != (c.want != "") {
			t.Errorf("%+v: %q", c.remedy, got)
		}
	}
}

// FuzzConfig: what follows a secret's name is never left, and the editing of an
// edited text changes nothing.
func FuzzConfig(f *testing.F) {
	f.Add("[client]\npassword = hunter2\nport=3306\n# old: hunter1\n")
	f.Add("proxy_set_header Authorization \"Bearer abc\";\n")
	f.Fuzz(func(t *testing.T, text string) {
		once := Config(text + "\npassword = hunter2\n")
		if strings.Contains(once, "hunter2") && !strings.Contains(text, "hunter2") {
			t.Errorf("a secret is left: %q", once)
		}
		if again := Config(once); again != once {
			t.Errorf("%q becomes %q", once, again)
		}
	})
}
