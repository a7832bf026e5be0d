package cause_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/lang/catalog"
	"github.com/iikanji/iikanji/internal/site/fact"
	"github.com/iikanji/iikanji/internal/site/facts"
)

// otherNames are the names of the usual services in a site of other names.
var otherNames = map[string]string{"nginx": "edge", "app": "books", "database": "shelf-db"}

func other(name string) string {
	if n, ok := otherNames[name]; ok {
		return n
	}
	return name
}

// site is a target with a web server, an app and a database.
func siteOf(web, app, database string) []iikanji.Service {
	return []iikanji.Service{{Name: web, Role: iikanji.RoleWeb, Engine: iikanji.EngineNginx}, {Name: app, Role: iikanji.RoleApp, Engine: iikanji.EngineGo},
		{Name: database, Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB}}
}

// renamed returns an input whose services have other names, on a target with
// additional services.
func renamed(in cause.Input, besides ...iikanji.Service) cause.Input {
	in.Target.Services = slices.Concat(besides, siteOf("edge", "books", "shelf-db"))
	in.Facts, in.Profiles = slices.Clone(in.Facts), slices.Clone(in.Profiles)
	for i, f := range in.Facts {
		in.Facts[i].Target = other(f.Target)
		if f.Target == "" { // as in the text cases for variables and counters
			in.Facts[i].Target = "shelf-db"
		}
		if fact.TopicConnection.Is(f) {
			in.Facts[i].Key = other(f.Key)
		}
	}
	for i, p := range in.Profiles {
		p.Target, p.Rows = other(p.Target), slices.Clone(p.Rows)
		switch p.Source {
		case iikanji.Slow:
			p.Target = "shelf-db"
		case iikanji.Access:
			p.Target = "edge"
		case iikanji.Host:
			for j := range p.Rows {
				p.Rows[j].Key = other(p.Rows[j].Key)
			}
		}
		in.Profiles[i] = p
	}
	if in.Run != nil {
		run := *in.Run
		run.Usage = slices.Clone(run.Usage)
		for i := range run.Usage {
			run.Usage[i].Who = other(run.Usage[i].Who)
		}
		in.Run = &run
	}
	return in
}

// sameElsewhere diagnoses an input under other names, alone and beside idle
// services of the same roles, which come first in the target: the findings must
// be the same, with the new names.
func sameElsewhere(t *testing.T, in cause.Input, fs []iikanji.Finding) {
	t.Helper()
	linked := slices.ContainsFunc(in.Facts, func(f iikanji.Fact) bool { return fact.TopicConnection.Is(f) })
	for _, besides := range [][]iikanji.Service{nil, siteOf("edge-2", "accounts", "member-db")} {
		got, err := findAll(renamed(in, besides...))
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(fs) {
			t.Fatalf("with %d services besides: %s\nwant:\n%s", len(besides), formatted(got), formatted(fs))
		}
		for i, f := range fs {
			where := []string{other(f.Where)}
			if f.Code == "WEB102" { // the name of an upstream
				where[0] = f.Where
			}
			if len(besides) > 0 && where[0] == f.Where {
				where = append(where, f.Where+" at edge", f.Where+" at shelf-db", f.Where+" at books")
			}
			var remedies []iikanji.Remedy
			for _, r := range f.Remedies {
				if r.Target == "app" && len(besides) > 0 && (strings.HasPrefix(string(f.Code), "WEB") || strings.HasPrefix(string(f.Code), "DB") && !linked) {
					r.Target = "accounts" // the app is unknown
					remedies = append(remedies, r)
					r.Target = "app"
				}
				r.Target = other(r.Target)
				remedies = append(remedies, r)
			}
			g := got[i]
			if g.Code != f.Code || g.Gain != f.Gain || !slices.Contains(where, g.Where) || !reflect.DeepEqual(g.Remedies, remedies) {
				t.Errorf("%d services besides:\n%+v\nwant as:\n%+v", len(besides), g, f)
			}
			b, err := json.Marshal([]any{g.Where, g.Claim, g.Evidence})
			if err != nil || regexp.MustCompile(`edge-2|accounts|member-db`).Match(b) {
				t.Errorf("an idle service is named: %s (%v)", b, err)
			}
		}
		namesOnly(t, renamed(in, besides...), got)
	}
}

// notServices are targets of remedies other than services.
var notServices = []string{"host", "generator", "access", "slow", "errors"}

// namesOnly checks that remedies and places of findings name only services of the
// target.
func namesOnly(t *testing.T, in cause.Input, fs []iikanji.Finding) {
	t.Helper()
	for _, f := range fs {
		for _, r := range f.Remedies {
			if _, ok := in.Target.Service(r.Target); !ok && !slices.Contains(notServices, r.Target) {
				t.Errorf("%s has a remedy for %q, which the target does not have", f.Code, r.Target)
			}
		}
		if _, usual := otherNames[f.Where]; usual && f.Code != "WEB102" {
			t.Errorf("%s is at %q, which the target does not have", f.Code, f.Where)
		}
		for _, e := range f.Evidence {
			if name, isLog := strings.CutSuffix(e.Source, " log"); isLog && otherNames[name] != "" {
				t.Errorf("%s quotes the log of %q, which the target does not have", f.Code, name)
			}
		}
	}
}

// bookshop is a site of two web servers, two apps and two databases, each with its
// own faults. Both databases have a table of the same name and the same
// statements; only shelf-db misses the index.
func bookshop(t *testing.T) cause.Input {
	t.Helper()
	s := newScene()
	s.Target.Services = slices.Concat(siteOf("front-1", "books", "shelf-db"), siteOf("front-2", "accounts", "member-db"))
	s.Run.Steps = []iikanji.StepStat{{Step: "GET /x", Count: 2000}}
	table := catalog.Table{Schema: "main", Name: "entry", Engine: "InnoDB", Columns: []catalog.Column{{Name: "id", Type: "bigint(20)", Width: 8}, {Name: "owner", Type: "char(36)", Width: 144}},
		Indexes: []catalog.Index{{Name: "PRIMARY", Kind: "btree", Unique: true, Primary: true, Parts: []catalog.IndexPart{{Column: "id"}}}}}
	indexed := table
	indexed.Indexes = append(slices.Clone(table.Indexes), catalog.Index{Name: "o", Kind: "btree", Parts: []catalog.IndexPart{{Column: "owner"}}})
	for _, d := range []struct {
		name     string
		table    catalog.Table
		examined int64
		refused  string
	}{{"shelf-db", table, 10_000_000, "30"}, {"member-db", indexed, 10_000, "70"}} {
		s.with(d.name, string(fact.TopicTable), "main.entry", d.table).
			with(d.name, string(fact.TopicSize), "main.entry", catalog.TableSize{Rows: 10000, Data: 1 << 20, Distinct: map[string]float64{"id": 10000, "owner": 1000}}).
			with(d.name, string(fact.TopicVariable), "max_connections", "100").
			with(d.name, string(fact.TopicStatus), "Connection_errors_max_connections", d.refused)
		const sql = "SELECT * FROM entry WHERE owner = 'a'"
		s.Profiles = append(s.Profiles, iikanji.Profile{Source: iikanji.Slow, Target: d.name, Rows: []iikanji.Row{{Key: sql, Count: 1000, Total: 4 * time.Second, Example: iikanji.Sighting{Text: sql},
			Query: &iikanji.SQLRow{Digest: "d1", Fingerprint: sql, DB: "main", Examined: d.examined, Sent: 10_000}}}})
	}
	s.with("books", string(fact.TopicConnection), "shelf-db", fact.Connections{TCP: 50}).with("accounts", string(fact.TopicConnection), "member-db", fact.Connections{TCP: 50})
	for name, log := range map[string]string{"front-1": "off", "front-2": "/var/log/f2.log"} {
		f, err := facts.NginxFact(name, "# configuration file /etc/nginx/"+name+".conf:\nhttp { access_log "+log+"; server { location / { proxy_pass http://127.0.0.1:3000; } } }")
		if err != nil {
			t.Fatal(err)
		}
		s.Facts = append(s.Facts, f)
		s.Profiles = append(s.Profiles, iikanji.Profile{Source: iikanji.Access, Target: name, Rows: []iikanji.Row{{Key: "GET /x", Count: 100_000, Web: &iikanji.WebRow{Method: "GET", Status: [6]int64{2: 100_000}}}}})
	}
	s.says("front-1", "alert", "connections-exhausted", "worker_connections are not enough", 20).says("accounts", "info", "", "did a thing", 900_000)
	s.Run.Usage = []iikanji.Usage{{Who: "books", Share: 0.3, User: 12 * time.Second}, {Who: "member-db", Share: 0.1, User: 4 * time.Second}, {Who: "accounts", Share: 0.28, User: 11 * time.Second}, {Who: "shelf-db", Share: 0.02, User: time.Second}}
	return s.Input
}

// TestTwoOfEach checks that each finding is at the service with the fault, and that
// its remedies are for that service and for the app connected to it.
func TestTwoOfEach(t *testing.T) {
	in := bookshop(t)
	fs, err := findAll(in)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range fs {
		line := string(f.Code) + " " + f.Where + ":"
		for _, r := range f.Remedies {
			line += " " + r.Kind + " " + r.Target
		}
		got = append(got, line)
	}
	slices.Sort(got)
	want := []string{
		"APP101 accounts: patch accounts person accounts",
		"APP101 books: patch books person books",
		"APP102 accounts: appenv accounts patch accounts",
		"DB101 main.entry (owner) at shelf-db: ddl shelf-db",
		"DB204 member-db: mysqlconf member-db patch accounts",
		"DB204 shelf-db: mysqlconf shelf-db patch books",
		"WEB102 127.0.0.1:3000 at front-1: nginxconf front-1",
		"WEB102 127.0.0.1:3000 at front-2: nginxconf front-2",
		"WEB108 front-1: nginxconf front-1",
		"WEB110 front-2: nginxconf front-2 nginxconf front-2",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	namesOnly(t, in, fs)
	for _, f := range fs {
		if f.Code == "DB204" && !strings.Contains(f.Claim, map[string]string{"shelf-db": "30 connections", "member-db": "70 connections"}[f.Where]) {
			t.Errorf("%s: %s", f.Where, f.Claim)
		}
	}
	if b := in.Binding(); b.Resource != "cpu" || b.Who != "books" {
		t.Errorf("bound by %+v", b)
	}
	// shelf-db used 1 of its 4 seconds, member-db all of them.
	if w := in.StatementWeight(); w != (1.0+4.0)/8 {
		t.Errorf("weight %v", w)
	}
}

// TestAppsOfADatabase checks that a remedy for the app is given for each app connected
// to the database, or for all apps if no connection is known.
func TestAppsOfADatabase(t *testing.T) {
	for _, c := range []struct {
		linked []string
		want   string
	}{{[]string{"accounts"}, "accounts"}, {[]string{"books", "accounts"}, "books accounts"}, {nil, "books accounts"}} {
		in := bookshop(t)
		in.Facts = slices.DeleteFunc(in.Facts, func(f iikanji.Fact) bool { return fact.TopicConnection.Is(f) })
		for _, name := range c.linked {
			in.Facts = append(in.Facts, facts.ConnectionFact(name, "shelf-db", fact.Connections{Unix: 50}))
		}
		fs, err := findAll(in)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(fs, func(f iikanji.Finding) bool { return f.Code == "DB204" && f.Where == "shelf-db" })
		if i < 0 {
			t.Fatal("DB204 is missing")
		}
		var got []string
		for _, r := range fs[i].Remedies[1:] {
			got = append(got, r.Target)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("connected %v: remedies for %v, want %s", c.linked, got, c.want)
		}
	}
}

// TestPoolOfEachApp checks that each pool of two apps at one database is reported with
// its own size, and that a pool to another database is not.
func TestPoolOfEachApp(t *testing.T) {
	in := bookshop(t)
	in.Run.Usage = nil
	in.Run.Steps[0].Total = 2000 * time.Second // 200 requests under way
	for i := range in.Profiles {
		if in.Profiles[i].Source == iikanji.Slow && in.Profiles[i].Target == "shelf-db" {
			in.Profiles[i].Rows[0].Total = 100 * time.Second
		}
	}
	in.Facts = slices.DeleteFunc(in.Facts, func(f iikanji.Fact) bool { return fact.TopicConnection.Is(f) })
	in.Facts = append(in.Facts, facts.ConnectionFact("books", "shelf-db", fact.Connections{TCP: 8}), facts.ConnectionFact("accounts", "shelf-db", fact.Connections{TCP: 4}),
		facts.ConnectionFact("accounts", "member-db", fact.Connections{TCP: 20}))
	fs, err := findAll(in)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range fs {
		if f.Code == "APP103" {
			got = append(got, fmt.Sprint(f.Where, " ", f.Remedies[0].Target, " ", f.Remedies[0].Args["pool"]), f.Claim)
		}
	}
	want := []string{"books books 32", "all 8 connections to shelf-db are busy 83 % of the time: requests wait for a connection",
		"accounts accounts 16", "all 4 connections to shelf-db are busy 83 % of the time: requests wait for a connection"}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if b := in.Binding(); b.Resource != "pool" {
		t.Errorf("bound by %+v", b)
	}
}
