package policy_test

import (
	"errors"
	"fmt"
	"go/build"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/iikanji/iikanji"

// layout is the import policy: the packages of this module that each package may
// import. "words" is the root package. A key ending in "/*" covers every folder
// below it that has no line of its own. A new import needs a line here and a
// reason in the commit.
var layout = map[string][]string{
	"words":                                    {},
	"internal/proof/stats":                     {},
	"internal/logs/lines":                      {"internal/logs/unwrap"},
	"internal/logs/unwrap":                     {}, // what carries a log: Docker, CRI, syslog, shippers
	"internal/logs/filter":                     {}, // the language of --where, for every kind of log
	"internal/lang/nginx":                      {},
	"internal/show/plain":                      {},                                                                                                       // the one cleaner of text from outside
	"internal/show/redact":                     {"words", "internal/lang/sqltext", "internal/show/plain", "internal/lang/catalog", "internal/site/fact"}, // removes secrets from what leaves the machine
	"internal/logs/tally":                      {"words"},
	"internal/load":                            {"words"}, // what a search asks of a site under load
	"internal/load/scenario":                   {"words"},
	"internal/machine/host":                    {},
	"internal/machine/tree":                    {"internal/machine/host"},                                                                                                                                                                                                               // whole folders, copied between hosts
	"internal/contest/lab/labtest":             {"internal/contest/lab", "internal/machine/host", "internal/machine/peer", "internal/policy/tier"},                                                                                                                                      // such machines as hosts, for tests
	"internal/change/topology":                 {"words", "internal/machine/host", "internal/machine/tree", "internal/machine/appserver", "internal/change", "internal/change/nginxedit", "internal/lang/goapp", "internal/lang/nginx", "internal/lang/settings", "internal/lang/ties"}, // which host a service runs on
	"internal/machine/host/hosttest":           {"internal/machine/host"},                                                                                                                                                                                                               // what every kind of host must do
	"internal/machine/peer":                    {"internal/machine/host", "internal/machine/tree"},                                                                                                                                                                                      // a host behind a stream of bytes
	"internal/machine/sshdial":                 {"internal/machine/host", "internal/machine/peer"},                                                                                                                                                                                      // a shell of a machine through SSH
	"internal/machine/yardstick":               {"internal/machine/host"},                                                                                                                                                                                                               // what machines of a site can do
	"internal/machine/fleet":                   {"internal/machine/host", "internal/machine/peer", "internal/machine/sshdial", "internal/site/target"},                                                                                                                                  // the machines of a site, connected
	"internal/machine/sqlitefile":              {"words", "internal/machine/host", "internal/lang/sqltext", "internal/lang/catalog"},                                                                                                                                                    // SQLite files: read, planned in, altered
	"internal/change/history":                  {"words"},
	"internal/logs/accesslog":                  {"words", "internal/logs/unwrap", "internal/logs/lines", "internal/logs/tally", "internal/logs/filter", "internal/lang/nginx"},
	"internal/logs/slowlog":                    {"words", "internal/logs/unwrap", "internal/logs/lines", "internal/logs/tally", "internal/logs/filter", "internal/show/plain"},
	"internal/logs/errorlog":                   {"words", "internal/logs/unwrap", "internal/logs/lines"},
	"internal/machine/hoststat":                {"words", "internal/machine/host"},
	"internal/machine/hostproc":                {"internal/machine/host"},                                                                                                     // single processes of a host from /proc
	"internal/machine/clock":                   {"words", "internal/machine/host"},                                                                                            // a host's clock beside this machine's
	"internal/machine/appserver":               {"internal/machine/host", "internal/machine/hostproc", "internal/show/plain", "internal/lang/settings", "internal/lang/ties"}, // how many processes and threads an app server runs
	"internal/site/facts":                      {"words", "internal/lang/nginx", "internal/machine/host", "internal/machine/hostproc", "internal/machine/hoststat", "internal/machine/sqlitefile", "internal/machine/appserver", "internal/lang/sqltext", "internal/site/fact", "internal/lang/catalog"},
	"internal/site/facts/factstest":            {}, // a private MariaDB for tests
	"internal/load/bench":                      {"words", "internal/load/h2", "internal/load/scenario", "internal/logs/tally"},
	"internal/load/h2":                         {}, // pure: frames and header compression of HTTP/2
	"internal/load/rpc":                        {"words", "internal/load/scenario"},
	"internal/load/shard":                      {"words", "internal/load/bench", "internal/load/scenario"},
	"internal/portal/fleet":                    {"words", "internal/logs/accesslog", "internal/logs/lines", "internal/logs/slowlog", "internal/logs/tally", "internal/portal/api", "internal/portal/contest", "internal/portal/lead", "internal/portal/store", "internal/show/plain", "internal/show/redact"},
	"internal/proof/attribute":                 {},                                                                                                                  // pure: no clock, no I/O
	"internal/cause":                           {"words", "internal/proof/attribute", "internal/cause/database/index", "internal/site/fact", "internal/show/plain"}, // what rules see, their declarations, the ranking
	"internal/cause/database/index":            {"words", "internal/lang/sqltext", "internal/site/fact", "internal/lang/catalog"},                                   // the index adviser
	"internal/cause/database/index/indextest":  {"words", "internal/lang/catalog"},                                                                                  // tables of text cases
	"internal/cause/app":                       {"words", "internal/cause", "internal/site/fact", "internal/lang/sqltext"},                                          // locking reads in the source's texts
	"internal/cause/boot":                      {"words", "internal/cause", "internal/site/fact"},                                                                   // what a reboot would lose
	"internal/cause/cache":                     {"words", "internal/cause", "internal/site/fact"},
	"internal/cause/database":                  {"words", "internal/cause", "internal/cause/database/index", "internal/site/fact", "internal/lang/catalog"},
	"internal/cause/machine":                   {"words", "internal/cause", "internal/site/fact"},
	"internal/cause/measurement":               {"words", "internal/cause", "internal/site/fact"},
	"internal/cause/topology":                  {"words", "internal/cause", "internal/site/fact"}, // which service runs where, and the network between
	"internal/cause/web":                       {"words", "internal/cause", "internal/lang/nginx", "internal/site/fact"},
	"internal/cause/all":                       {"internal/cause", "internal/cause/app", "internal/cause/boot", "internal/cause/cache", "internal/cause/database", "internal/cause/machine", "internal/cause/measurement", "internal/cause/topology", "internal/cause/web"},
	"internal/cause/diagnose":                  {"words", "internal/cause", "internal/cause/all", "internal/rewrite", "internal/site/observe", "internal/site/fact", "internal/lang/catalog"}, // findings of an observation
	"internal/change":                          {"words", "internal/lang/goapp", "internal/machine/host", "internal/machine/tree", "internal/change/history", "internal/machine/sqlitefile", "internal/lang/sqltext"},
	"internal/change/changetest":               {"words", "internal/change/history", "internal/change", "internal/show/redact", "internal/policy/tier"},
	"internal/change/*":                        {"words", "internal/lang/goapp", "internal/machine/host", "internal/machine/hostproc", "internal/change", "internal/change/promise", "internal/lang/nginx", "internal/change/nginxedit"},
	"internal/change/gocode":                   {"words", "internal/machine/host", "internal/machine/hostproc", "internal/change", "internal/change/promise", "internal/lang/goapp", "internal/site/facts", "internal/rewrite/gosource", "internal/rewrite", "internal/rewrite/cacheplan", "internal/rewrite/sqlcache", "internal/machine/sqlitefile", "internal/lang/sqltext", "internal/show/plain"}, // who has the SQLite files open
	"internal/change/httpcache":                {"words", "internal/machine/host", "internal/machine/hostproc", "internal/change", "internal/change/promise", "internal/lang/nginx", "internal/change/nginxedit", "internal/lang/goapp", "internal/rewrite", "internal/rewrite/pagegen"},
	"internal/rewrite/pagegen":                 {},                                                                                                                                                                                                                  // copied into apps: the standard library only
	"internal/change/nginxedit":                {"words", "internal/machine/host", "internal/machine/hostproc", "internal/change", "internal/change/promise", "internal/lang/nginx"},                                                                                // edits of nginx's configuration, for several kinds
	"internal/proof/answers":                   {},                                                                                                                                                                                                                  // answers of two builds of an app
	"internal/rewrite/gosource":                {"words", "internal/lang/goapp", "internal/rewrite", "internal/logs/slowlog", "internal/lang/sqltext", "internal/site/fact", "internal/lang/catalog"},                                                               // source of Go apps as facts
	"internal/change/promise":                  {"words"},                                                                                                                                                                                                           // pure: which promises a value weakens
	"internal/change/ddl":                      {"words", "internal/machine/host", "internal/change", "internal/change/promise", "internal/machine/sqlitefile", "internal/lang/sqltext", "internal/lang/sqlschema", "internal/show/plain", "internal/lang/catalog"}, // indexes, also in SQLite files
	"internal/proof/placement":                 {"words"},                                                                                                                                                                                                           // pure: which hosts services should run on
	"internal/change/workers":                  {"words", "internal/machine/host", "internal/change", "internal/change/promise", "internal/machine/appserver"},                                                                                                      // processes and threads of app servers
	"internal/change/all":                      {"internal/change/*"},
	"internal/site/window":                     {"words", "internal/lang/nginx", "internal/proof/stats", "internal/logs/slowlog", "internal/site/fact", "internal/lang/sqltext", "internal/lang/catalog"}, // what was observed, redacted and compared
	"internal/show/export":                     {"words", "internal/machine/host", "internal/change/history", "internal/change", "internal/show/plain", "internal/show/redact"},
	"internal/proof/propose":                   {"words", "internal/change", "internal/show/plain", "internal/show/redact", "internal/site/fact"},                                                                                                  // describes the acts that kinds of change declare
	"internal/contest/stack":                   {"words", "internal/machine/host", "internal/machine/hostproc", "internal/contest/arena", "internal/machine/freeport", "internal/machine/process", "internal/lang/sqltext", "internal/show/plain"}, // see docs/adr/0001
	"internal/load/field":                      {"words", "internal/lang/constants", "internal/cause/diagnose", "internal/load", "internal/logs/accesslog", "internal/load/scenario", "internal/load/bench", "internal/change/history", "internal/machine/host", "internal/machine/hoststat", "internal/change", "internal/site/facts", "internal/proof/judge", "internal/site/observe", "internal/rewrite/gosource", "internal/site/goprofile", "internal/proof/answers", "internal/show/timeline", "internal/site/fact", "internal/lang/sqltext"},
	"internal/lang/goapp":                      {"internal/lang/settings"}, // the one typed view of a Go app
	"internal/lang/sqltext":                    {},                         // SQL by its tokens
	"internal/site/fact":                       {"words", "internal/lang/catalog", "internal/lang/nginx"},
	"internal/lang/catalog":                    {"words"}, // what a database reports of itself, as types
	"internal/lang/sqlschema":                  {"internal/lang/sqltext"},
	"internal/lang/goapp/sqlcall":              {"internal/lang/sqltext"}, // the calls that send SQL, and their texts
	"internal/rewrite/sqlcache":                {},                        // copied into apps: the standard library only
	"internal/rewrite/sqlcache/model":          {},                        // checks the cache against its promise
	"internal/rewrite/cacheplan":               {"internal/lang/goapp", "internal/lang/sqltext", "internal/rewrite/sqlcache", "internal/lang/sqlschema"},
	"internal/rewrite":                         {"internal/lang/goapp", "internal/lang/goapp/sqlcall", "internal/lang/sqltext", "internal/lang/sqlschema"},                                                                             // analyzers of Go source; no server, no words
	"internal/site/arenasite":                  {"words", "internal/load/scenario", "internal/machine/host", "internal/contest/arena", "internal/change", "internal/contest/stack", "internal/load/field", "internal/machine/process"}, // an arena's stack as a Subject
	"internal/site/target":                     {"words"},
	"internal/machine/process":                 {"internal/machine/host", "internal/machine/hostproc", "internal/machine/hoststat", "words"},
	"internal/machine/mirror":                  {"internal/machine/host", "internal/machine/process"}, // a copy of another machine's source
	"internal/site/discover":                   {"words", "internal/site/boot", "internal/site/fact", "internal/lang/nginx", "internal/machine/host", "internal/machine/hostproc", "internal/machine/hoststat", "internal/machine/sqlitefile", "internal/machine/appserver", "internal/site/target", "internal/machine/process", "internal/lang/goapp", "internal/lang/settings"},
	"internal/lang/ties":                       {"internal/lang/goapp", "internal/lang/settings", "internal/show/plain"},                                                                                                                                                                                                                                        // pure: what ties an app to one host
	"internal/lang/settings":                   {},                                                                                                                                                                                                                                                                                                              // where an app connects to its database, by its settings: no I/O
	"internal/site/livesite":                   {"words", "internal/machine/host", "internal/machine/mirror", "internal/site/facts", "internal/change/history", "internal/lang/nginx", "internal/lang/settings", "internal/change", "internal/load/field", "internal/site/target", "internal/machine/process", "internal/site/discover", "internal/show/plain"}, // a site that runs already as a Subject
	"internal/load/loader":                     {"words", "internal/day/words", "internal/load/bench", "internal/load/scenario", "internal/load/field", "internal/machine/host", "internal/site/target", "internal/proof/stats", "internal/show/plain"},                                                                                                         // an outside benchmarker as a Loader
	"internal/site/boot":                       {"words", "internal/machine/host", "internal/machine/hostproc", "internal/machine/hoststat", "internal/machine/process", "internal/site/fact"},                                                                                                                                                                  // reads what a reboot would lose
	"internal/site/doctor":                     {"words", "internal/logs/lines", "internal/machine/host", "internal/logs/accesslog", "internal/machine/sqlitefile", "internal/site/target", "internal/machine/process", "internal/site/discover", "internal/site/livesite"},
	"internal/site/far":                        {"internal/machine/mirror", "internal/machine/yardstick", "internal/machine/clock", "internal/site/discover", "internal/machine/host", "internal/machine/hostproc", "internal/machine/hoststat", "internal/machine/process", "internal/site/observe"}, // what a far end carries out
	"internal/site/targettest":                 {"internal/machine/freeport"},                                                                                                                                                                                                                         // a small foreign site for tests
	"internal/show/report":                     {"words", "internal/show/plain", "internal/lang/catalog", "internal/site/fact"},
	"internal/show/progress":                   {"words"},                                                                                                                                                                                     // the state of a running command, in a file
	"internal/show/otlp":                       {},                                                                                                                                                                                            // receives traces; knows no word of ours
	"internal/show/timeline":                   {"words", "internal/change/history", "internal/load/bench", "internal/logs/lines", "internal/logs/slowlog", "internal/proof/attribute", "internal/site/observe", "internal/machine/hoststat"}, // the raw files of a run
	"internal/show/browsertest":                {},                                                                                                                                                                                            // pages in a browser, for tests
	"internal/show/ui":                         {"words", "docs", "internal/day/turn", "internal/change/history", "internal/show/progress", "internal/show/otlp", "internal/show/timeline", "internal/show/chart", "internal/show/summary", "internal/site/observe", "internal/show/redact", "internal/show/report", "internal/show/report/document"},
	"internal/show/report/document":            {"words", "internal/show/report", "internal/show/chart", "internal/show/summary", "internal/site/observe", "internal/show/plain"}, // a whole history as one file
	"docs":                                     {},                                                                                                                                // the pages that iikanji help prints
	"internal/show/chart":                      {},                                                                                                                                // SVG; knows no word of ours
	"internal/show/summary":                    {"words", "internal/cause/diagnose", "internal/load", "internal/change/history", "internal/change", "internal/proof/judge", "internal/proof/stats", "internal/site/observe", "internal/proof/search", "internal/proof/tune", "internal/site/fact"},
	"internal/show/summary/summarytest":        {"words", "internal/cause/diagnose", "internal/load", "internal/load/bench", "internal/change/history", "internal/change", "internal/machine/hoststat", "internal/site/observe", "internal/proof/search", "internal/proof/tune", "internal/site/fact"}, // small histories for tests
	"internal/contest/arena":                   {"words", "internal/load/scenario", "internal/machine/process"},
	"internal/contest/arena/kit/*":             {"words", "internal/load/scenario", "internal/contest/arena/kit/*"}, // code that several arenas need
	"internal/contest/arena/arenatest":         {"*"},
	"internal/contest/arena/arenatest/apptest": {"words", "internal/contest/arena", "internal/contest/stack"}, // an arena up, for the tests of its app
	"internal/contest/arena/arenatest/grading": {"words"},                                                     // answers.txt against findings
	"internal/machine/servertest":              {"internal/machine/freeport"},                                 // real servers in tests
	"internal/machine/freeport":                {},                                                            // ports that a server can listen on
	"internal/proof/judge":                     {"words", "internal/proof/stats"},                             // pure: no clock, no I/O
	"internal/site/observe":                    {"words", "internal/site/boot", "internal/lang/nginx", "internal/logs/lines", "internal/load/scenario", "internal/machine/host", "internal/machine/clock", "internal/machine/fleet", "internal/change/history", "internal/logs/accesslog", "internal/logs/slowlog", "internal/logs/errorlog", "internal/machine/hoststat", "internal/site/facts", "internal/load/bench", "internal/cause/database/index", "internal/logs/tally", "internal/site/fact", "internal/lang/catalog"},
	"internal/contest/practice":                {"words", "internal/contest/arena", "internal/contest/lab", "internal/machine/host"},                                                                                                                                        // an arena on machines, as a foreign site
	"internal/contest/lab":                     {},                                                                                                                                                                                                                          // systemd machines in namespaces, for tests and practice
	"internal/contest/ladder":                  {"words", "internal/change"},                                                                                                                                                                                                // rows of a write-up as remedies
	"internal/proof/selftest":                  {"words", "internal/load", "internal/proof/stats", "internal/change/history", "internal/change", "internal/proof/judge", "internal/cause/diagnose", "internal/proof/search", "internal/proof/trial", "internal/proof/tune"}, // simulated searches
	"internal/proof/search":                    {"words", "internal/proof/stats", "internal/proof/judge"},                                                                                                                                                                   // pure: what a search does next
	"internal/proof/trial":                     {"words", "internal/load", "internal/proof/stats", "internal/proof/judge"},                                                                                                                                                  // arms, pairs, designs
	"internal/day/choose":                      {"words", "internal/proof/stats"},                                                                                                                                                                                           // pure: which state to end a contest with
	"internal/day/dayreport":                   {"words", "internal/day/turn", "internal/show/plain", "internal/show/report"},                                                                                                                                               // pure: the day of a team, for the talk afterwards
	"internal/day/finalize":                    {"words", "internal/cause", "internal/cause/boot", "internal/change", "internal/change/history", "internal/machine/host", "internal/site/boot"},                                                                             // a site may be left
	"internal/day/past":                        {"words", "internal/change/history", "internal/day/choose", "internal/site/observe"},                                                                                                                                        // the runs of a history with their states
	"internal/proof/tune":                      {"words", "internal/load", "internal/proof/stats", "internal/change/history", "internal/change", "internal/proof/judge", "internal/proof/placement", "internal/proof/search", "internal/proof/trial", "internal/cause/diagnose"},
	"internal/day/deploy":                      {"words", "internal/machine/host", "internal/show/plain"},                                                                                                                                                                            // new versions of apps, and the former ones back
	"internal/day/notice":                      {"internal/show/plain", "internal/show/redact", "internal/site/target"},                                                                                                                                                              // what a team is told
	"internal/day/portalbench":                 {"words", "internal/change/history", "internal/load/bench", "internal/load/field", "internal/load/loader", "internal/load/scenario", "internal/machine/host", "internal/show/plain", "internal/show/redact", "internal/site/target"}, // runs that a person starts in a portal
	"internal/day/turn":                        {"internal/machine/host"},                                                                                                                                                                                                            // whose turn it is to measure and to change a site
	"arenas/all":                               {"arenas/*"},
	"internal/day/words":                       {"words"}, // pure: what a benchmarker prints
	"internal/lang/constants":                  {},        // pure: numbers of a source that limit something
	"packaging":                                {},        // make dist: a program that nothing imports
	"arenas/*":                                 {"words", "internal/load/scenario", "internal/contest/arena", "internal/contest/arena/kit/*"},
	"arenas/goldrush":                          {"words", "internal/load/scenario", "internal/contest/arena", "internal/contest/arena/kit/*", "arenas/goldrush/mine"},
	"arenas/goldrush/mine":                     {},    // the server of the contest, the fixed side
	"bench/*":                                  {"*"}, // comparisons with peers: programs that nothing imports
	"arenas/xsuportal":                         {"words", "internal/load/scenario", "internal/load/rpc", "internal/contest/arena", "internal/contest/arena/kit/*", "internal/load/webpush", "arenas/xsuportal/pb/*"},
	"arenas/xsuportal/pb/*":                    {"arenas/xsuportal/pb/*"}, // generated: messages of the portal
	"cmd/*":                                    {"*"},
	"internal/day/work/state":                  {"words"}, // what a run depends on, as data
	"internal/day/work/store":                  {"words", "internal/day/work/state"},
	"internal/day/work/snapshot":               {"words", "internal/day/work/state", "internal/day/work/store", "internal/change", "internal/lang/nginx", "internal/lang/sqltext", "internal/machine/fleet", "internal/machine/host", "internal/machine/hostproc", "internal/machine/hoststat", "internal/machine/sqlitefile"},
	"internal/day/work/difference":             {"words", "internal/day/work/state", "internal/lang/nginx", "internal/lang/sqlschema", "internal/lang/sqltext"},                                // pure: states by meaning
	"internal/day/work/ledger":                 {"words", "internal/day/work/state", "internal/day/work/store", "internal/day/work/difference", "internal/show/redact", "internal/show/plain"}, // one commit for each run
	"internal/day/work":                        {"words", "internal/change", "internal/change/ddl", "internal/change/history", "internal/day/work/state", "internal/day/work/store", "internal/day/work/snapshot", "internal/day/work/difference", "internal/day/work/comparison", "internal/machine/host", "internal/logs/accesslog", "internal/logs/lines", "internal/proof/judge", "internal/proof/stats", "internal/show/report"},
	"internal/day/work/comparison":             {"words", "internal/proof/stats"},                                                                                                                                                                                                      // pure: what single runs show
	"internal/site/goprofile":                  {"words", "internal/lang/goapp", "internal/site/fact"},                                                                                                                                                                                 // CPU profiles of Go apps
	"internal/portal":                          {},                                                                                                                                                                                                                                     // how the rooms of the portal call each other
	"internal/portal/contest":                  {},                                                                                                                                                                                                                                     // pure: the contest file and its clock
	"internal/portal/board":                    {"words", "internal/portal/contest"},                                                                                                                                                                                                   // pure: ranks, and who sees what
	"internal/portal/queue":                    {"internal/portal/contest"},                                                                                                                                                                                                            // pure: which job is next
	"internal/portal/judging":                  {"words", "internal/portal/board", "internal/portal/contest"},                                                                                                                                                                          // pure: the final judging
	"internal/portal/api":                      {"words", "internal/portal/board", "internal/portal/contest", "internal/portal/queue"},                                                                                                                                                 // what a portal answers
	"internal/portal/store":                    {},                                                                                                                                                                                                                                     // SQL on three engines
	"internal/portal/carry":                    {},                                                                                                                                                                                                                                     // streams and keys that may be lost
	"internal/portal/lead":                     {"words", "internal/portal/api", "internal/portal/board", "internal/portal/carry", "internal/portal/contest", "internal/portal/queue", "internal/portal/store", "internal/show/plain", "internal/portal/judging"},                      // jobs, leases, results
	"internal/portal/sim":                      {"words", "internal/portal/api", "internal/portal/board", "internal/portal/carry", "internal/portal/export", "internal/portal/lead", "internal/portal/store"},                                                                          // a contest on a clock that jumps
	"internal/portal/node":                     {"words", "internal/portal/api", "internal/portal/board", "internal/portal/carry", "internal/portal/contest", "internal/portal/judging", "internal/portal/lead", "internal/portal/queue"},                                              // one process of a portal
	"internal/portal/people":                   {"internal/portal/api", "internal/portal/contest", "internal/portal/lead", "internal/portal/store", "internal/show/plain"},                                                                                                             // who takes part
	"internal/portal/people/peopletest":        {"internal/load/webpush", "internal/portal/api", "internal/portal/api/apitest", "internal/portal/carry", "internal/portal/lead", "internal/portal/login", "internal/portal/notify", "internal/portal/people", "internal/portal/store"}, // those who take part, for tests of pages
	"internal/portal/login":                    {"internal/portal/api", "internal/portal/lead", "internal/portal/store", "internal/show/plain"},                                                                                                                                        // passwords and sign-ins
	"internal/portal/notify":                   {"internal/load/webpush", "internal/portal/api", "internal/portal/contest", "internal/portal/lead", "internal/portal/store", "internal/show/plain"},                                                                                    // push, mail, webhooks
	"internal/portal/export":                   {"words", "internal/portal/api", "internal/portal/board", "internal/portal/contest", "internal/portal/lead", "internal/portal/store", "internal/show/chart", "internal/show/plain"},                                                    // a contest as plain files
	"internal/load/webpush":                    {},                                                                                                                                                                                                                                     // the formats of Web Push
	"internal/portal/web":                      {"internal/portal/api", "internal/portal/board", "internal/portal/contest", "internal/show/chart"},                                                                                                                                     // pages
	"internal/portal/worker":                   {"words", "internal/load/loader", "internal/machine/process", "internal/portal/api", "internal/portal/contest", "internal/show/plain", "internal/show/progress", "internal/site/target", "internal/portal/sandbox"},                    // runs jobs
	"internal/portal/sandbox":                  {},                                                                                                                                                                                                                                     // a program that is not trusted
	"internal/portal/hosts":                    {"internal/portal/api"},                                                                                                                                                                                                                // the part of a portal on a team's machine
	"internal/portal/final":                    {"words", "internal/portal/api", "internal/portal/contest"},                                                                                                                                                                            // drives the final judging
	"internal/portal/api/apitest":              {"words", "internal/portal/api", "internal/portal/board", "internal/portal/contest", "internal/portal/queue"},                                                                                                                          // a portal in memory, for tests of pages
	"internal/policy":                          {},                                                                                                                                                                                                                                     // tests of the repository; nothing imports it
	"internal/policy/tier":                     {},                                                                                                                                                                                                                                     // in which tier of the check a test runs
}

// A pkg is a package of this module, by its import path, and what it imports.
type pkg struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

// listPackages reads the packages of this module. It reads their files itself: Go keeps the
// result of a test until a file changes that the test has read.
func listPackages(t *testing.T) (pkgs []pkg) {
	t.Helper()
	err := filepath.WalkDir(".", func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if dir != "." {
			_, module := os.Stat(filepath.Join(dir, "go.mod"))
			if module == nil || strings.ContainsAny(d.Name()[:1], "._") || d.Name() == "testdata" {
				return fs.SkipDir
			}
		}
		p, err := build.ImportDir(dir, 0)
		if none := (*build.NoGoError)(nil); errors.As(err, &none) {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading %s: %w", dir, err)
		}
		pkgs = append(pkgs, pkg{path.Join(module, filepath.ToSlash(dir)), p.Imports, p.TestImports, p.XTestImports})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return pkgs
}

// packageName is the name of a package in the table, or "" for a package of another module.
func packageName(path string) string {
	if path == module {
		return "words"
	}
	if rest, ok := strings.CutPrefix(path, module+"/"); ok {
		return rest
	}
	return ""
}

// rule finds the line of a package: its own, or the nearest parent that ends in "/*".
func rule(name string) (key string, ok bool) {
	if _, ok := layout[name]; ok {
		return name, true
	}
	for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
		if _, ok := layout[dir+"/*"]; ok {
			return dir + "/*", true
		}
	}
	return "", false
}

// covers reports whether an allowance covers a package.
func covers(allowed []string, to string) bool {
	return slices.ContainsFunc(allowed, func(a string) bool {
		if prefix, ok := strings.CutSuffix(a, "*"); ok {
			return strings.HasPrefix(to, prefix)
		}
		return a == to
	})
}

// breaches lists the imports that the table does not allow.
func breaches(from string, imports []string) []string {
	key, ok := rule(from)
	if !ok {
		return []string{fmt.Sprintf("%s has no line in the layout table", from)}
	}
	var bad []string
	for _, imp := range imports {
		to := packageName(imp)
		if to == "" || to == from || covers(layout[key], to) {
			continue
		}
		bad = append(bad, fmt.Sprintf("%s may not import %s", from, to))
	}
	return bad
}

// TestLayout compares the source with the import table. Tests may import more
// (a reader's test may boot a real server), but never cmd or the portal.
func TestLayout(t *testing.T) {
	pkgs := listPackages(t)
	if len(pkgs) < 2 {
		t.Fatalf("only %d packages listed: the test would prove nothing", len(pkgs))
	}
	for _, p := range pkgs {
		for _, b := range breaches(packageName(p.ImportPath), p.Imports) {
			t.Error(b)
		}
		for _, imp := range slices.Concat(p.TestImports, p.XTestImports) {
			to := packageName(imp)
			inPortal := strings.HasPrefix(packageName(p.ImportPath), "internal/portal/") || strings.HasPrefix(packageName(p.ImportPath), "cmd/")
			if strings.HasPrefix(to, "cmd/") || strings.HasPrefix(to, "internal/portal/") && !inPortal {
				t.Errorf("tests of %s may not import %s", packageName(p.ImportPath), to)
			}
		}
	}
}

// unused lists the lines of the table for packages that do not exist, and the
// allowances that no import uses.
func unused(table map[string][]string, pkgs []pkg) []string {
	used := map[string]map[string]bool{} // allowance by line
	for _, p := range pkgs {
		key, ok := rule(packageName(p.ImportPath))
		if !ok {
			continue
		}
		if used[key] == nil {
			used[key] = map[string]bool{}
		}
		for _, imp := range p.Imports {
			for _, a := range table[key] {
				if to := packageName(imp); to != "" && covers([]string{a}, to) {
					used[key][a] = true
				}
			}
		}
	}
	var out []string
	for key, allowed := range table {
		if used[key] == nil {
			out = append(out, fmt.Sprintf("the layout table has a line for %s: there is no such package", key))
			continue
		}
		for _, a := range allowed {
			if a != "*" && !used[key][a] {
				out = append(out, fmt.Sprintf("%s may import %s and does not: remove the allowance", key, a))
			}
		}
	}
	slices.Sort(out)
	return out
}

// TestLayoutUsed checks that the table has no unused lines or allowances.
func TestLayoutUsed(t *testing.T) {
	pkgs := listPackages(t)
	for _, u := range unused(layout, pkgs) {
		t.Error(u)
	}
	spoilt := map[string][]string{"internal/proof/judge": {"words", "internal/proof/stats", "internal/machine/host"}, "internal/nowhere": {}}
	if got := unused(spoilt, pkgs); len(got) != 2 {
		t.Errorf("an unused allowance and a package that does not exist were found as %q", got)
	}
}

// impure are packages of the standard library that read a clock, wait, or do I/O.
var impure = []string{"os", "os/exec", "net", "net/http", "database/sql", "syscall", "io/fs", "log", "log/slog", "context"}

// TestPure checks that pure packages import no impure package.
func TestPure(t *testing.T) {
	pure := []string{"words", "internal/lang/catalog", "internal/site/fact", "internal/proof/stats", "internal/proof/judge", "internal/proof/search", "internal/proof/placement", "internal/day/choose", "internal/day/work/comparison", "internal/day/work/difference", "internal/day/work/state", "internal/proof/attribute", "internal/cause", "internal/cause/all", "internal/cause/app", "internal/cause/boot", "internal/cause/cache",
		"internal/cause/database", "internal/cause/database/index", "internal/cause/machine", "internal/cause/measurement", "internal/cause/topology", "internal/cause/web"}
	for _, p := range listPackages(t) {
		if !slices.Contains(pure, packageName(p.ImportPath)) {
			continue
		}
		for _, imp := range p.Imports {
			if slices.Contains(impure, imp) {
				t.Errorf("%s imports %s: the package is pure", packageName(p.ImportPath), imp)
			}
		}
	}
}

// TestLayoutCatches checks that TestLayout can fail.
func TestLayoutCatches(t *testing.T) {
	for _, c := range []struct{ from, to string }{
		{"words", "internal/logs/tally"},
		{"internal/cause", "internal/machine/host"},
		{"internal/load/scenario", "internal/load/bench"},
		{"arenas/x", "internal/load/bench"},
		{"internal/change/ddl", "internal/proof/tune"},
		{"internal/nowhere", "words"},
	} {
		to := module + "/" + c.to
		if c.to == "words" {
			to = module
		}
		if len(breaches(c.from, []string{to})) == 0 {
			t.Errorf("%s → %s was not caught", c.from, c.to)
		}
	}
}

// TestRootHoldsTheWords limits the files of the root package: it has the words that all
// packages exchange. A type that a part of them needs belongs to a package below.
func TestRootHoldsTheWords(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	files = slices.DeleteFunc(files, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
	if len(files) == 0 || len(files) > 12 {
		t.Errorf("the root package has %d files, at most 12 are allowed: %q", len(files), files)
	}
}

// TestRootEntries limits the entries of the root folder: at most 20 folders and
// files, without hidden ones and Go files.
func TestRootEntries(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && !strings.HasSuffix(e.Name(), ".go") {
			n++
		}
	}
	if n > 20 {
		t.Errorf("%d entries beside the words in the root: find them a package", n)
	}
}
