package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause/diagnose"
	"github.com/iikanji/iikanji/internal/load/bench"
	"github.com/iikanji/iikanji/internal/machine/hoststat"
	"github.com/iikanji/iikanji/internal/proof/search"
	"github.com/iikanji/iikanji/internal/proof/tune"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/site/observe"
)

var updateStyle = flag.Bool("update-style", false, "write the golden files of TestStyle anew")

// styleLogs are logs with Japanese text and with an escape sequence.
var styleLogs = map[string]string{
	"access.log": strings.Repeat(`127.0.0.1 - - [22/Nov/2026:10:00:00 +0000] "GET /商品/一覧 HTTP/1.1" 200 1234567 "-" "x" 1.010`+"\n", 1200) +
		`127.0.0.1 - - [22/Nov/2026:10:00:01 +0000] "GET /とても長い名前の道/とても長い名前の道/とても長い名前の道/とても長い名前の道/` + "\x1b[31m" + ` HTTP/1.1" 500 10 "-" "x" 0.020` + "\n",
	"slow.log": "# Time: 2026-11-22T10:00:00.000000Z\n# User@Host: isu[isu] @ localhost []\n# Query_time: 1.010000  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 1000000\nuse isu;\nSELECT `価格` FROM `商品` WHERE `名前` = '椅子\x1b[31m' AND id IN (1, 2, 3);\n",
}

// style are the six commands: what each prints on an env. The present folder gets logs.
func style(t *testing.T) map[string]func(e *env) error {
	for name, text := range styleLogs {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	command := func(args ...string) func(e *env) error {
		return func(e *env) error {
			if status := run(t.Context(), e, args); status != exitDone {
				return fmt.Errorf("status %d", status)
			}
			return nil
		}
	}
	return map[string]func(e *env) error{
		"access": command("access", "access.log"),
		"slow":   command("slow", "slow.log"),
		"diagnose": func(e *env) error {
			return (&diagnoseCmd{Format: report.Text}).print(e, &namedTarget{Name: "店"}, styleDiagnosis(), "history", "")
		},
		"bench": func(e *env) error { return (&benchRun{benchCmd: &benchCmd{}, e: e}).print(styleRun(), "") },
		"tune": func(e *env) error {
			return (&tuneCmd{}).print(e, &namedTarget{Name: "店"}, styleOutcome())
		},
		"top": func(e *env) error {
			table := &topTable{color: e.Color}
			quiet := busySample("データベース", "app")
			quiet.Steal, quiet.IOWait, quiet.Runnable, quiet.PressureIO = 0, 0, 1, 0
			for _, s := range []*hoststat.Sample{busySample("データベース", "app"), quiet} {
				if _, err := fmt.Fprint(e.Stdout, table.lines(s, e.Cols, 24)); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func styleRun() *iikanji.Run {
	return &iikanji.Run{ID: 7, Scenario: "店", Seed: 1, Outcome: iikanji.Passed, Raw: 12345, Score: 12345, Took: time.Minute,
		Points: []iikanji.PointStat{{Event: "注文が届いた", Count: 1234, Points: 12345}},
		Steps:  []iikanji.StepStat{{Step: "GET /商品/:id/\x1b[31m" + strings.Repeat("長い道/", 20), Count: 1234567, Errors: 12, P50: 1200 * time.Microsecond, P90: 40 * time.Millisecond, P99: 900 * time.Millisecond, Max: time.Minute}},
		Usage:  []iikanji.Usage{{Who: "データベース", User: 9 * time.Second, System: 2 * time.Second, Share: 0.44, PeakRS: 180 << 20}},
		Phases: []iikanji.PhaseStat{{Phase: "load", Took: time.Minute}}, Place: iikanji.Placement{Cores: 2, Generator: "0", Stack: "1"},
		Warnings: []string{"steal 3 % during the load: " + strings.Repeat("別の機械がこの機械のCPUを使った。", 4)}}
}

func styleDiagnosis() *diagnose.Diagnosis {
	return &diagnose.Diagnosis{Run: styleRun(), Statements: 4.9, CPU: 20, Binding: "CPU of データベース", Sensors: []observe.Sensor{{Name: "slow log", Error: "読めない\x1b[31m " + strings.Repeat("読めない", 30)}},
		Findings: []iikanji.Finding{
			{Code: "DB101", Nature: iikanji.Nature{Of: iikanji.OfStatements}, Where: "店.商品 (名前, 価格)\x1b[31m " + strings.Repeat("長い名前", 20), Gain: iikanji.Range{Lo: 0.95, Hi: 1.91}, Claim: "x", Remedies: []iikanji.Remedy{{Kind: "ddl", Target: "db", Says: "add index " + strings.Repeat("(名前)", 30)}}},
			{Code: "WEB102", Where: "nginx", Gain: iikanji.Range{Lo: 0.1, Hi: 0.1}, Claim: "y", Remedies: []iikanji.Remedy{{Kind: "nginxconf", Target: "nginx", Says: "keep connections open"}}}}}
}

func styleOutcome() *tune.Outcome {
	effect := func(mid, lo, hi float64) iikanji.Interval {
		return iikanji.Interval{Mid: mid, Lo: lo, Hi: hi, Level: 0.9}
	}
	kept := iikanji.Verdict{Call: iikanji.Keep, Reason: iikanji.Proven, Effect: effect(0.4, 0.3, 0.5), Expect: effect(0.343, 0.323, 0.363)}
	return &tune.Outcome{Attempts: []search.Attempt{
		{Candidate: search.Candidate{Code: "DB101"}, Changes: []iikanji.ChangeID{2}, Says: "add index (`名前`) on `商品`\x1b[31m, " + strings.Repeat("とても長い説明", 10), Verdict: kept, Runs: 3},
		{Changes: []iikanji.ChangeID{3, 4}, Says: "2 changes", Verdict: kept, Runs: 12, Parts: []search.Part{
			{Change: 3, Says: "a pool of 19 connections", Cause: "DB210 app", Alone: &kept},
			{Change: 4, Says: strings.Repeat("接続を開いたままにする", 9), Cause: "WEB102 nginx"}}},
		{Candidate: search.Candidate{Code: "WEB110"}, Changes: []iikanji.ChangeID{5}, Says: "write the lines of access logs together", Verdict: iikanji.Verdict{Call: iikanji.Revert, Reason: iikanji.NoGain, Effect: effect(-0.007, -0.047, 0.032)}, Runs: 1234},
		{Candidate: search.Candidate{Code: "OS101"}, Says: "never tried", Skipped: "no place"}},
		Ratio: effect(5.6, 5.5, 5.8), Final: []iikanji.RunID{8, 9}, Scores: [2]float64{5790, 32692}, Full: 36 * time.Second, Noise: 0.021, Runs: 41, Took: 904 * time.Second,
		Work:  []iikanji.Work{{Name: "rows examined", Effect: effect(-6, -7, -5)}, {Name: "bytes answered", Effect: effect(0.8, 0.79, 0.82)}},
		Notes: []string{"the search ended: " + strings.Repeat("時間がない。", 12)}}
}

var sgr = regexp.MustCompile("\x1b\\[[0-9;]*m")

// TestStyle: the six commands that print tables have one style at 80 columns: no line
// is wider, no byte controls the terminal in a pipe, and colours only repeat the marks
// of the text. The golden files are to be looked at when they change.
func TestStyle(t *testing.T) {
	zone := time.Local
	time.Local = time.UTC
	t.Cleanup(func() { time.Local = zone })
	golden, err := filepath.Abs(filepath.Join("testdata", "style"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for name, print := range style(t) {
		show := func(color bool) string {
			t.Helper()
			var out, errs bytes.Buffer
			e := &env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Now: time.Now, Cols: 80, Color: color}
			if err := print(e); err != nil || out.Len() == 0 {
				t.Fatalf("%s: %v\n%s%s", name, err, out.String(), errs.String())
			}
			if strings.ContainsFunc(errs.String(), func(r rune) bool { return unicode.IsControl(r) && r != '\n' }) {
				t.Errorf("%s: control characters in %q", name, errs.String())
			}
			return out.String()
		}
		plain, coloured := show(false), show(true)
		for line := range strings.Lines(plain) {
			line = strings.TrimSuffix(line, "\n")
			if strings.ContainsFunc(line, unicode.IsControl) {
				t.Errorf("%s prints control characters: %q", name, line)
			}
			// Statements as they are, and notes that scripts look for.
			quoted := strings.HasPrefix(line, "   typical ") || strings.HasPrefix(line, "   worst ") || strings.HasPrefix(line, "note: ")
			if w := report.Width(line); w > 80 && !quoted {
				t.Errorf("%s prints %d columns: %s", name, w, line)
			}
		}
		if sgr.ReplaceAllString(coloured, "") != plain {
			t.Errorf("%s: without colours the text differs:\n%q\n%q", name, coloured, plain)
		}
		for _, m := range regexp.MustCompile("\x1b\\[1;31m(.)").FindAllStringSubmatch(coloured, -1) {
			if m[1] != "!" && m[1] != "-" { // of a number, of a diff
				t.Errorf("%s: a colour without a mark, before %q", name, m[1])
			}
		}
		if name == "top" && (!strings.Contains(coloured, "\x1b[1;31m!") || !strings.Contains(plain, " !")) {
			t.Errorf("no number is marked:\n%s", plain)
		}
		file := filepath.Join(golden, name+".txt")
		if *updateStyle {
			if err := os.WriteFile(file, []byte(plain), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(file); err != nil || string(want) != plain {
			t.Errorf("%s differs from %s (-update-style writes it): %v\n%s", name, file, err, plain)
		}
	}
}

// TestStyleProgress: the progress of bench and tune are lines that are redrawn on a
// terminal, and plain lines in a pipe.
func TestStyleProgress(t *testing.T) {
	for _, tty := range []bool{false, true} {
		var out bytes.Buffer
		now := time.Unix(1_800_000_000, 0)
		e := &env{Stderr: &out, Now: func() time.Time { return now }, Cols: 80, TTY: tty}
		r := &benchRun{e: e, progress: report.NewProgress(e.Stderr, tty, e.width, e.Now)}
		v := &tuneView{live: report.NewProgress(e.Stderr, tty, e.width, e.Now), began: now, now: e.Now}
		for i := range 40 {
			now = now.Add(500 * time.Millisecond)
			r.show(bench.Progress{Phase: "load", Elapsed: time.Duration(i) * 500 * time.Millisecond, Left: time.Minute, Score: float64(i * i * 100), Requests: int64(i * 10)})
		}
		r.progress.Done()
		v.say("trying\x1b[31m " + "索引")
		v.show(tune.View{Phase: "trial", Doing: strings.Repeat("索引を試す ", 20), Pairs: 2})
		v.live.Done()
		text := out.String()
		if chart := regexp.MustCompile(`points/s [▁▂▃▄▅▆▇█]+  peak \d`).MatchString(text); chart != tty {
			t.Errorf("terminal %v, a chart: %v\n%q", tty, chart, text)
		}
		if !tty && (strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' }) || strings.Count(text, "\n") > 5) {
			t.Errorf("in a pipe: %q", text)
		}
		for line := range strings.Lines(regexp.MustCompile("\x1b\\[(\\d*A|J)|\r").ReplaceAllString(text, "")) {
			if w := report.Width(strings.TrimSuffix(line, "\n")); w > 80 || strings.ContainsRune(line, '\x1b') {
				t.Errorf("terminal %v: %d columns: %q", tty, w, line)
			}
		}
	}
}

// TestNoColor checks that a real terminal gets colours, and that NO_COLOR and a pipe
// turn them off.
func TestNoColor(t *testing.T) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	reader, pipe, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	defer pipe.Close()
	was := os.Stdout
	defer func() { os.Stdout = was }()
	for _, c := range []struct {
		to      *os.File
		noColor string
		want    bool
	}{{terminal, "", true}, {terminal, "1", false}, {pipe, "", false}} {
		t.Setenv("NO_COLOR", c.noColor)
		os.Stdout = c.to
		got := systemEnv().Color
		os.Stdout = was
		if got != c.want {
			t.Errorf("%s with NO_COLOR=%q: colours %v", c.to.Name(), c.noColor, got)
		}
	}
}
