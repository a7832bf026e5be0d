package main

import (
	"os"
	"strings"
	"testing"
)

// alpCommands are lines of alp 1.0.21 and kataribe 0.4.1 that together have every
// subcommand and every flag of both; the values are what iikanji prints or answers.
// An answer that begins with "error: " is an error with the advice behind it.
var alpCommands = map[string]string{
	"alp ltsv --file LTSV --sort sum -r -o count,method,uri,min,max,sum,avg,p90,p95,p99,stddev,max_body,sum_body,avg_body,min_body": "--sort=sum LTSV",
	"alp ltsv --file LTSV --sort p75 --percentiles 50,75 --reverse --show-footers --limit 5 --page 2":                               "--sort=p75",
	"alp ltsv --file LTSV --sort=p80":                           "--percentiles=80 --sort=p80:asc",
	"alp ltsv --file LTSV --sort stddev --output all":           "--columns=all",
	"alp ltsv --file LTSV --sort method -rq --qs-ignore-values": "--query --sort=uri",
	"alp ltsv --file LTSV --sort min":                           "--sort=min:asc",
	"alp ltsv --file LTSV --sort max-body":                      "--sort=max-body:asc",
	"alp ltsv --file LTSV --sort avg-body --query-string":       "--query",
	"alp ltsv --file LTSV --sort sum-body":                      "--sort=sum-body",
	"alp ltsv --file LTSV --sort min-body":                      "error: mean-bytes and max-bytes",
	"alp ltsv --file LTSV --noheaders --format tsv -ocount,uri": "--columns=count,uri",
	"alp ltsv --file LTSV --format html":                        "error: iikanji report writes HTML",
	"alp ltsv --file LTSV --format markdown --decode-uri":       "--decode-uri",
	"alp ltsv --file LTSV --format csv --location Asia/Tokyo":   "--location is not needed",
	"alp ltsv --file LTSV --format json -m ^/api,^/b":           "-m '^/api,^/b'",
	"alp ltsv --file LTSV --matching-groups ^/api":              "--matching=^/api",
	"alp ltsv --file LTSV --filters Status==200":                "--where=status==200",
	"alp ltsv --file LTSV -fStatus==200":                        "--where=status==200",
	"alp ltsv --file LTSV -f Time>=TimeAgo(5m)":                 "error: --since 5m",
	"alp ltsv --file LTSV --pos POS --nosave-pos":               "--pos POS",
	"alp ltsv --file LTSV --dump DUMP":                          "--save=DUMP",
	"alp ltsv --load DUMP":                                      "error: iikanji merge",
	"alp ltsv --config alp.yml --file LTSV":                     "error: see iikanji access --help",
	"alp ltsv --file LTSV --uri-label uri --method-label method --time-label time --apptime-label apptime --reqtime-label reqtime --size-label size --status-label status":            "--field=uri=uri",
	"alp json --file JSON --uri-key u --method-key m --time-key at --restime-key t --reqtime-key up --body-bytes-key b --status-key s":                                                "--field=uri=u",
	"alp regexp --file LOG --pattern ^(.*)$ --uri-subexp uri --method-subexp method --time-subexp time --restime-subexp a --reqtime-subexp b --body-bytes-subexp c --status-subexp d": "--pattern is not needed",
	"alp ltsv topN 3 --file LTSV -r": "--top-requests=3",
	"alp json topN --sort restime --file JSON --uri-key u --restime-key t --method-key m --status-key s": "--top-requests=50",
	"alp ltsv topN 10 --sort bytes --file LTSV":                                                          "error: --by url --sort max-bytes --limit 10",
	"alp ltsv count --keys uri,status --file LTSV --reverse":                                             "--by=url,status",
	"alp ltsv count --keys apptime --file LTSV":                                                          "error: requests are counted by",
	"alp ltsv diff LTSV LTSV --sort sum -r --percentiles 50 -o count,sum --limit 5":                      "diff LTSV LTSV",
	"alp diff DUMP LTSV --format markdown":                                                               "diff DUMP LTSV",
	"alp diff DUMP":                                                                                      "error: compares two logs",
	"alp ltsv diff LTSV LTSV -f Status==200":                                                             "error: access diff has no --where",
	"alp pcap --file LTSV":                                                                               "error: reads packets",
	"alp --pcap-server-ip 10.0.0.1 --pcap-server-port 80":                                                "error: reads packets",
	"alp completion bash":                                                                                "error: iikanji completion",
	"alp --version":                                                                                      "error: iikanji version",
	"alp help":                                                                                           "Shows where a web site spends its time",
	"alp ltsv --help":                                                                                    "Shows where a web site spends its time",
	"kataribe -f kataribe.toml LOG":                                                                      "-f kataribe.toml is not needed",
	"kataribe -conf other LOG":                                                                           "-f other is not needed",
	"kataribe -generate":                                                                                 "error: needs none",
}

// TestAlpCommands: every line works, or its error names what to do instead.
func TestAlpCommands(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{
		"LTSV": "time:19/Nov/2026:04:04:05 +0000\tmethod:GET\turi:/api/isu/1?x=1\tstatus:200\tsize:10\treqtime:0.010\tapptime:0.009\n",
		"JSON": `{"u":"/a","m":"GET","s":200,"t":0.5,"up":0.4,"b":7,"at":"2026-11-19T04:04:05Z"}` + "\n",
		"LOG":  `10.0.0.1 - - [19/Nov/2026:04:04:05 +0000] "GET /b HTTP/1.1" 200 8 "-" "curl/8" 0.010` + "\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, errs, status := invoke(t, "access", "--save", "DUMP", "LTSV"); status != 0 {
		t.Fatal(errs)
	}
	for line, want := range alpCommands {
		checkPasted(t, "access", line, want)
	}
}

// checkPasted runs a pasted line: it succeeds and shows the wanted text, or it is a
// usage error with it.
func checkPasted(t *testing.T, command, line, want string) {
	t.Helper()
	checkPastedArgs(t, command, strings.Fields(line), want)
}

func checkPastedArgs(t *testing.T, command string, line []string, want string) {
	t.Helper()
	out, errs, status := invoke(t, append([]string{command}, line...)...)
	advice, isError := strings.CutPrefix(want, "error: ")
	switch {
	case isError && (status != exitUsage || !strings.Contains(errs, advice)):
		t.Errorf("%s: exit status %d\n%s\nwant the error to have %q", line, status, errs, advice)
	case !isError && (status != 0 || !strings.Contains(out+errs, want)):
		t.Errorf("%s: exit status %d\n%s%s\nwant %q", line, status, out, errs, want)
	case strings.Contains(errs, "unknown flag"):
		t.Errorf("%s: %s", line, errs)
	}
}

// FuzzPasted: any line is translated or refused without a panic, and a translated line
// has no flag of alp that iikanji does not have.
func FuzzPasted(f *testing.F) {
	for line := range alpCommands {
		f.Add(line)
	}
	for line := range ptCommands {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if translated, _, err := fromAlp(strings.Fields(line)); err == nil {
			for i, arg := range translated {
				if name, _, _ := strings.Cut(arg, "="); alpSwitches[name] != nil && (i == 0 || !ownValues[translated[i-1]]) {
					t.Errorf("%s: %q", line, translated)
				}
			}
		}
		if kept, remarks, err := fromPT(strings.Fields(line)); err == nil && len(kept)+len(remarks) > len(strings.Fields(line)) {
			t.Errorf("%s: %q and %q", line, kept, remarks)
		}
	})
}

// TestAlpFlagsAnswered: every flag of the table is in a line of TestAlpCommands, and so
// is every flag of alp that iikanji shares.
func TestAlpFlagsAnswered(t *testing.T) {
	used := map[string]bool{}
	for line := range alpCommands {
		for _, arg := range strings.Fields(line) {
			for _, part := range splitShort(arg) {
				name, _, _ := strings.Cut(part, "=")
				used[name] = true
			}
		}
	}
	for _, old := range []string{"-d", "-l", "-c", "--paging", "-v", "--conf", "--generate"} { // spellings of other versions
		used[old] = true
	}
	for flag := range alpValues {
		if !used[flag] {
			t.Errorf("no line has %s", flag)
		}
	}
	for flag := range alpSwitches {
		if !used[flag] {
			t.Errorf("no line has %s", flag)
		}
	}
	for _, flag := range strings.Fields("--format --noheaders --limit --decode-uri -m --pos --nosave-pos --percentiles") {
		if !used[flag] {
			t.Errorf("no line has %s", flag)
		}
	}
}
