package main

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// pastedText are the files that lines of the tests name.
var pastedText = map[string]string{
	"LOG": `10.0.0.1 - - [19/Nov/2026:04:04:05 +0000] "GET /users/12 HTTP/1.1" 200 8 "-" "curl/8" 0.010
10.0.0.2 - - [19/Nov/2026:04:04:06 +0000] "GET /users/13,4?a=1 HTTP/1.1" 200 9 "-" "bot/1" 0.020
10.0.0.1 - - [19/Nov/2026:04:04:07 +0000] "POST /b HTTP/1.1" 404 7 "-" "curl/8" 0.030
`,
	"CUSTOM": `2026-11-19 04:04:05|10.0.0.1|GET|/users/12|200|8|12000
2026-11-19 04:04:06|10.0.0.2|GET|/users/13|200|8|18000
`,
	"kataribe.toml": `ranking_count = 7
slow_count = 2
percentiles = [50.0, 99.9]
scale = 0
log_format = '^x$'
request_index = 5
[[bundle]]
regexp = '^(GET|HEAD) /users/[0-9]+,[0-9]+\b'
name = "pairs"
[[bundle]]
regexp = '^GET /users/[0-9]{1,9} HTTP'
name = "GET /users/:id"
`,
	"old.toml":      "[bundle.a]\nregexp = 'POST /b\\b'\nname = 'x'\n",
	"broken.toml":   "[[bundle]\n",
	"goaccess.conf": "# a comment\nlog-format %x|%h|%m|%U|%s|%b|%D\ndate-format %Y-%m-%d\ntime-format %H:%M:%S\n",
	"PG": `2026-11-19 04:04:05.000 UTC [7] isu@isudb LOG:  duration: 12.500 ms  statement: SELECT * FROM a WHERE id = 1
2026-11-19 04:04:06.000 UTC [7] isu@isudb LOG:  duration: 2.500 ms  statement: SELECT * FROM b WHERE id = 1
`,
}

func writePasted(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range pastedText {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOtherAccessCommands: lines of GoAccess 1.9 and configurations of kataribe work, or
// are answered with what to do instead.
func TestOtherAccessCommands(t *testing.T) {
	writePasted(t)
	for line, want := range map[string]string{
		"goaccess LOG --log-format=COMBINED -o report.html":                                                             "-o report.html is not written",
		"LOG --log-format=COMBINED":                                                                                     "GET /users/:id",
		"goaccess LOG -o report.json --log-format VCOMBINED":                                                            `"count"`,
		"goaccess -f LOG --log-format=COMBINED --real-time-html --port=7890 -a":                                         "--real-time-html is not needed",
		"goaccess LOG --log-format=COMBINED --ignore-status=404 -e 10.0.0.2":                                            "'--where=status!=404' '--where=ip!=10.0.0.2'",
		"goaccess LOG --ignore-crawlers --max-items 5 --db-path /x":                                                     "--limit=5",
		"goaccess LOG --exclude-ip=10.0.0.1-10.0.0.9":                                                                   "--exclude-ip 10.0.0.1-10.0.0.9 is left out",
		"goaccess LOG --ignore-status 400-499":                                                                          "'--where=status<400 or status>499'",
		"goaccess -p goaccess.conf CUSTOM":                                                                              "GET /users/:id",
		"goaccess --config-file=missing LOG":                                                                            "--config-file missing is not needed",
		`goaccess CUSTOM --log-format=%x|%h|%m|%U|%s|%b|%D --date-format=%Y-%m-%d --time-format=%H:%M:%S`:               "15.0ms",
		`goaccess LOG --log-format=%h·%^·%e·[%d:%t·%^]·"%r"·%s·%b·"%R"·"%u"·%T --date-format=%d/%b/%Y --time-format=%T`: "30.0ms",
		"goaccess --help":    "Shows where a web site spends its time",
		"goaccess --version": "error: iikanji version",
		"goaccess LOG --log-format=COMBINED --no-such-flag": "--no-such-flag is not needed",
		"kataribe -f kataribe.toml LOG":                     "users/[0-9]+[,][0-9]+",
		"kataribe -conf kataribe.toml LOG":                  `GET ^/users/[0-9]{1,9}$`,
		"kataribe -f old.toml LOG":                          `POST ^/b\b`,
		"kataribe -f broken.toml LOG":                       "error: broken.toml",
	} {
		args := strings.Fields(line)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "·", " ")
		}
		checkPastedArgs(t, "access", args, want)
	}
}

// TestPgbadgerCommands: lines of pgBadger 13 work, or are answered with what to do
// instead.
func TestPgbadgerCommands(t *testing.T) {
	writePasted(t)
	for line, want := range map[string]string{
		"pgbadger -f stderr -p %t·[%p]:· PG -o out.html":          "out.html is not written",
		"--prefix %t·[%p]:· PG":                                   "--prefix is not needed",
		"pgbadger --prefix=%m PG -x json":                         `"format"`,
		"pgbadger PG -o out.json":                                 "--format=json",
		"pgbadger -j2 PG -q -t 1":                                 "--workers=2 PG --limit=1",
		"pgbadger -d isudb -u isu PG":                             "'--where=db = isudb and user = isu'",
		"pgbadger -b 2026-11-19·04:04:06 -e 2026-11-19·04:05 PG":  "--since=2026-11-19 04:04:06",
		"pgbadger --begin 04:04 --title Report --disable-type PG": "--title is not needed",
		"pgbadger -I -O /var/www PG":                              "error: iikanji merge joins them",
		"pgbadger --exclude-query COPY PG":                        "error: --where selects entries",
		"pgbadger -S PG":                                          "error: --where selects entries",
		"pgbadger --journalctl journalctl PG":                     "error: slow reads files and pipes",
		"pgbadger --version":                                      "error: iikanji version",
		"pgbadger --help":                                         "Reads slow logs and general logs",
	} {
		args := strings.Fields(line)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "·", " ")
		}
		checkPastedArgs(t, "slow", args, want)
	}
}

func TestPathRegexp(t *testing.T) {
	for bundle, want := range map[string]string{
		`^(GET|HEAD) /memo/[0-9]+\b`: `^/memo/[0-9]+\b`,
		`GET /a/\d+ HTTP`:            `^/a/\d+$`,
		`^\S+ /a/\d+(\?| )`:          `^/a/\d+(\?| )`,
		`^GET /a$`:                   `^/a$`,
		`/stylesheets/`:              `/stylesheets/`,
		`^POST /a,b{1,2} HTTP/1.1$`:  `^/a[,]b{1,2}$`,
	} {
		if got, err := pathRegexp(bundle); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", bundle, got, err, want)
		}
	}
	if _, err := pathRegexp(`^GET /(`); err == nil {
		t.Error("no error for a broken expression")
	}
}

// FuzzOtherPasted: any line is translated or refused without a panic, and what is
// translated has no flag of the other program.
func FuzzOtherPasted(f *testing.F) {
	f.Add("goaccess LOG --log-format=%h·~h{,}·%^[%d:%t·%^] -e1.2.3.4")
	f.Add("pgbadger -f stderr -p %t PG -o out.html -t5")
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Fields(line)
		if got, _, err := fromAlp(append([]string{"goaccess"}, args...)); err == nil && slices.Contains(got, "--date-format") {
			t.Errorf("%q: %q", line, got)
		}
		if got, _, err := fromPgbadger(append([]string{"pgbadger"}, args...)); err == nil && slices.Contains(got, "--prefix") {
			t.Errorf("%q: %q", line, got)
		}
		_, _ = pathRegexp(line)
	})
}
