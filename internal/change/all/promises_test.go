package all

import (
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/change"
)

// keeps has, for each act, the reason why a change of it may weaken no promise,
// or "weakens" and the promise that each change of it weakens. The promises of
// each setting are in package promise, with tests of their own; the tests named
// TestPromises of the kinds plan the acts.
var keeps = map[string]string{
	"appenv/":                      "only variables and parameters in the tables of package promise keep promises; any other variable weakens all",
	"ddl/add column":               "rows may come in another order, unless the observed run proved that every statement sorts them; no statement of the app sees the column",
	"ddl/add index":                "rows may come in another order, unless the observed run proved that every statement sorts them",
	"ddl/drop index":               "rows may come in another order, unless the observed run proved that every statement sorts them",
	"gocode/":                      "a lever rewrites only what types and flow prove; other fixes weaken tested-only, and what the lever declares counts in addition",
	"httpcache/direct":             "requests reach the same app without a cache; weakens behaviour if the Varnish included fragments",
	"httpcache/nginx":              "weakens tested-only, and privacy without proof that the answer is the same for all",
	"httpcache/varnish":            "weakens freshness, and privacy without proof that the answer is the same for all",
	"mysqlconf/":                   "each variable has its rule or its reason in package promise",
	"nginxconf/access log":         "buffered lines are all written, at most one minute later",
	"nginxconf/buffers":            "sizes only grow, up to a bound: the same bytes are held in memory instead of in files",
	"nginxconf/cache":              "weakens freshness, and privacy without proof that the answer is the same for all",
	"nginxconf/cache until reset":  "weakens freshness, or tested-only where a run proved that answers do not change between resets; and privacy without proof that the answer is the same for all",
	"nginxconf/expires":            "values with which clients ask again each time, where the app says nothing",
	"nginxconf/internal files":     "only an answer of the app can name such a file, and no route of an app has these URLs",
	"nginxconf/gzip":               "the same content is sent in another encoding to clients that accept it",
	"nginxconf/gzip static":        "weakens freshness: a copy stays as it is when its file changes",
	"nginxconf/open file cache":    "weakens freshness",
	"nginxconf/refuse user agents": "weakens availability",
	"nginxconf/set":                "each directive has its rule or its reason in package promise",
	"nginxconf/static files":       "files of the public folder, which the app itself serves, or single files that it answered with; every other path still reaches the app",
	"nginxconf/upstream keepalive": "the same requests reach the app on connections that stay open",
	"nginxconf/upstream socket":    "the same requests reach the app by its socket, which must accept when the change is planned",
	"nginxconf/workers":            "more workers, connections or descriptors; fewer weaken availability",
	"ondemand/":                    "what is started is used by nobody until another change has the app use it; the end of a service weakens availability",
	"parameter/":                   "what a program's own parameter means is declared by the user, with its bounds: the checks of the runs decide",
	"patch/":                       "what source code does cannot be computed: the checks of the runs decide, and what its author admits counts in addition",
	"unit/boot":                    "one more unit is started at boot; nothing that runs now changes",
	"unit/off":                     "a unit that does not run now is not started at boot either",
	"topology/move":                "the same data on another host, by equal digests; rows written after the switch are dropped where the benchmark makes them anew, or only with back=drop",
	"topology/spread":              "requests reach a second instance of the same source, whose source keeps nothing for them in its process or its files; one whose source is not read weakens behaviour",
	"topology/weights":             "the same instances answer, each another share",
	"topology/gather":              "the app's own host answers all requests, as before its spread",
	"unit/state":                   "a unit that is ended or left out at boot weakens availability where it is a service of the site",
	"unit/dropin":                  "a unit is started again more often, and after what it needs; what it executes does not change",
	"workers/":                     "further processes and threads of an app whose source keeps no state in their memory; state weakens freshness and behaviour, threads weaken tested-only",
	"sysctl/limits":                "higher limits; lower ones weaken availability or observability",
	"sysctl/sysctl":                "each kernel variable has its rule or its reason in package promise",
}

// TestEveryActHasAReason: an act without a row fails, and so does a row without
// an act.
func TestEveryActHasAReason(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range change.Names() {
		k, _ := change.Lookup(name)
		for _, a := range k.Acts() {
			key := name + "/" + a.Name
			seen[key] = true
			if len(strings.Fields(keeps[key])) < 2 {
				t.Errorf("act %s has no reason why its changes keep every promise", key)
			}
			for _, arg := range a.Args {
				if arg.Name == "weakens" && name != "patch" {
					t.Errorf("act %s lets the asker declare promises", key)
				}
			}
		}
	}
	for key := range keeps {
		if !seen[key] {
			t.Errorf("%s is no act", key)
		}
	}
}
