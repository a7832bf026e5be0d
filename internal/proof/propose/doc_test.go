package propose

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	_ "github.com/iikanji/iikanji/internal/change/all"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// example is the input whose question docs/proposer.md shows.
func example() Input {
	return Input{
		Target: iikanji.Target{Name: "shop", Policy: iikanji.Policy{Allow: []iikanji.Promise{iikanji.Durability}},
			Services: []iikanji.Service{
				{Name: "nginx", Role: iikanji.RoleWeb, Engine: iikanji.EngineNginx, Configs: []string{"/srv/shop/nginx/nginx.conf"}},
				{Name: "app", Role: iikanji.RoleApp, Engine: iikanji.EngineGo},
				{Name: "database", Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB},
			}},
		Places: map[string]Places{
			"nginx": {Public: "/srv/shop/public"},
			"app":   {Source: "/srv/shop/webapp/go", Loads: []string{"/srv/shop/webapp/sql"}},
		},
		Score: 12640,
		Findings: []iikanji.Finding{{
			Code: "DB101", Where: "shop.orders", Claim: "SELECT of orders by customer_id reads 250,000 rows for 12; no index begins with customer_id",
			Evidence: []iikanji.Evidence{{Source: "digest d425546ef50630e1", Text: "812× select * from orders where customer_id = ? order by placed_at desc limit ?"}},
			Gain:     iikanji.Range{Lo: 21.5, Hi: 26},
			Remedies: []iikanji.Remedy{{Kind: "ddl", Target: "database", Says: "add index (customer_id, placed_at DESC) on shop.orders",
				Args: map[string]string{"act": "add index", "schema": "shop", "table": "orders", "columns": "customer_id, placed_at DESC"}}},
		}},
		Facts: []iikanji.Fact{
			{Target: "database", Topic: string(fact.TopicDialect), Key: "version", Value: `{"product":"mariadb","major":10,"minor":11,"patch":6}`},
			{Target: "database", Topic: string(fact.TopicVariable), Key: "innodb_buffer_pool_size", Value: "134217728"},
			{Target: "database", Topic: string(fact.TopicVariable), Key: "ssl_key", Value: "/etc/mysql/key.pem"}, // not sent
			{Target: "nginx", Topic: string(fact.TopicNginx), Key: "/srv/shop/nginx/nginx.conf",
				Value: `[{"name":"proxy_set_header","args":["Authorization","Basic c2hvcDpodW50ZXIy"],"start":310,"end":360}]`},
		},
		Trials: []Trial{{
			Change: iikanji.Change{ID: 1, Kind: "mysqlconf", Target: "database", Answers: "DB116", Says: "set innodb_flush_log_at_trx_commit = 2",
				Weakens: []iikanji.Promise{iikanji.Durability}, Stage: iikanji.Kept},
			Verdict: iikanji.Verdict{Call: iikanji.Keep, Reason: iikanji.Proven, Effect: iikanji.Interval{Mid: 0.0953, Lo: 0.0488, Hi: 0.1398, Level: 0.9},
				Why: "3 pairs: 10 % more, at least 5 %"},
		}},
	}
}

// doc returns docs/proposer.md and its blocks of JSON.
func doc(t *testing.T) (text string, blocks []string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "proposer.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?s)```json\n(.*?)```\n").FindAllSubmatch(b, -1) {
		blocks = append(blocks, string(m[1]))
	}
	if len(blocks) != 2 {
		t.Fatalf("docs/proposer.md has %d blocks of JSON, want the question and the answer", len(blocks))
	}
	return string(b), blocks
}

// TestDocQuestion: the question on the page is the one that Question returns.
func TestDocQuestion(t *testing.T) {
	_, blocks := doc(t)
	got, err := Question(example())
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != blocks[0] {
		t.Errorf("docs/proposer.md shows another question than\n%s", got)
	}
	for _, secret := range []string{"c2hvcDpodW50ZXIy", "key.pem"} {
		if strings.Contains(string(got), secret) {
			t.Errorf("the question contains %s", secret)
		}
	}
}

// TestDocExample: the example's answer to that question, with all kinds, is the one
// on the page, and Answer accepts it.
func TestDocExample(t *testing.T) {
	_, blocks := doc(t)
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 on this machine")
	}
	in := example()
	in.Kinds = change.Names()
	got, err := Run(t.Context(), []string{python, filepath.Join("..", "..", "..", "docs", "examples", "proposer.py")}, in)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Answer([]byte(blocks[1]), in.Kinds)
	if err != nil {
		t.Fatalf("the answer in docs/proposer.md: %v", err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the example answers %+v, the page shows %+v", got, want)
	}
	if len(want) != 2 || want[0].Answers != "DB101" || !reflect.DeepEqual(want[0].Remedy, in.Findings[0].Remedies[0]) {
		t.Errorf("%+v", want)
	}
	in.Trials = append(in.Trials, Trial{Change: iikanji.Change{Kind: "ddl", Target: "database", Answers: "DB101"}})
	if got, err = Run(t.Context(), []string{python, filepath.Join("..", "..", "..", "docs", "examples", "proposer.py")}, in); err != nil || len(got) != 1 {
		t.Errorf("a tried change is proposed again: %+v, %v", got, err)
	}
}

// TestDocAnswer: the answer on the page is valid, with or without python3.
func TestDocAnswer(t *testing.T) {
	_, blocks := doc(t)
	if got, err := Answer([]byte(blocks[1]), change.Names()); err != nil || len(got) != 2 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestDocComplete: every field and limit is on the page.
func TestDocComplete(t *testing.T) {
	text, _ := doc(t)
	var tree any
	b, err := Question(example())
	if err == nil {
		err = json.Unmarshal(b, &tree)
	}
	if err != nil {
		t.Fatal(err)
	}
	tree.(map[string]any)["facts"] = []any{map[string]any{"target": 0, "topic": 0, "key": 0, "value": 0}} // the form of a value depends on its fact
	for _, f := range tree.(map[string]any)["findings"].([]any) {
		f.(map[string]any)["remedies"].([]any)[0].(map[string]any)["args"] = 0
	}
	for _, name := range fields("", tree) {
		if !strings.Contains(text, "| `"+name+"` |") {
			t.Errorf("docs/proposer.md lacks the field %s", name)
		}
	}
	for _, limit := range []string{"1 MiB", fmt.Sprintf("%d changes", maxChanges), "10 minutes", "3 seconds", fmt.Sprintf("%d bytes", maxSays), "256 KiB", fmt.Sprintf("%d arguments", maxArgs)} {
		if !strings.Contains(text, limit) {
			t.Errorf("docs/proposer.md lacks the limit of %s", limit)
		}
	}
}

// fields returns the paths of all names in a document.
func fields(around string, v any) (names []string) {
	switch v := v.(type) {
	case map[string]any:
		for name, v := range v {
			names = append(append(names, around+name), fields(around+name+".", v)...)
		}
	case []any:
		for _, v := range v {
			names = append(names, fields(strings.TrimSuffix(around, ".")+"[].", v)...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// TestDocKinds: the section of the page about kinds and acts is that of their
// declarations. With UPDATE=1 in the environment it writes the section.
func TestDocKinds(t *testing.T) {
	text, _ := doc(t)
	names := change.Names()
	a, b := strings.Index(text, "### "+names[0]+"\n"), strings.Index(text, "## Diffs\n")
	if a < 0 || b < a {
		t.Fatal("docs/proposer.md has no section of kinds before ## Diffs")
	}
	var want strings.Builder
	for _, k := range wordsOf(names) {
		fmt.Fprintf(&want, "### %s\n\n%s\n\n| act | does | arguments |\n|---|---|---|\n", k.Name, k.Does)
		for _, act := range k.Acts {
			want.WriteString(actRow(act))
		}
		want.WriteString("\n")
	}
	switch {
	case text[a:b] == want.String():
	case os.Getenv("UPDATE") != "":
		if err := os.WriteFile(filepath.Join("..", "..", "..", "docs", "proposer.md"), []byte(text[:a]+want.String()+text[b:]), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Error("docs/proposer.md: the kinds are out of date: go generate ./internal/proof/propose")
	}
}

// actRow returns the page's table row for an act.
func actRow(a ActWords) string {
	var args []string
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for n := range a.Args {
			if !yield(n) {
				return
			}
		}
	}) {
		args = append(args, "`"+name+"` "+strings.ReplaceAll(a.Args[name], "|", `\|`))
	}
	act := "(none)"
	if a.Act != "" {
		act = "`" + a.Act + "`"
	}
	return fmt.Sprintf("| %s | %s | %s |\n", act, a.Does, strings.Join(args, "; "))
}

// TestKinds: every kind has a description, from a package of its name.
func TestKinds(t *testing.T) {
	names := change.Names()
	if len(names) < 4 {
		t.Fatalf("only %v: the test would prove nothing", names)
	}
	for _, w := range wordsOf(names) {
		if w.Does == "" || len(w.Acts) == 0 {
			t.Errorf("kind %s has no description", w.Name)
		}
		if _, err := os.Stat(filepath.Join("..", "..", "change", w.Name)); err != nil {
			t.Errorf("the description of %s: %v", w.Name, err)
		}
		for _, a := range w.Acts {
			if a.Does == "" || len(a.Args) == 0 || a.Args["act"] != "" {
				t.Errorf("%s, %q: the description is incomplete", w.Name, a.Act)
			}
		}
	}
	if !slices.IsSortedFunc(wordsOf(names), func(a, b KindWords) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the kinds are not in alphabetical order")
	}
}

// TestActs: nginxconf has each described act, and no invented one.
func TestActs(t *testing.T) {
	site := &change.Site{Services: map[string]change.Service{"nginx": {Config: "/nowhere/nginx.conf"}}}
	known := func(act string) bool {
		_, err := change.Plan(t.Context(), site, iikanji.Remedy{Kind: "nginxconf", Target: "nginx", Args: map[string]string{"act": act}})
		return err != nil && !strings.Contains(err.Error(), "no act")
	}
	if known("make it fast") {
		t.Fatal("an invented act is known: the test would prove nothing")
	}
	for _, a := range wordsOf([]string{"nginxconf"})[0].Acts {
		if !known(a.Act) {
			t.Errorf("nginxconf has no act %q", a.Act)
		}
	}
}
