package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// A policyRow is one act under a policy that allows nothing: what its change weakens,
// or, for an act that the shop has no place for, the test that plans it.
type policyRow struct {
	target  string
	args    map[string]string
	weakens string // "" if the change may be applied
	why     string // why it keeps every promise
	test    string // file and name of the test
}

// policyRows has at least one row for every act. The first word of a key is the kind;
// the text after " · " distinguishes rows of one act.
var policyRows = map[string]policyRow{
	"appenv/": {"app", map[string]string{"env.GOGC": "200"}, "", "less frequent collections change no answer", ""},
	"ddl/add index": {"database", map[string]string{"schema": "shop", "table": "orders", "columns": "user"}, "row-order",
		"", ""},
	"ddl/add column": {"database", map[string]string{"schema": "shop", "table": "orders", "name": "nobody", "type": "tinyint", "as": "user IS NULL"}, "row-order",
		"", ""},
	"ddl/add index · of SQLite files":       {test: "../../internal/change/ddl/files_test.go TestFilesWeaken"},
	"ddl/drop index":                        {test: "../../internal/change/ddl/files_test.go TestFilesWeaken"},
	"gocode/":                               {test: "../../internal/change/gocode/kind_test.go TestPlan"},
	"gocode/ · the query cache":             {test: "../../internal/change/gocode/cache_test.go TestCache"},
	"unit/boot":                             {test: "../../internal/change/unit/unit_test.go TestNoFolder"},
	"unit/dropin":                           {test: "../../internal/change/unit/unit_test.go TestNoFolder"},
	"unit/state":                            {test: "../../internal/change/unit/unit_test.go TestNoFolder"},
	"topology/move":                         {test: "../../internal/change/topology/topology_test.go TestRefused"},
	"topology/spread":                       {test: "../../internal/change/topology/spread_test.go TestSpreadRefused"},
	"topology/weights":                      {test: "../../internal/change/topology/spread_test.go TestSpreadRefused"},
	"topology/gather":                       {test: "../../internal/change/topology/spread_test.go TestSpreadRefused"},
	"unit/off":                              {test: "../../internal/change/unit/unit_test.go TestNoFolder"},
	"httpcache/direct":                      {test: "../../internal/change/httpcache/effect_test.go TestVarnish"},
	"httpcache/nginx":                       {test: "../../internal/change/httpcache/nginxpages_test.go TestNginxPages"},
	"httpcache/varnish":                     {test: "../../internal/change/httpcache/effect_test.go TestVarnish"},
	"mysqlconf/":                            {"database", map[string]string{"innodb_io_capacity": "400"}, "", "the same pages are written sooner", ""},
	"mysqlconf/ · lower durability":         {"database", map[string]string{"innodb_flush_log_at_trx_commit": "2"}, "durability", "", ""},
	"mysqlconf/ · fewer connections":        {"database", map[string]string{"max_connections": "77"}, "availability", "", ""},
	"nginxconf/access log":                  {"nginx", map[string]string{"log": "off"}, "observability", "", ""},
	"nginxconf/buffers":                     {"nginx", map[string]string{"body": "256k", "answer": "1m", "header": "32k", "spill": "off"}, "", "the same bytes are held in memory", ""},
	"nginxconf/cache":                       {"nginx", map[string]string{"path": "/", "valid": "1s"}, "freshness privacy", "", ""},
	"nginxconf/cache until reset":           {"nginx", map[string]string{"path": "/a", "reset": "/initialize"}, "freshness privacy", "", ""},
	"nginxconf/expires":                     {"nginx", map[string]string{"path": "/", "expires": "1h"}, "freshness privacy", "", ""},
	"nginxconf/gzip":                        {"nginx", map[string]string{}, "", "clients that accept it get the same content encoded", ""},
	"nginxconf/gzip static":                 {test: "../../internal/change/nginxconf/effect_test.go TestPromises"},
	"nginxconf/internal files":              {test: "../../internal/change/nginxconf/conform_test.go TestConformance"},
	"nginxconf/open file cache":             {"nginx", map[string]string{"valid": "60s"}, "freshness", "", ""},
	"nginxconf/refuse user agents":          {"nginx", map[string]string{"patterns": "^bot/"}, "availability", "", ""},
	"nginxconf/set":                         {"nginx", map[string]string{"directive": "tcp_nopush", "value": "on"}, "", "the same bytes in fewer packets", ""},
	"nginxconf/set · a log off":             {"nginx", map[string]string{"directive": "access_log", "value": "off"}, "observability", "", ""},
	"nginxconf/static files":                {"nginx", map[string]string{"path": "/assets"}, "", "the app serves the same files", ""},
	"nginxconf/upstream keepalive":          {"nginx", map[string]string{"keepalive": "8"}, "", "the same requests on connections that stay open", ""},
	"nginxconf/upstream socket":             {test: "../../internal/change/nginxconf/conform_test.go TestConformance"},
	"nginxconf/workers":                     {"nginx", map[string]string{"processes": "8"}, "", "more workers than before", ""},
	"nginxconf/workers · fewer descriptors": {"nginx", map[string]string{"connections": "64", "nofile": "128"}, "availability", "", ""},
	"ondemand/":                             {test: "../../internal/change/ondemand/kind_test.go TestWeakens"},
	"parameter/":                            {test: "../../internal/change/parameter/kind_test.go TestText"},
	"patch/": {"app", oneOfEach()["patch"].Args, "",
		"what source does cannot be computed: the checks of the runs decide, and what its author admits counts", ""},
	"sysctl/limits": {"nginx", map[string]string{"nofile": "1024"}, "availability", "", ""},
	"workers/":      {test: "../../internal/change/workers/plan_test.go TestWeakens"},
	"sysctl/sysctl": {test: "../../internal/change/sysctl/kind_test.go TestWeakens"},
}

// TestPolicyAllowsNothing plans every act on a real site whose policy allows nothing.
// Only a change that weakens no promise, by a reason in its row, may be applied; every
// other one is refused, and the site stays as it is. An act without a row fails.
func TestPolicyAllowsNothing(t *testing.T) {
	tier.Slow(t)
	for _, name := range change.Names() {
		if name == "lever" { // package summarytest registers it for tests
			continue
		}
		k, _ := change.Lookup(name)
		for _, a := range k.Acts() {
			if _, ok := policyRows[name+"/"+a.Name]; !ok {
				t.Errorf("act %s/%s has no row", name, a.Name)
			}
		}
	}
	_, dir := shop(t)
	a, err := findTarget("shop")
	if err != nil {
		t.Fatal(err)
	}
	h, err := history.Open(filepath.Join(dir, "history"))
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	planned := 0
	err = withLiveTarget(t.Context(), &env{Stderr: &lockedBuffer{}, Now: time.Now, Cols: 80}, a, stack.Options{Dir: dir}, func(ctx context.Context, w *liveTarget) error {
		before := everything(t, dir, w.Site())
		x := &change.Executor{Hands: w.Site(), Journal: h, Policy: iikanji.Policy{}}
		for key, row := range policyRows {
			if row.test != "" {
				file, name, _ := strings.Cut(row.test, " ")
				if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), "func "+name+"(") {
					t.Errorf("%s: there is no test %s: %v", key, row.test, err)
				}
				continue
			}
			planned++
			underNothing(ctx, t, w, x, h, key, row)
		}
		same(t, "after all refusals", everything(t, dir, w.Site()), before)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if planned < 15 {
		t.Errorf("only %d acts were planned", planned)
	}
}

// underNothing plans one row and lets the executor refuse it.
func underNothing(ctx context.Context, t *testing.T, w *liveTarget, x *change.Executor, h *history.History, key string, row policyRow) {
	t.Helper()
	kind, act, _ := strings.Cut(key, "/")
	act, _, _ = strings.Cut(act, " · ")
	r := iikanji.Remedy{Kind: kind, Target: row.target, Says: key, Args: map[string]string{}}
	for k, v := range row.args {
		r.Args[k] = v
	}
	if act = strings.TrimSpace(act); act != "" {
		r.Args["act"] = act
	}
	c, err := change.Plan(ctx, w.Site(), r)
	if err != nil {
		t.Errorf("%s: %v", key, err)
		return
	}
	if got := strings.Trim(fmt.Sprint(c.Weakens), "[]"); got != row.weakens {
		t.Errorf("%s weakens %q, want %q", key, got, row.weakens)
	}
	if row.weakens == "" {
		if len(strings.Fields(row.why)) < 4 {
			t.Errorf("%s has no reason why it keeps every promise", key)
		}
		return // it may be applied; the tests of its kind do so
	}
	if err := h.AddChange(c, change.Diff(c)); err != nil {
		t.Fatal(err)
	}
	var moved *change.MovedError
	if err := x.Apply(ctx, c.ID); err == nil || errors.As(err, &moved) || !strings.Contains(err.Error(), "which the target's policy does not allow") {
		t.Errorf("%s was not refused: %v", key, err)
	}
}
