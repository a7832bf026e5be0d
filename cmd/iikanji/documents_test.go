package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/policy/tier"
)

// documents are the pages whose command lines are tested.
var documents = []string{"README.md", "README.ja.md", "docs/contest-day.md", "docs/contest-day.ja.md", "docs/trainers.md", "docs/machines.md", "docs/machines.ja.md", "docs/finalize.md", "docs/team.md",
	"docs/deploy.md", "docs/portal-mode.md", "docs/work.md"}

func pageText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var (
	spanOfCode = regexp.MustCompile("`(iikanji [^`\n]+)`")
	// anyName is a word that stands for others.
	anyName = regexp.MustCompile(`\b[A-Z]{3,}\b|…`)
)

// comment is what stands behind a command line for people.
var comment = regexp.MustCompile(`\s+#.*`)

// shellLines are the command lines in the blocks of a page for a shell, without comments.
func shellLines(page string) (lines []string) {
	inside := false
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") {
			inside = line == "```sh"
		} else if inside && strings.HasPrefix(line, "iikanji ") {
			lines = append(lines, comment.ReplaceAllString(line, ""))
		}
	}
	return lines
}

// blockLines are the command lines in the blocks of a page that have no language.
func blockLines(page string) (lines []string) {
	inside, plain := false, false
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") {
			inside = !inside
			plain = inside && line == "```"
		} else if plain && strings.HasPrefix(line, "iikanji ") {
			lines = append(lines, line)
		}
	}
	return lines
}

// spanLines are the command lines in the sentences and tables of a page.
func spanLines(page string) (lines []string) {
	for _, m := range spanOfCode.FindAllStringSubmatch(page, -1) {
		if !anyName.MatchString(m[1]) {
			lines = append(lines, m[1])
		}
	}
	return lines
}

// TestDocumentsParse: a shell and the parser accept every command line of the pages.
func TestDocumentsParse(t *testing.T) {
	tier.Slow(t)
	e := &env{Stdin: strings.NewReader(""), Stdout: &strings.Builder{}, Stderr: &strings.Builder{}, Cols: 80}
	dir := t.TempDir()
	needed := []string{"history", "arena", "work", "turn"} // groups: the word alone lists or shows
	for _, name := range documents {
		page := pageText(t, name)
		lines := slices.Concat(blockLines(page), shellLines(page), spanLines(page))
		if len(lines) < 5 {
			t.Errorf("%s has %d command lines: the test would prove nothing", name, len(lines))
		}
		for _, line := range lines {
			for _, args := range callsOf(t, dir, line) {
				known := slices.Contains(commandNames(t.Context(), e), args[0])
				switch {
				case len(args) == 1 && known && !slices.Contains(needed, args[0]): // the name of a command, in a table
				case len(args) == 1 && known:
				default:
					tryParse(t, e, name+": "+line, args)
				}
			}
		}
	}
}

// indentedLines are the command lines of a page that are indented as a block.
func indentedLines(page string) (lines []string) {
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "    iikanji ") {
			lines = append(lines, comment.ReplaceAllString(strings.TrimSpace(line), ""))
		}
	}
	return lines
}

// alike are lines of pages that differ from a row of TestExamplesAsWritten in times and places only.
var alike = map[string]string{
	"iikanji bench isucondition --load 10s":    "iikanji bench isucondition --load 20s --json",
	"iikanji diagnose isucondition --load 10s": "iikanji diagnose isucondition",
	"iikanji tune":                                       "iikanji tune isucondition",
	"iikanji tune isucondition --time 15m":               "iikanji tune isucondition --time 1h --until x10",
	"iikanji up isucondition --dir /srv/isu --port 8080": "iikanji up isucondition --dir ./isu --port 8080",
	"iikanji top isucondition --dir /srv/isu":            "iikanji top isucondition -n 60 --format tsv > host.tsv",
}

// onMachines are lines of pages that a test runs on machines of its own, with remedies in files in
// place of words.
var onMachines = map[string]string{
	"iikanji apply . TOP101": "TestUpMoveUnderLoad",
	"iikanji bench .":        "TestUpMoveUnderLoad",
	"iikanji revert . --all": "TestUpMoveUnderLoad",
	"iikanji plan . topology spread service=isu-go over=web,app2": "TestUpSpreadUnderLoad",
	"iikanji apply . 1": "TestUpSpreadUnderLoad",
	"iikanji apply . 2": "TestUpSpreadUnderLoad",
	"iikanji plan . topology weights service=isu-go weights=web=1,app2=2": "TestSpread",
	"iikanji plan . topology gather service=isu-go":                       "TestSpread",
	"iikanji plan . topology gather service=isu-go to=app2":               "TestSpread",
	"iikanji plan . topology move service=redis to=db":                    "TestMoveCache",
	"iikanji plan . topology move service=memcached to=db method=empty":   "TestMoveCache",
}

// TestDocumentsRun: each command line in a block of the pages is run by a test: as a row of
// TestExamplesAsWritten, as a line of TestContestDaySheet, or on machines of its own.
func TestDocumentsRun(t *testing.T) {
	run := map[string]bool{}
	for _, g := range exampleGroups() {
		for i := range g.rows {
			run[g.rows[i].line] = true
		}
	}
	tests := ""
	for _, folder := range []string{"cmd/iikanji", "internal/change/topology"} {
		files, err := filepath.Glob(filepath.Join("..", "..", folder, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			tests += pageText(t, filepath.Join(folder, filepath.Base(name)))
		}
	}
	used := map[string]bool{}
	sheet := blockLines(pageText(t, "docs/contest-day.md"))
	for _, name := range documents {
		page := pageText(t, name)
		for _, line := range slices.Concat(blockLines(page), shellLines(page), indentedLines(page)) {
			other, like := alike[line]
			test, far := onMachines[line]
			used[line] = true
			switch {
			case run[line], slices.Contains(sheet, line), like && run[other]:
			case far && strings.Contains(tests, "\nfunc "+test+"("):
			default:
				t.Errorf("%s: no test runs %s", name, line)
			}
		}
	}
	for _, lines := range []map[string]string{alike, onMachines} {
		for line := range lines {
			if !used[line] {
				t.Errorf("no page has %s", line)
			}
		}
	}
	for _, g := range exampleGroups() {
		for i := range g.rows {
			if x := &g.rows[i]; x.page && !used[x.line] {
				t.Errorf("no page has %s", x.line)
			}
		}
	}
}

// TestTwins: the sheet of the contest's day has the same commands in both languages, and the
// README the same first ones.
func TestTwins(t *testing.T) {
	for english, japanese := range map[string]string{"docs/contest-day.md": "docs/contest-day.ja.md", "README.md": "README.ja.md"} {
		a, b := blockLines(pageText(t, english)), blockLines(pageText(t, japanese))
		if len(a) == 0 || !slices.Equal(a, b) {
			t.Errorf("%s has\n%s\n%s has\n%s", english, strings.Join(a, "\n"), japanese, strings.Join(b, "\n"))
		}
	}
}

// TestContestDaySheet runs the command lines of the sheet in their order, as they are written,
// in the folder of a small site. Its benchmarker is a command: a score is known at once, and
// iikanji score has nothing to give (TestExamplesAsWritten has the portal).
func TestContestDaySheet(t *testing.T) {
	tier.Slow(t)
	x := newExamples(t)
	startSite(t, x)
	short := "--load 2s"
	rows := map[string]example{
		"iikanji init --policy contest":    {want: "describes the site", with: "--force " + x.site.URL},
		"iikanji doctor":                   {want: "none failed", before: (*examples).giveBench},
		"iikanji notify test":              {want: "told (json)", before: (*examples).team},
		"iikanji work keep":                {want: "is the kept state"},
		"iikanji diagnose .":               {want: "of load: ", with: short},
		"iikanji deploy":                   {want: "it serves"},
		"iikanji plan . DB101":             {want: "DB101"},
		"iikanji apply . DB101":            {want: "is applied"},
		"iikanji work":                     {want: "kept"},
		"iikanji turn give":                {want: "given back after"},
		"iikanji choose":                   {want: "worth"},
		"iikanji work back kept --dry-run": {want: "nothing"},
		"iikanji finalize --check":         {want: "nothing was changed"},
	}
	ran := 0
	for _, line := range blockLines(pageText(t, "docs/contest-day.md")) {
		row := rows[line]
		switch {
		case strings.HasPrefix(line, "iikanji bench"):
			row = example{want: "PASSED"}
		case strings.HasPrefix(line, "iikanji score"):
			row = example{want: "no run waits for its score", status: exitFailed}
		case strings.HasPrefix(line, "iikanji turn take"):
			row = example{want: "the turn is yours"}
		}
		row.line = "cd /srv/shop && " + line
		if t.Run(line, func(t *testing.T) { x.run(t, &row) }) {
			ran++
		}
	}
	if ran < 15 {
		t.Errorf("%d lines ran", ran)
	}
}
