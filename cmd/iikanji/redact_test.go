package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/lang/catalog"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/show/summary/summarytest"
	"github.com/iikanji/iikanji/internal/site/fact"
	"github.com/iikanji/iikanji/internal/site/observe"
)

// plantedSecrets is every secret that is planted below: a token in a URL, the password of a
// DSN, an address of e-mail and a name in a literal, a password in a configuration.
var plantedSecrets = []string{"tok-Zx81Secret", "Hunter2Password", "alice@example.org", "bob@example.org", "conf-Secret77"}

// leaks lists the planted secrets in a text.
func leaks(text string) (found []string) {
	for _, s := range plantedSecrets {
		if strings.Contains(text, s) {
			found = append(found, s)
		}
	}
	return found
}

const (
	secretAccess = `127.0.0.1 - - [22/Nov/2026:10:00:00 +0000] "GET /api/me?token=tok-Zx81Secret&page=2 HTTP/1.1" 200 12 "-" "curl" 0.100
127.0.0.1 - - [22/Nov/2026:10:00:01 +0000] "GET /u/alice@example.org HTTP/1.1" 200 12 "-" "curl" 0.100
127.0.0.1 - bob@example.org [22/Nov/2026:10:00:01 +0000] "GET / HTTP/1.1" 200 12 "-" "curl" 0.300
broken line with token=tok-Zx81Secret
`
	secretSlow = `# Time: 2026-11-22T10:00:00.000000Z
# User@Host: app[app] @ localhost []  Id:     7
# Query_time: 0.100000  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 10
SELECT * FROM user WHERE mail = 'alice@example.org' AND note = 'plain words';
# Time: 2026-11-22T10:00:01.000000Z
# User@Host: app[app] @ localhost []  Id:     7
# Query_time: 0.200000  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 10
UPDATE conn SET password = 'Hunter2Password', dsn = 'app:Hunter2Password@tcp(db:3306)/x' WHERE id = 3;
# Time: 2026-11-22T10:00:02.000000Z
# User@Host: app[app] @ localhost []  Id:     7
# Query_time: 0.300000  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 10
SELECT url FROM link WHERE url = 'https://x.example/?token=tok-Zx81Secret';
`
)

// TestRedactedLogs: no form of output of the commands on logs has a planted secret,
// nor has a saved profile, which has no literal of a statement at all. With
// --literals all are there.
func TestRedactedLogs(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	edit(t, at("a.log"), secretAccess)
	edit(t, at("s.log"), secretSlow)
	cases := [][]string{
		{"access", at("a.log"), "--columns", "all", "--top-requests", "9", "--max-bad", "50", "--save", at("a.json")},
		{"access", at("a.log"), "--max-bad", "50", "--by", "url", "--query"}, {"access", at("a.log"), "--max-bad", "50", "--by", "user"},
		{"slow", at("s.log"), "--save", at("s.json")}, {"slow", at("s.log"), "--columns", "all"},
		{"merge", at("a.json"), at("a.json"), "--save", at("merged.json")}, {"merge", at("s.json")}, {"diff", at("a.json"), at("a.log"), "--max-bad", "50"},
		{"access", "diff", at("a.log"), at("a.log"), "--max-bad", "50"}, {"slow", "diff", at("s.log"), at("s.log")},
	}
	for _, format := range []string{"table", "tsv", "csv", "markdown", "json"} {
		cases = append(cases, []string{"access", at("a.log"), "--max-bad", "50", "--top-requests", "9", "--format", format}, []string{"slow", at("s.log"), "--format", format})
	}
	cases = append(cases, []string{"slow", at("s.log"), "--format", "pt"})
	for _, args := range cases {
		out, errs, status := invoke(t, args...)
		if found := leaks(out + errs); status != exitDone || out == "" || len(found) > 0 {
			t.Errorf("%q: status %d, leaks %q\n%s%s", args, status, found, out, errs)
		}
	}
	edit(t, at("bad.log"), strings.Repeat("127.0.0.1 - - [22/Nov/2026:10:00:00 +0000] \"GET / HTTP/1.1\" 200 12\n", 20)+strings.Repeat("line with token=tok-Zx81Secret\n", 9))
	edit(t, at("bad-slow.log"), secretSlow+strings.Repeat("# User@Host: x\n# Query_time: alice@example.org\n", 40))
	for _, args := range [][]string{{"access", at("bad.log")}, {"slow", at("bad-slow.log")}} {
		out, errs, status := invoke(t, args...)
		if found := leaks(out + errs); status == exitDone || len(found) > 0 || !strings.Contains(errs, "[removed]") {
			t.Errorf("%q: status %d, leaks %q\n%s%s", args, status, found, out, errs)
		}
	}
	for _, name := range []string{"a.json", "s.json", "merged.json"} {
		b, err := os.ReadFile(at(name))
		if found := leaks(string(b)); err != nil || len(found) > 0 || strings.Contains(string(b), "plain words") {
			t.Errorf("%s leaks %q, %v\n%s", name, found, err, b)
		}
	}
	if out, _, _ := invoke(t, "slow", at("s.log"), "--format", "json"); !strings.Contains(out, "plain words") {
		t.Errorf("a literal that is no secret is not shown here:\n%s", out)
	}
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"access", at("a.log"), "--literals", "--max-bad", "50", "--top-requests", "9", "--by", "user", "--format", "json", "--save", at("a2.json")}, []string{"tok-Zx81Secret", "alice@example.org", "bob@example.org"}},
		{[]string{"slow", at("s.log"), "--literals", "--format", "json", "--save", at("s2.json")}, []string{"tok-Zx81Secret", "Hunter2Password", "alice@example.org", "plain words"}},
	} {
		out, _, _ := invoke(t, c.args...)
		saved, err := os.ReadFile(c.args[len(c.args)-1])
		for _, want := range c.want {
			if err != nil || !strings.Contains(out, want) || !strings.Contains(string(saved), want) {
				t.Errorf("%q has not %s: %v", c.args, want, err)
			}
		}
	}
}

// secretHistory is a history with planted secrets in a finding, in the profiles of
// an observed run, in a fault, in a note, and in the file that a kept change edited.
// It returns its folder and the observed run.
func secretHistory(t *testing.T) (hist string, run iikanji.RunID) {
	t.Helper()
	hist = summarytest.Make(t)
	h, err := history.Open(hist)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	run, _, err = h.NewRun()
	if err != nil {
		t.Fatal(err)
	}
	sql := "SELECT * FROM user WHERE mail = 'alice@example.org' AND dsn = 'app:Hunter2Password@tcp(db:3306)/x' AND url = '/?token=tok-Zx81Secret'"
	row := iikanji.Row{Key: "select * from user where mail = ?", Count: 1000, Total: 40 * time.Second, Share: 1, Mean: 40 * time.Millisecond, P95: 50 * time.Millisecond,
		Example: iikanji.Sighting{Text: sql}, Query: &iikanji.SQLRow{Digest: "0123456789abcdef", Fingerprint: "select * from user where mail = ?", Examined: 1e7, Sent: 1000, FullScan: 1000, Tables: []string{"user"}, Typical: iikanji.Sighting{Text: sql}}}
	r := &iikanji.Run{ID: run, Scenario: "toy", Seed: 1, Began: time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC), Took: 10 * time.Second, Outcome: iikanji.Passed, Score: 100,
		Reasons: []string{"GET /api/me?token=tok-Zx81Secret failed"}, Notes: []string{"as alice@example.org"}, Warnings: []string{"dsn app:Hunter2Password@tcp(db:3306)/x"}}
	ob := &observe.Observation{Run: r, Target: iikanji.Target{Name: "toy", Services: []iikanji.Service{{Name: "database", Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB}}},
		Sensors:  []observe.Sensor{{Source: iikanji.Slow, Name: "slow log", Green: true, Proofs: []observe.Proof{{Says: "all", Holds: true}}}, {Source: iikanji.Access, Name: "access log", Error: "a line with token=tok-Zx81Secret"}},
		Profiles: []iikanji.Profile{{Version: iikanji.ProfileVersion, Source: iikanji.Slow, Target: "database", Rows: []iikanji.Row{row}}}}
	plan, err := json.Marshal(catalog.QueryPlan{SQL: sql, Steps: []catalog.QueryStep{{Table: "user", Access: "ALL", Rows: 10000}}})
	if err != nil {
		t.Fatal(err)
	}
	known := []iikanji.Fact{{Target: "database", Topic: string(fact.TopicVariable), Key: "version", Value: "10.11"}, {Target: "database", Topic: string(fact.TopicVariable), Key: "report_password", Value: "conf-Secret77"},
		{Target: "database", Topic: string(fact.TopicPlan), Key: "0123456789abcdef", Value: string(plan)}}
	if err := observe.Keep(h, ob, known); err != nil {
		t.Fatal(err)
	}
	secretChange(t, h, t.TempDir())
	if err := h.Append(history.Event{What: history.Noted, Run: run, Text: "ask alice@example.org, password: Hunter2Password"}); err != nil {
		t.Fatal(err)
	}
	return hist, run
}

// secretChange adds a kept change of a configuration that holds a secret near the
// edited line.
func secretChange(t *testing.T, h *history.History, site string) {
	t.Helper()
	edits := change.Edit{Path: filepath.Join(site, "conf/nginx.conf"),
		Old: []byte("user x;\nevents {}\nproxy_set_header X-Api-Token \"conf-Secret77\";\ngzip off;\nsendfile on;\n"),
		New: []byte("user x;\nevents {}\nproxy_set_header X-Api-Token \"conf-Secret77\";\ngzip on;\nsendfile on;\n")}
	c := &iikanji.Change{Kind: "nginxconf", Target: "nginx", Says: "gzip for alice@example.org"}
	change.FromEdits(c, iikanji.VerbUnknown, edits)
	if err := h.AddChange(c, change.Diff(c)); err != nil {
		t.Fatal(err)
	}
	for _, s := range []iikanji.Stage{iikanji.Applying, iikanji.Applied, iikanji.Kept} {
		if err := h.MoveChange(c.ID, s, "token=tok-Zx81Secret"); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRedactedHistory: neither diagnose nor a report in any of its forms has a
// planted secret; with --literals they are there.
func TestRedactedHistory(t *testing.T) {
	tier.Slow(t)
	hist, run := secretHistory(t)
	number := strconv.Itoa(int(run))
	out := filepath.Join(t.TempDir(), "out")
	for _, args := range [][]string{
		{"diagnose", "isucondition", "--run", number, "--history", hist}, {"diagnose", "isucondition", "--run", number, "--history", hist, "--json"},
		{"diagnose", "isucondition", "--run", number, "--history", hist, "--format", "markdown"}, {"diagnose", "isucondition", "--run", number, "--history", hist, "--explain", "BEN103"},
		{"report", "isucondition", "--history", hist, "--out", "-"}, {"report", "isucondition", "--history", hist, "--out", out + ".html"}, {"report", "isucondition", "--history", hist, "--out", out + ".json"},
		{"report", "isucondition", "--history", hist, "--out", out + "/"},
	} {
		text, errs, status := invoke(t, args...)
		for _, file := range filesUnder(t, filepath.Dir(out)) {
			text += file
		}
		if found := leaks(text + errs); len(found) > 0 || status != exitDone {
			t.Errorf("%q: status %d, leaks %q\n%s", args, status, found, errs)
		}
		text, _, _ = invoke(t, append(args, "--literals")...)
		for _, file := range filesUnder(t, filepath.Dir(out)) {
			text += file
		}
		if len(leaks(text)) == 0 {
			t.Errorf("%q --literals shows none of the planted secrets: the test proves nothing", args)
		}
		if err := os.RemoveAll(filepath.Dir(out)); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(filepath.Dir(out), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRedactedExport: an export has no planted secret, and its patch, without the
// context line that held one, still applies.
func TestRedactedExport(t *testing.T) {
	site, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	hist := t.TempDir()
	h, err := history.Open(hist)
	if err != nil {
		t.Fatal(err)
	}
	secretChange(t, h, site)
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	if said, errs, status := invoke(t, "export", "isucondition", out, "--dir", site, "--history", hist); status != exitDone {
		t.Fatalf("status %d\n%s%s", status, said, errs)
	}
	all := filesUnder(t, out)
	if found := leaks(strings.Join(all, "")); len(found) > 0 {
		t.Errorf("the export leaks %q", found)
	}
	if !slices.ContainsFunc(all, func(f string) bool {
		return strings.Contains(f, "+gzip on;") && !strings.Contains(f, "X-Api-Token") && strings.HasPrefix(f, "--- a/conf")
	}) {
		t.Errorf("no patch without the line of the secret:\n%s", strings.Join(all, "\n----\n"))
	}
	if _, _, status := invoke(t, "export", "isucondition", out+"2", "--literals", "--dir", site, "--history", hist); status != exitDone || len(leaks(strings.Join(filesUnder(t, out+"2"), ""))) == 0 {
		t.Errorf("--literals: status %d", status)
	}
}

// filesUnder returns the content of each file below a folder.
func filesUnder(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		all = append(all, string(b))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
