package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/policy/tier"
)

// An example is a line of a help text with what its run must print.
type example struct {
	line string
	// want is in the output, or in the file that the line writes.
	want string
	file string
	// with are flags behind those of the line: a command takes the last value of a flag.
	// They shorten times and repetitions, and have no other effect.
	with string
	// slower replaces with, once, after an error that the time was too short. So a slow
	// machine passes, too.
	slower string
	// again: few requests of a busy machine may not show want, so the line is run until it is there,
	// busyTries times at most.
	again bool
	// Until want is printed, a command runs that only an interrupt ends.
	forever bool
	status  int
	in      string // standard input
	before  func(x *examples)
	// page: the line is of a document and of no help text.
	page bool
}

// Flags that shorten a search to the least time that it takes, and a ladder. What a
// verdict is depends on the machine: the rows expect what every end of a search prints.
const (
	shortTune   = "--time 30s --short 300ms --full 300ms --watch 2s --pairs 2"
	shortJudge  = "--time 28s --load 300ms"
	longTune    = "--time 4m --short 300ms --full 300ms --watch 2s --pairs 2"
	longJudge   = "--time 4m --load 300ms"
	shortLadder = "--time 40s --load 300ms --full 300ms --pairs 2"
)

// fileExamples read files, or nothing.
var fileExamples = []example{
	{line: `iikanji access /var/log/nginx/access.log`, want: "GET /a"},
	{line: `zcat old.gz | iikanji access - --since '2026-11-19 04:00' --limit 10`, want: "GET /a"},
	{line: `iikanji access --since 1h --percentiles 50,99,99.9 --top-requests 10 access.log`, want: "p99.9"},
	{line: `iikanji access --nginx-conf /etc/nginx/nginx.conf --sort p99 access.log`, want: "GET /a"},
	{line: `iikanji access --where 'status>=500' --by minute access.log*`, want: "minute"},
	{line: `iikanji access --routes openapi.yaml access.log`, want: "GET /a"},
	{line: `iikanji access --route '/api/isu/:id/icon' -m '^/assets/' access.log`, want: "GET /a"},
	{line: `iikanji access --save before.json access.log`, want: `"GET /a"`, file: "before.json"},
	{line: `iikanji access diff before.json access.log`, want: "GET /a"},
	{line: `iikanji access --save a.json host-a.log`, want: `"GET /a"`, file: "a.json"},
	{line: `iikanji access --save b.json host-b.log`, want: `"GET /a"`, file: "b.json"},
	{line: `iikanji merge a.json b.json`, want: "GET /a"},
	{line: `iikanji merge --save all.json a.json b.json c.json`, want: `"GET /a"`, file: "all.json"},
	{line: `iikanji slow /var/log/mysql/slow.log`, want: "select"},
	{line: `iikanji slow --since 10:00 --where 'db = isu and time > 1ms' slow.log.gz`, want: "select"},
	{line: `iikanji slow --by table --percentiles 50,99,99.9 slow.log`, want: "p99.9"},
	{line: `iikanji slow --format pt slow.log`, want: "Query 1"},
	{line: `iikanji slow diff before.log after.log`, want: "select"},
	{line: `iikanji diff access.log.1 access.log`, want: "GET /a"},
	{line: `iikanji diff before.json after.json --format markdown`, want: "| GET /a"},
	{line: `iikanji diff slow-before.log slow-after.log --limit 10`, want: "select"},
	{line: `iikanji lint ./...`, want: "APP201", status: exitChecks},
	{line: `iikanji lint --diff`, want: "LIMIT 1", status: exitChecks},
	{line: `iikanji lint --fix --allow row-order ./internal/...`, want: "LIMIT 1", file: "internal/store/store.go"},
	{line: `iikanji sqlcache --sql schema.sql`, want: "answers that are kept"},
	{line: `iikanji sqlcache --sql schema.sql --write sqlcache`, want: "answers that are kept"},
	{line: `iikanji sqlcache --driver sqlite3 --sql schema.sql --write sqlcache`, want: `"sqlite3+cache"`, before: func(x *examples) { x.shell("rm -r sqlcache") }},
	{line: `iikanji arena`, want: "isucondition"},
	{line: `iikanji arena list --format markdown`, want: "| isucondition |"},
	{line: `iikanji arena machine isucondition isucondition.tar.gz`, want: "on the machine, as root"},
	{line: `iikanji arena files isucondition ./isucondition`, want: "package main", file: "isucondition/webapp/go/main.go"},
	{line: `iikanji completion bash > ~/.local/share/bash-completion/completions/iikanji`, want: "complete -", file: ".local/share/bash-completion/completions/iikanji"},
	{line: `iikanji completion zsh > ~/.zfunc/_iikanji`, want: "#compdef iikanji", file: ".zfunc/_iikanji"},
	{line: `iikanji completion fish > ~/.config/fish/completions/iikanji.fish`, want: "complete -c iikanji", file: ".config/fish/completions/iikanji.fish"},
	{line: `iikanji help`, want: "Topics"},
	{line: `iikanji help history diff`, want: "Usage: iikanji history diff"},
	{line: `iikanji help DB101`, want: "# DB101"},
	{line: `iikanji help method`, want: "# "},
	{line: `iikanji help --man > iikanji.1`, want: "iikanji history diff", file: "iikanji.1"},
	{line: `iikanji version`, want: "iikanji"},
	{line: `iikanji version --json`, want: `"version"`},
	// One search of each kind and few trials decide nothing: the table is what is tested.
	{line: `iikanji selftest`, want: "How often a change is kept", with: "--trials 100 --searches 1"},
	{line: `iikanji selftest --worlds`, want: "interactions (15 min"},
	{line: `iikanji selftest --world interactions --world minutes --searches 200`, want: "interactions: D +25 %", with: "--searches 1"},
	{line: `iikanji selftest --world ladder --budget '15 min' --seed 2 --json`, want: `"budget": "15 min"`, with: "--searches 1"},
	{line: `iikanji selftest --full`, want: "goal", status: exitFailed, with: "--scale 0.001 --trials 100 --searches 1"},
}

// siteExamples run on a small site that this program did not start. Later ones use what
// earlier ones left, as in a day's work: run 7 is an observed one, change 3 the first
// after it.
var siteExamples = []example{
	{line: `iikanji init`, want: "describes the site"},
	{line: `iikanji init http://127.0.0.1:8080 --bench './bench --target $IIKANJI_URL'`, want: "describes the site", before: (*examples).forgetFile},
	{line: `iikanji init ssh://isucon@web ssh://app2 ssh://db --bench './bench -target $IIKANJI_URL'`, want: "connecting to web", before: (*examples).forgetFile, status: exitFailed}, // TestInitMachines asks machines of its own
	{line: `iikanji init --policy contest --bench ./bench`, want: "describes the site", before: (*examples).forgetFile},
	{line: `iikanji init --into /srv/shop && iikanji doctor /srv/shop`, want: "none failed"},
	{line: `iikanji doctor`, want: "none failed", before: (*examples).giveBench},
	{line: `iikanji doctor /srv/shop --restart --bench`, want: "none failed"},
	{line: `iikanji bench isucondition`, want: "PASSED"},
	{line: `iikanji bench isucondition --load 20s --json`, want: `"outcome": "passed"`, with: "--load 1s"},
	{line: `iikanji bench isucondition --repeat 5 --load 20s`, want: "spread", with: "--repeat 2 --load 1s"},
	{line: `iikanji diagnose isucondition`, want: "DB101", with: "--load 2s", before: func(x *examples) { x.fillRuns(6) }},
	{line: `iikanji diagnose isucondition --run 7 --explain DB101`, want: "DB101"},
	{line: `iikanji history replay isucondition 7 --dry-run`, want: "nothing to change"},
	{line: `iikanji choose isucondition`, want: "← end here"},
	{line: `iikanji choose isucondition --final best --floor 0.8`, want: "keep 80 %"},
	{line: `iikanji choose isucondition --json`, want: `"worth"`},
	{line: `iikanji finalize --check`, want: "nothing was changed"},
	{line: `iikanji finalize`, want: "NOT READY: no time for what a boot", with: "--within 1s", status: exitChecks},
	{line: `iikanji finalize --reboot`, want: "NOT READY: no time for what a boot", with: "--within 1s", status: exitChecks},           // TestFinalize reboots a machine of its own
	{line: `iikanji finalize --reboot --gaps 0s`, want: "NOT READY: no time for what a boot", with: "--within 1s", status: exitChecks}, // TestFinalizeHosts reboots three
	{line: `iikanji finalize --open`, want: "changes are allowed"},
	{line: `iikanji rehearse`, want: "way back: iikanji finalize mends what it can", with: "--no-last-run", status: exitChecks}, // its sockets and data are in a folder that a boot empties
	{line: `iikanji rehearse --reboot`, want: "NOT READY: reboot: not every service is a unit", status: exitChecks},
	{line: `iikanji rehearse --gaps 0s,30s`, want: "way back: iikanji finalize mends what it can", with: "--no-last-run", status: exitChecks},
	{line: `iikanji history isucondition`, want: "the observation is over"},
	{line: `iikanji plan isucondition`, want: "can be planned; nothing was changed"},
	{line: `iikanji plan isucondition DB101 WEB102`, want: "DB101"},
	{line: `iikanji plan isucondition --run 7 --kind nginxconf`, want: "WEB102"},
	{line: `iikanji plan isucondition --file remedies.json --json`, want: `"kind": "mysqlconf"`},
	{line: `iikanji apply isucondition WEB102.1 --run 7`, want: "change 3 is applied"},
	{line: `iikanji apply isucondition DB101 --dry-run`, want: "nothing was changed"},
	{line: `iikanji apply isucondition DB101`, want: "change 4 is applied"},
	{line: `iikanji apply isucondition --file remedy.json`, want: "change 5 is applied"},
	{line: `iikanji apply . topology move service=mariadb to=db`, want: "mariadb has no systemd unit", status: exitFailed}, // TestStrangersDay moves one
	{line: `iikanji plan . topology move service=mariadb to=db`, want: "mariadb has no systemd unit"},
	{line: `iikanji plan . mysqlconf target=database max_connections=300`, want: "max_connections"},
	{line: `iikanji history isucondition 3`, want: "for finding WEB102"},
	{line: `iikanji revert isucondition 3`, want: "change 3 is undone"},
	{line: `iikanji revert isucondition --all`, want: "change 4 is undone"},
	{line: `iikanji recover isucondition`, want: "nothing was half done"},
	{line: `iikanji recover isucondition --damaged undo`, want: "nothing was half done"},
	{line: `iikanji history replay isucondition 7`, want: "nothing to change"},
	{line: `iikanji history show isucondition 7`, want: "run 7"},
	{line: `iikanji history show isucondition 7 --json`, want: `"id": 7`},
	{line: `iikanji history diff isucondition 7 3`, want: "run 7: "},
	{line: `iikanji history diff isucondition 7 3 --json`, want: `"routes"`},
	{line: `iikanji history note isucondition 7 "cache warmed by hand"`, want: "noted: "},
	{line: `iikanji history note isucondition 0 "team day 2"`, want: "noted: "},
	{line: `iikanji history isucondition --runs --format markdown`, want: "| 7 |"},
	{line: `iikanji history commit isucondition --history ./history`, want: "committed", before: (*examples).copyHistory},
	{line: `iikanji history commit isucondition -m "day 2"`, want: "committed", before: (*examples).historyInGit},
	{line: `iikanji deploy`, want: "it serves"},
	{line: `iikanji deploy --from git`, want: "git pull --ff-only failed", status: exitFailed},
	{line: `iikanji deploy --back`, want: "the former version serves"},
	{line: `iikanji deploy --logs off`, want: "write no access log", before: (*examples).allowLogsOff},
	{line: `iikanji deploy --logs on`, want: "is undone"},
	{line: `iikanji deploy --etc`, want: "nothing to change"},
	{line: `iikanji work watch`, want: "watching ", forever: true},
	{line: `iikanji hosts`, want: "this machine"},
	{line: `iikanji hosts show`, want: "this machine"},
	{line: `iikanji hosts --json`, want: `"name": "this machine"`},
	{line: `iikanji hosts measure`, want: "one core"},
	{line: `iikanji hosts measure --folder /var/lib --json`, want: `"spin"`},
	{line: `iikanji hosts accept db`, want: `there is no other machine "db"`, status: exitUsage}, // TestHosts has machines of its own
	{line: `iikanji hosts clean`, want: "nothing to clean"},
	{line: `iikanji notify test`, want: "told (json)", before: (*examples).team},
	{line: `iikanji notify test --json`, want: `"form": "json"`, before: (*examples).team},
	{line: `iikanji score 44034`, want: "no run waits for its score", status: exitFailed},
	{line: `iikanji score 45,034 --run 15`, want: "run 15: passed 45,034", before: (*examples).portalRun},
	{line: `iikanji score --fail "critical error: GET /api/trend timed out" --run 15`, want: "run 15: failed"},
	{line: `iikanji score --paste --run 15 < messages.txt`, want: "run 15: passed 44,034", before: (*examples).messages},
	{line: `iikanji score --fail "GET /api/trend timed out" --run 15`, want: "run 15: failed", page: true},
	{line: `iikanji turn`, want: "turn: free"},
	{line: `iikanji turn --json`, want: "{}"},
	{line: `iikanji turn take "index test" --for 15m`, want: "the turn is yours"},
	{line: `iikanji turn take --from aoi`, want: "the turn is yours"},
	{line: `iikanji turn give`, want: "given back after"},
	{line: `iikanji ui isucondition`, want: "http://127.0.0.1:", forever: true, with: "--listen 127.0.0.1:0"},
	{line: `iikanji ui isucondition --listen 127.0.0.1:9000 --otlp :4318`, want: "/v1/traces", forever: true},
	{line: `iikanji ui isucondition --check`, want: "history: "},
	{line: `iikanji mcp isucondition`, want: `"serverInfo"`, in: hello},
	{line: `claude mcp add iikanji -- iikanji mcp isucondition`, want: `"serverInfo"`, in: hello},
	{line: `iikanji diagnose isucondition --format markdown > findings.md`, want: "DB101", file: "findings.md", with: "--load 2s", again: true},
	{line: `iikanji top`, want: "cpu", forever: true},
	{line: `iikanji top -s app=1234 -s db=987`, want: "app", forever: true},
	{line: `iikanji diagnose /srv/shop --watch 10m`, want: "watched for ", with: "--watch 5s", before: (*examples).traffic},
	{line: `iikanji diagnose /srv/shop --watch 1h --sensors`, want: "DB101", with: "--watch 5s", before: (*examples).traffic, again: true},
	{line: `iikanji collect --for 10m --into before`, want: `"cpu": {`, file: "before/window.json", with: "--for 5s", before: (*examples).traffic},
	{line: `iikanji collect /srv/shop --for 1h --sensors --into monday`, want: `"cpu": {`, file: "monday/window.json", with: "--for 5s", before: (*examples).traffic},
	{line: `iikanji diagnose --from before`, want: "run "},
	{line: `iikanji diff before after`, want: "harbour", before: func(x *examples) { x.shell("cp -r before after") }},
	{line: `iikanji bench . -m "keep-alive and the right index"`, want: "committed", with: "--load 1s"},
	{line: `iikanji work keep`, want: "is the kept state"},
	{line: `iikanji work`, want: "Nothing changed since."},
	{line: `iikanji work --since 3`, want: "since run 3"},
	{line: `iikanji work --json`, want: `"base_runs": `},
	{line: `iikanji work note "query cache off, by aoi"`, want: "noted at run "},
	{line: `iikanji work note "the portal was slow" --run 2`, want: "noted at run 2"},
	{line: `iikanji work keep 2 -m "all checks green"`, want: "run 2 is the kept state"},
	{line: `iikanji work allow /home/isucon/webapp/go/main.go`, want: "is in the ledger"},
	{line: `iikanji work back 2 --dry-run`, want: "nothing was changed", before: (*examples).editByHand},
	{line: `iikanji work back 2`, want: "the state of run 2 is back"},
	{line: `iikanji work back kept`, want: "nothing to change"},
	{line: `iikanji work prove`, want: "1 pair", with: "--load 1s --pairs 1", before: (*examples).editByHand},
	{line: `iikanji work prove 2 --each --pairs 4`, want: "1 pair", with: "--load 1s --pairs 1"},
	{line: `iikanji work prove --day --pairs 2 --time 2h`, want: "1 pair", with: "--load 1s --pairs 1", before: (*examples).editAndRun},
	{line: `iikanji bench . -m "index on booking"`, want: "committed", with: "--load 1s", page: true},
	{line: `iikanji work note "the portal was slow"`, want: "noted at run ", page: true},
	{line: `iikanji work back 12`, want: "run 12", status: exitFailed, page: true}, // it has no state here
	{line: `iikanji deploy app --from git`, want: "git pull --ff-only failed", status: exitFailed, page: true},
	{line: `iikanji deploy app --from ./go`, want: "it serves", before: (*examples).sourceElsewhere, page: true},
	{line: `iikanji deploy app --back`, want: "the former version serves", page: true},
	{line: `iikanji deploy app --failed /tmp/failed`, want: "no failed version", status: exitFailed, page: true},
	{line: `iikanji deploy --etc --ledger ./ledger`, want: "nothing to change", before: (*examples).cloneLedger, page: true},
	{line: `iikanji diagnose`, want: "of load: ", with: "--load 1s", page: true},
	{line: `iikanji init http://127.0.0.1:8080 --bench './bench --target $IIKANJI_URL' --policy contest`, want: "describes the site", before: (*examples).forgetFile, page: true},
}

// searchExamples run on another such site, which has been observed.
var searchExamples = []example{
	{line: `iikanji judge isucondition DB101`, want: "on ferry.booking\n  ", with: shortJudge, slower: longJudge},
	{line: `iikanji judge isucondition WEB102.1 --time 5m`, want: "to the app open\n  ", with: shortJudge, slower: longJudge},
	{line: `iikanji judge isucondition --file remedy.json --json`, want: `"verdict"`, with: shortJudge, slower: longJudge},
	{line: `iikanji tune isucondition`, want: "; noise of a pair", with: shortTune, slower: longTune},
	{line: `iikanji tune isucondition --time 1h --until x10`, want: "; noise of a pair", with: shortTune, slower: longTune},
	{line: `iikanji tune isucondition --hosts 3 --time 25m`, want: "the command is for arenas", status: exitUsage}, // here a site stands for the arena
	{line: `iikanji tune isucondition --proposer ./propose.py`, want: "; noise of a pair", with: shortTune, slower: longTune},
	{line: `iikanji history isucondition --search`, want: "; noise of a pair"},
	{line: `iikanji report isucondition`, want: "<svg", file: "report.html"},
	{line: `iikanji report isucondition --out report.md`, want: "## ", file: "report.md"},
	{line: `iikanji report isucondition --out - --format json`, want: `"outcome": "passed"`},
	{line: `iikanji report isucondition --out tables/`, want: "run\t", file: "tables/runs.tsv"},
	{line: `iikanji report isucondition --day --out day.md`, want: "## Runs", file: "day.md"},
}

// arenaExamples run on a small arena.
var arenaExamples = []example{
	{line: `iikanji up isucondition`, want: "http://127.0.0.1:", forever: true},
	{line: `iikanji up isucondition --dir ./isu --port 8080`, want: "http://127.0.0.1:", forever: true},
	{line: `iikanji up isucondition --tls`, want: "those that do are: isucondition", status: exitUsage}, // by the small arena; TestArenaTLS runs the large one
	{line: `iikanji up isucondition --json </dev/null`, want: `"url"`, forever: true},
	{line: `iikanji up isucondition --hosts 3 --key ~/.ssh/id_ed25519.pub`, want: "reading the keys", status: exitFailed},           // TestUpHosts starts two
	{line: `iikanji up isucondition --hosts 3 --runs 40`, want: "reading the keys", with: "--key none", status: exitFailed},         // TestStrangersDay makes runs
	{line: `iikanji up isucondition --hosts 3 --trap boot-order`, want: "reading the keys", with: "--key none", status: exitFailed}, // TestTraps starts one
	{line: `iikanji top isucondition -n 60 --format tsv > host.tsv`, want: "\tdatabase\t", file: "host.tsv", with: "-n 2 --every 100ms", before: (*examples).upShop},
	{line: `iikanji export isucondition ./tuned`, want: "1 change and", before: (*examples).changeShop},
	{line: `cd tuned && NGINX_CONF=/etc/nginx/nginx.conf NGINX_CHECK='nginx -t' sh apply.sh`, want: "Nothing was changed"},
	{line: `iikanji bench isucondition --url http://127.0.0.1:8080`, want: "PASSED", with: "--load 1s", before: (*examples).revertShop},
	{line: `iikanji bench isucondition --hosts 3`, want: "--hosts 9: want 1 to 8", with: "--hosts 9", status: exitUsage}, // TestUpMoveUnderLoad loads machines of its own
	{line: `iikanji bench isucondition --price --pairs 4 --load 20s`, want: "access log", with: "--pairs 2 --load 1s --sensors access,slow"},
	{line: `iikanji diagnose isucondition --score`, want: "of 0 known causes", with: "--load 1s"},
	{line: `iikanji ladder isucondition --list`, want: "more connections"},
	{line: `iikanji ladder isucondition`, want: "Ladder of shop: row", with: shortLadder},
	{line: `iikanji ladder isucondition --from 1 --to 2 --time 5m`, want: "Ladder of shop: row", with: shortLadder},
	{line: `iikanji ladder isucondition --alone`, want: "Ladder of shop: row", with: shortLadder},
	{line: `iikanji ladder isucondition --from 2 --to 2 --repeat 5 --load 60s --time 1h`, want: "spread", with: "--repeat 1 --load 300ms"},
	{line: `iikanji ladder isucondition --hosts 3`, want: "--hosts 9: want 1 to 8", with: "--hosts 9", status: exitUsage}, // TestHostsLadders climbs them
	{line: `iikanji ladder isucondition --time 1h --load 20s --full 60s`, want: "Ladder of shop: row", with: shortLadder},
	{line: `iikanji bench isucondition --dir /srv/isu`, want: "PASSED", with: "--load 1s", page: true},
	{line: `iikanji up isucondition --dir /srv/isu --fresh`, want: "http://127.0.0.1:", forever: true, page: true},
	{line: `iikanji ui isucondition --dir /srv/isu`, want: "http://127.0.0.1:", forever: true, with: "--listen 127.0.0.1:0", page: true},
	{line: `iikanji history isucondition --dir /srv/isu --runs`, want: "passed", page: true},
	{line: `iikanji report isucondition --dir /srv/isu --out runs.md`, want: "## ", file: "runs.md", page: true},
	{line: `iikanji report isucondition --dir /srv/isu --day`, want: "## Runs", file: "day.md", page: true},
	{line: `iikanji diagnose isucondition --dir /srv/isu --score`, want: "of 0 known causes", with: "--load 1s", page: true},
	{line: `iikanji selftest --arena isucondition --aa 10`, want: "1 trial of a change that does nothing", with: "--aa 1 --load 1s", slower: "--aa 1 --load 5s", before: (*examples).revertShop},
}

// hello is the first message of an MCP client.
const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n"

// exampleGroups are the rows by what isucondition stands for in them, the longest first.
func exampleGroups() []exampleGroup {
	return []exampleGroup{
		{"searches", searchExamples, func(t *testing.T, x *examples) {
			startSite(t, x)
			x.giveBench()
			x.shell("iikanji diagnose " + x.target + " --load 2s")
		}},
		{"arena", arenaExamples, func(_ *testing.T, x *examples) { x.target = "shop" }},
		{"site", siteExamples, startSite},
		{"portal", portalExamples, portalFiles},
		{"files", fileExamples, func(*testing.T, *examples) {}},
	}
}

// An exampleGroup are rows that run one after the other.
type exampleGroup struct {
	name   string
	rows   []example
	target func(t *testing.T, x *examples) // what isucondition stands for
}

// TestExamplesAsWritten runs every example of every command with a shell, as it is
// written, and checks its exit status and a part of its output. Only addresses, process
// ids and places of another machine are replaced, isucondition is a small site or arena,
// and flags of the row shorten it. An example without a row fails.
func TestExamplesAsWritten(t *testing.T) {
	tier.Slow(t)
	groups := exampleGroups()
	var all []example
	for _, g := range groups {
		all = append(all, g.rows...)
	}
	everyExample(t, all)
	for _, g := range groups {
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			x := newExamples(t)
			g.target(t, x)
			for i := range g.rows {
				t.Run(g.rows[i].line, func(t *testing.T) { x.run(t, &g.rows[i]) })
			}
		})
	}
}

// everyExample checks that the rows are the examples of all help texts.
func everyExample(t *testing.T, rows []example) {
	t.Helper()
	e := &env{Stdin: strings.NewReader(""), Stdout: &strings.Builder{}, Stderr: &strings.Builder{}, Cols: 80}
	run := map[string]bool{}
	for _, n := range commandsOf(newParser(t.Context(), e).Model.Node) {
		for _, line := range examplesOf(n) {
			run[line] = slices.Contains(arenaCommandNames(), n.Name)
		}
	}
	for _, x := range rows {
		if x.page {
			continue // see TestDocumentsRun
		}
		if _, there := run[x.line]; !there {
			t.Errorf("no help has the example %s", x.line)
		}
		run[x.line] = true
	}
	for line, is := range run {
		if !is {
			t.Errorf("the example is not run: %s", line)
		}
	}
}
