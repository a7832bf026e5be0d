package main

import (
	"os"
	"strings"
	"testing"
)

// ptCommands are lines of pt-query-digest 3.2 and 2.1 that together have every flag of
// both; the values are as those of alpCommands.
var ptCommands = map[string]string{
	"pt-query-digest LOG": "Rank Query ID",
	"pt-query-digest --limit 95%:20 --order-by Query_time:max --group-by fingerprint LOG": "--sort max",
	"pt-query-digest --since 1h --until 261122 LOG":                                       "Rank Query ID",
	"pt-query-digest --since 3600 LOG":                                                    "Rank Query ID",
	"pt-query-digest --since 2026-11-20 --type slowlog LOG":                               "Rank Query ID",
	"pt-query-digest --output json --progress time,30 --report-format profile LOG":        "--format json",
	"pt-query-digest --output json-anon LOG":                                              "--format json",
	"pt-query-digest --output slowlog LOG":                                                "error: --format takes",
	"pt-query-digest --type tcpdump LOG":                                                  "error: slow detects the format",
	"pt-query-digest --filter $event->{db}eq\"isu\" LOG":                                  "--where 'db = isu'",
	"pt-query-digest --filter print(Dumper($event)) LOG":                                  "error: --where selects entries",
	"pt-query-digest --order-by InnoDB_IO_r_wait:sum LOG":                                 "error: --sort takes",
	"pt-query-digest --group-by distill LOG":                                              "error: --by takes",
	"pt-query-digest -h 10.0.0.1 -P 3306 -u root -p x -S /s -D isu -A utf8 -F my.cnf LOG": "-h is not needed",
	"pt-query-digest -h10.0.0.1 -P3306 -uroot -psecret LOG h=db,u=root":                   "the server h=… is not needed",
	"pt-query-digest --host a --port 1 --user b --password c --ask-pass --socket d --database e --charset f --defaults-file g --set-vars h=i --slave-user j --slave-password k --replica-user l --replica-password m --aux-dsn n=o LOG":                    "--set-vars is not needed",
	"pt-query-digest --create-review-table --nocreate-review-table --no-create-history-table --create-history-table --watch-server a:1 --tcpdump-errors f --variations arg LOG":                                                                            "--nocreate-review-table is not needed",
	"pt-query-digest --attribute-aliases db|Schema --attribute-value-limit 0 --check-attributes-limit 1 --embedded-attributes a,b --ignore-attributes arg --inherit-attributes db --no-inherit-attributes --nozero-admin --zero-admin --zero-bool LOG":     "--nozero-admin is not needed",
	"pt-query-digest --expected-range 5,10 --max-hostname-length 10 --max-line-length 74 --shorten 1024 --report-histogram Query_time --novertical-format --vertical-format --apdex-threshold 1 --explain-hosts --pipeline-profile --print-iterations LOG": "--novertical-format is not needed",
	"pt-query-digest --statistics --continue-on-error --nocontinue-on-error --version-check --noversion-check --no-version-check --preserve-embedded-numbers LOG":                                                                                          "--preserve-embedded-numbers is not needed",
	"pt-query-digest --daemonize --pid p --interval .1 --log l --read-timeout 0 --resume r --run-time-mode clock --config c --table-access --fingerprints --report --report-all LOG":                                                                       "--resume is not needed",
	"pt-query-digest --no-report --output slowlog LOG": "error: --save FILE keeps the profile",
	"pt-query-digest --noreport LOG":                   "error: --save FILE keeps the profile",
	"pt-query-digest --review h=a LOG":                 "error: iikanji diff compares",
	"pt-query-digest --review-history h=a LOG":         "error: iikanji diff compares",
	"pt-query-digest --history h=a,D=b LOG":            "error: iikanji diff compares",
	"pt-query-digest --report-history h=a LOG":         "error: iikanji diff compares",
	"pt-query-digest --save-results f LOG":             "error: iikanji diff compares",
	"pt-query-digest --explain h=a LOG":                "error: EXPLAIN statement",
	"pt-query-digest --processlist h=a":                "error: --dsn reads",
	"pt-query-digest --outliers Query_time:1:10 LOG":   "error: --limit 95%:20",
	"pt-query-digest --run-time 1h LOG":                "error: --since and --until",
	"pt-query-digest --iterations 2 LOG":               "error: --since and --until",
	"pt-query-digest --sample 2 LOG":                   "error: typical and its worst",
	"pt-query-digest --print LOG":                      "error: typical and its worst",
	"pt-query-digest --select Query_time LOG":          "error: --columns selects",
	"pt-query-digest --show-all user LOG":              "error: all databases, hosts and users",
	"pt-query-digest --timeline LOG":                   "error: --by minute",
	"pt-query-digest --execute h=a LOG":                "error: slow runs no statements",
	"pt-query-digest --execute-throttle 1,2 LOG":       "error: slow runs no statements",
	"pt-query-digest --mirror 1 LOG":                   "error: slow runs no statements",
	"pt-query-digest --polarity LOG":                   "error: every attribute",
	"pt-query-digest --version":                        "error: iikanji version",
	"pt-query-digest --help":                           "Reads slow logs and general logs",
	"-h":                                               "Reads slow logs and general logs",
}

// TestPTCommands: every line works, or its error names what to do instead.
func TestPTCommands(t *testing.T) {
	t.Chdir(t.TempDir())
	log := "# Time: 2026-11-21T10:00:00.000000Z\n# User@Host: isu[isu] @ localhost []\n# Thread_id: 1  Schema: isu  QC_hit: No\n# Query_time: 0.010000  Lock_time: 0.000000  Rows_sent: 1  Rows_examined: 10\n# Rows_affected: 0  Bytes_sent: 10\nSET timestamp=1795255200;\nSELECT 1 FROM t WHERE id = 1;\n"
	if err := os.WriteFile("LOG", []byte(log), 0o644); err != nil {
		t.Fatal(err)
	}
	for line, want := range ptCommands {
		checkPasted(t, "slow", line, want)
	}
}

// TestPTFlagsAnswered: every flag of the table is in a line of TestPTCommands, and so is
// every flag of pt-query-digest that slow translates.
func TestPTFlagsAnswered(t *testing.T) {
	used := map[string]bool{}
	for line := range ptCommands {
		for _, arg := range strings.Fields(line) {
			name, _, _ := strings.Cut(arg, "=")
			used[name] = true
		}
	}
	for flag := range ptAnswers {
		if !used[flag] {
			t.Errorf("no line has %s", flag)
		}
	}
	for _, flag := range strings.Fields("--limit --order-by --group-by --since --until --output --type --filter --progress --report-format --help") {
		if !used[flag] {
			t.Errorf("no line has %s", flag)
		}
	}
}
