package cause_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/cause/database/index/indextest"
	"github.com/iikanji/iikanji/internal/cause/diagnose"
	"github.com/iikanji/iikanji/internal/lang/catalog"
	"github.com/iikanji/iikanji/internal/site/fact"
	"github.com/iikanji/iikanji/internal/site/facts"
	"github.com/rogpeppe/go-internal/txtar"
)

func factOf(topic, key string, v any) iikanji.Fact {
	b, err := json.Marshal(v)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return iikanji.Fact{Target: "database", Topic: topic, Key: key, Value: string(b)}
}

// readInput reads a text case: schema.sql, sizes, digests, facts, run.
func readInput(t *testing.T, a *txtar.Archive) (in cause.Input, want string) {
	t.Helper()
	parts := map[string]string{}
	for _, f := range a.Files {
		parts[f.Name] = string(f.Data)
	}
	tables := indextest.Tables(t, parts["schema.sql"])
	sizes := indextest.Sizes(t, parts["sizes"], tables)
	for _, tab := range tables {
		in.Facts = append(in.Facts, factOf(string(fact.TopicTable), "app."+tab.Name, tab), factOf(string(fact.TopicSize), "app."+tab.Name, sizes[tab.Name]))
	}
	for _, line := range strings.Split(strings.TrimSpace(parts["facts"]), "\n") {
		f := strings.SplitN(strings.TrimSpace(line), " ", 3)
		switch {
		case len(f) == 3 && f[0] == "server":
			var d catalog.Dialect
			d.Product = f[1]
			fmt.Sscanf(f[2], "%d.%d.%d", &d.Major, &d.Minor, &d.Patch)
			in.Facts = append(in.Facts, factOf(string(fact.TopicDialect), "version", d))
		case len(f) == 3:
			in.Facts = append(in.Facts, iikanji.Fact{Topic: f[0], Key: f[1], Value: f[2]})
		}
	}
	in.Profiles = []iikanji.Profile{{Source: iikanji.Slow}}
	if parts["digests"] != "" {
		in.Profiles[0].Rows = readDigests(t, parts["digests"])
	}
	for _, line := range strings.Split(strings.TrimSpace(parts["threads"]), "\n") {
		readThreads(&in.Profiles[0], strings.Fields(line))
	}
	if parts["nginx"] != "" {
		f, err := facts.NginxFact("nginx", "# configuration file /etc/nginx/nginx.conf:\n"+parts["nginx"])
		if err != nil {
			t.Fatal(err)
		}
		in.Facts = append(in.Facts, f)
	}
	if parts["access"] != "" {
		in.Profiles = append(in.Profiles, iikanji.Profile{Source: iikanji.Access, Rows: readAccess(parts["access"])})
	}
	for line := range strings.Lines(parts["longest"]) { // "GET /path time"
		f := strings.Fields(line)
		for _, p := range in.Profiles {
			for i := range p.Rows {
				if p.Rows[i].Key == f[0]+" "+f[1] {
					p.Rows[i].Max = parsed(t, f[2])
				}
			}
		}
	}
	for line := range strings.Lines(parts["statuses"]) { // "status GET /path count"
		f := strings.Fields(line)
		in.Facts = append(in.Facts, iikanji.Fact{Target: "nginx", Topic: string(fact.TopicHTTPStatus), Key: strings.Join(f[:3], " "), Value: f[3]})
	}
	for line := range strings.Lines(parts["files"]) { // "GET /route /url /file"
		f := strings.Fields(line)
		in.Facts = append(in.Facts, iikanji.Fact{Target: "nginx", Topic: string(fact.TopicAnswer), Key: f[0] + " " + f[1],
			Value: factOf("", "", fact.Answer{URL: f[2], Status: 200, File: f[3], Expires: true}).Value})
	}
	if parts["seconds"] != "" {
		readSeconds(t, in.Profiles, parts["seconds"])
	}
	readSource(t, &in, parts)
	if parts["run"] != "" {
		in.Run = readRun(t, parts["run"])
	}
	return in, parts["want"]
}

// readSource reads what is known of the source of apps: services ("name role engine"), places
// of levers ("service {place}") and handlers ("service GET /path function reached…").
func readSource(t *testing.T, in *cause.Input, parts map[string]string) {
	t.Helper()
	for line := range strings.Lines(parts["services"]) {
		f := strings.Fields(line)
		s := iikanji.Service{Name: f[0], Engine: iikanji.Engine(f[2])}
		if err := s.Role.UnmarshalText([]byte(f[1])); err != nil {
			t.Fatal(err)
		}
		in.Target.Services = append(in.Target.Services, s)
	}
	for line := range strings.Lines(parts["places"]) {
		service, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		var p fact.CodePlace
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		f := factOf(string(fact.TopicCode), fmt.Sprintf("%s %s:%d %s", p.Code, p.File, p.Line, p.Func), p)
		f.Target = service
		in.Facts, in.Levers = append(in.Facts, f), diagnose.Levers()
	}
	for line := range strings.Lines(parts["handlers"]) {
		f := strings.Fields(line)
		h := factOf(string(fact.TopicHandler), f[1]+" "+f[2], fact.Handler{Func: f[3], Reaches: f[3:]})
		h.Target = f[0]
		in.Facts = append(in.Facts, h)
	}
}

// readDigests reads lines "count seconds examined sent [affected] | statement".
func readDigests(t *testing.T, body string) []iikanji.Row {
	t.Helper()
	var out []iikanji.Row
	for i, line := range strings.Split(strings.TrimSpace(body), "\n") {
		head, sql, ok := strings.Cut(line, "|")
		f := strings.Fields(head)
		if !ok || len(f) < 4 || len(f) > 5 {
			t.Fatalf("line %d of digests: %q", i+1, line)
		}
		var n [5]float64
		for j := range f {
			n[j], _ = strconv.ParseFloat(f[j], 64)
		}
		sql = strings.TrimSpace(sql)
		out = append(out, iikanji.Row{Key: sql, Count: int64(n[0]), Total: time.Duration(n[1] * float64(time.Second)),
			Example: iikanji.Sighting{Text: sql},
			Query:   &iikanji.SQLRow{Digest: fmt.Sprintf("d%d", i+1), Fingerprint: sql, DB: "app", Examined: int64(n[2]), Sent: int64(n[3]), Affected: int64(n[4]), MaxSent: int64(n[3] / max(1, n[0]))}})
	}
	return out
}

// readAccess reads lines "count upstreamSeconds GET /path [4xx [5xx]]", the last ones being
// counts of answers.
func readAccess(body string) []iikanji.Row {
	var out []iikanji.Row
	for _, line := range strings.Split(strings.TrimSpace(body), "\n") {
		f := strings.Fields(line)
		n, _ := strconv.ParseInt(f[0], 10, 64)
		up, _ := strconv.ParseFloat(f[1], 64)
		w := &iikanji.WebRow{Method: f[2], Upstream: time.Duration(up * float64(time.Second))}
		for i, count := range f[4:] {
			w.Status[4+i], _ = strconv.ParseInt(count, 10, 64)
		}
		out = append(out, iikanji.Row{Key: f[2] + " " + f[3], Count: n, Web: w})
	}
	return out
}

// readThreads reads "repeat digest runs longest count same" and
// "transaction count commitSeconds totalSeconds digest…".
func readThreads(p *iikanji.Profile, f []string) {
	if len(f) < 5 {
		return
	}
	var n [6]float64
	for i := 1; i < len(f) && i < 6; i++ {
		n[i], _ = strconv.ParseFloat(f[i], 64)
	}
	seconds := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	switch f[0] {
	case "repeat":
		p.Repeats = append(p.Repeats, iikanji.Repeat{Digest: f[1], Runs: int64(n[2]), Longest: int64(n[3]), Count: int64(n[4]), Same: int64(n[5])})
	case "transaction":
		p.Transactions = append(p.Transactions, iikanji.Transaction{Shape: "begin; …; commit", Digest: "t", Count: int64(n[1]), Commit: seconds(n[2]), Total: seconds(n[3]), Digests: f[4:]})
	}
}

// readSeconds reads lines "digest | counts" and "METHOD /path | counts".
func readSeconds(t *testing.T, profiles []iikanji.Profile, body string) {
	t.Helper()
	for _, line := range strings.Split(strings.TrimSpace(body), "\n") {
		key, counts, _ := strings.Cut(line, "|")
		s := &iikanji.PerSecond{From: 1_700_000_000}
		for _, w := range strings.Fields(counts) {
			n, err := strconv.Atoi(w)
			if err != nil {
				t.Fatal(err)
			}
			s.Counts = append(s.Counts, int32(n))
		}
		found := false
		for _, p := range profiles {
			for i := range p.Rows {
				if r := &p.Rows[i]; r.Key == strings.TrimSpace(key) || r.Query != nil && r.Query.Digest == strings.TrimSpace(key) {
					r.PerSecond, found = s, true
				}
			}
		}
		if !found {
			t.Fatalf("seconds of %q, which is no row", key)
		}
	}
}

// parsed is a length of time.
func parsed(t *testing.T, text string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// readRun reads lines "requests n", "usage who share seconds", "took time",
// "connections n" and "step count median total longest timeouts GET /path".
func readRun(t *testing.T, body string) *iikanji.Run {
	t.Helper()
	r := &iikanji.Run{Outcome: iikanji.Passed, Place: iikanji.Placement{Cores: 2}}
	for _, line := range strings.Split(strings.TrimSpace(body), "\n") {
		f := strings.Fields(line)
		n, _ := strconv.ParseFloat(f[len(f)-1], 64)
		switch f[0] {
		case "requests":
			r.Steps = append(r.Steps, iikanji.StepStat{Count: int64(n)})
		case "took":
			r.Took = parsed(t, f[1])
		case "connections":
			r.Load.PeakConns = int64(n)
		case "step":
			count, _ := strconv.ParseInt(f[1], 10, 64)
			timeouts, _ := strconv.ParseInt(f[5], 10, 64)
			r.Steps = append(r.Steps, iikanji.StepStat{Step: f[6] + " " + f[7], Count: count, P50: parsed(t, f[2]), Total: parsed(t, f[3]), Max: parsed(t, f[4]), Timeouts: timeouts})
		case "generator":
			r.Load.CPUShare = n
		case "usage":
			share, _ := strconv.ParseFloat(f[2], 64)
			r.Usage = append(r.Usage, iikanji.Usage{Who: f[1], Share: share, User: time.Duration(n * float64(time.Second))})
		}
	}
	return r
}

// formatted formats findings as in the cases: code, place, claim, remedies.
func formatted(fs []iikanji.Finding) string {
	var sb strings.Builder
	for _, f := range fs {
		fmt.Fprintf(&sb, "%s %s [%g–%g s]\n  %s\n", f.Code, f.Where, f.Gain.Lo, f.Gain.Hi, f.Claim)
		for _, r := range f.Remedies {
			fmt.Fprintf(&sb, "  %s: %s\n", r.Kind, r.Says)
			for _, u := range r.Unsorted {
				fmt.Fprintf(&sb, "    may reorder %s\n", u)
			}
		}
	}
	return sb.String()
}

// TestRules runs the text cases of testdata/rules. With UPDATE=1 in the
// environment it replaces the expected findings with the actual ones.
func TestRules(t *testing.T) {
	files, err := filepath.Glob("testdata/rules/*.txt")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			in, want := readInput(t, a)
			fs, err := findAll(in)
			if err != nil {
				t.Fatal(err)
			}
			got := formatted(fs)
			if os.Getenv("UPDATE") != "" {
				last := &a.Files[len(a.Files)-1]
				last.Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != want {
				t.Errorf("got:\n%swant:\n%s", got, want)
			}
			if len(in.Target.Services) == 0 { // else the case has names of its own
				sameElsewhere(t, in, fs)
			}
		})
	}
}
