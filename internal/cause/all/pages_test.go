package all_test

import (
	"fmt"
	"go/scanner"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/cause/all"
	"github.com/iikanji/iikanji/internal/cause/diagnose"
)

const pages = "../../../docs/findings/"

// A group is a part of the index of the pages.
type group struct {
	title, text string
	has         func(code string) bool
}

func prefixed(prefix string) func(string) bool {
	return func(code string) bool { return strings.HasPrefix(code, prefix) }
}

// groups of the index, in its order.
var groups = []group{
	{"DB1xx queries and indexes", "", prefixed("DB1")},
	{"DB2xx database server", "", prefixed("DB2")},
	{"KV1xx caches", "", prefixed("KV")},
	{"WEB1xx proxy", "", prefixed("WEB")},
	{"APP1xx and APP22x application", "", func(code string) bool { return strings.HasPrefix(code, "APP") && !ofLever(code) }},
	{"APP2xx code of the application", "Found in Go source by `iikanji lint` ([page](../lint.md)).", ofLever},
	{"OS1xx host", "", prefixed("OS")},
	{"TOP1xx and NET1xx several machines", "", func(code string) bool { return strings.HasPrefix(code, "TOP") || strings.HasPrefix(code, "NET") }},
	{"UNIT1xx units of systemd", "", prefixed("UNIT")},
	{"BOOT1xx what a reboot would lose", "", prefixed("BOOT")},
	{"BEN1xx and CLK1xx measurement", "", func(code string) bool { return strings.HasPrefix(code, "BEN") || strings.HasPrefix(code, "CLK") }},
}

func ofLever(code string) bool {
	return slices.ContainsFunc(diagnose.Levers(), func(l cause.Lever) bool { return string(l.Code) == code }) ||
		slices.ContainsFunc(reserved, func(r []string) bool { return r[0] == code && strings.HasPrefix(code, "APP2") })
}

// reserved are codes without a rule: causes that a rule was planned for, and those whose
// rule was removed.
var reserved = [][]string{
	{"DB124", "waits for lock files", "threads wait for a lock of a whole file (flock) beside a SQLite database"},
	{"DB131", "syncs of SQLite files", "commits in SQLite files wait for the disk"},
	{"DB132", "trace of SQLite statements", "the app writes a line for each statement"},
	{"WEB113", "a fragment on every page", "writes change a small part of all kept pages"},
	{"APP105", "work repeated per request", "a value that never changed is computed each time"},
	{"APP216", "the answer of a built search is computed again", "it could be kept until its table is written"},
	{"APP218", "file opened for each request", "a SQLite file is opened and closed again and again"},
	{"APP219", "a commit per write", "a loop writes to a SQLite file without a transaction"},
	{"APP220", "lock file around a read", "a reader takes an exclusive lock file that SQLite's own lock makes unnecessary"},
	{"APP226", "rows that only one branch uses", "a query is sent also where a condition that is known before makes its rows useless"},
}

// causes are all declared causes by their codes.
func causes(t *testing.T) map[string]cause.Cause {
	t.Helper()
	out := map[string]cause.Cause{}
	add := func(c cause.Cause) {
		if _, twice := out[string(c.Code)]; twice || c.Title == "" || c.Line == "" || len(c.Remedies) == 0 {
			t.Errorf("%s is declared twice, or has no title, line or remedy: %+v", c.Code, c)
		}
		out[string(c.Code)] = c
	}
	for _, r := range all.Rules() {
		for _, c := range r.Causes {
			add(c)
		}
	}
	for _, l := range diagnose.Levers() {
		add(l.Cause)
	}
	for _, r := range reserved {
		if _, there := out[r[0]]; there {
			t.Errorf("%s is reserved, and has a rule", r[0])
		}
	}
	return out
}

// index is the generated part of the index.
func index(causes map[string]cause.Cause) string {
	rows := map[string]string{}
	for code, c := range causes {
		rows[code] = fmt.Sprintf("| [%s](%s.md) | %s | %s |\n", code, code, c.Title, c.Line)
	}
	for _, r := range reserved {
		rows[r[0]] = fmt.Sprintf("| %s · | %s | %s |\n", r[0], r[1], r[2])
	}
	var out strings.Builder
	for _, g := range groups {
		fmt.Fprintf(&out, "## %s\n\n", g.title)
		if g.text != "" {
			out.WriteString(g.text + "\n\n")
		}
		out.WriteString("| code | name | in one line |\n|---|---|---|\n")
		for _, code := range slices.Sorted(maps.Keys(rows)) {
			if g.has(code) {
				out.WriteString(rows[code])
			}
		}
		out.WriteString("\n")
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// head is the generated part of a cause's page: all above its first section.
func head(c cause.Cause) string {
	gain := "of CPU time"
	switch {
	case c.Doubt:
		gain = "none: a doubt about the measurement"
	case c.Of == iikanji.OfStatements:
		gain = "of statements"
	}
	relieves := "any limit"
	switch c.Relieves {
	case cause.AnyLimit:
	case cause.NoLimit:
		relieves = "no limit"
	default:
		relieves = c.Relieves.String()
	}
	var ways []string
	for _, w := range c.Remedies {
		switch {
		case w == cause.Person:
			ways = append(ways, "by a person")
		case w == cause.Patch:
			ways = append(ways, "a patch of the source")
		case w.Act == "":
			ways = append(ways, "`"+w.Kind+"`")
		default:
			ways = append(ways, "`"+w.Kind+" "+w.Act+"`")
		}
	}
	return fmt.Sprintf("# %s %s\n\nGain: %s. Relieves: %s. Remedies: %s.\n\n", c.Code, c.Title, gain, relieves, strings.Join(ways, ", "))
}

// TestPages checks that every cause has a page with its five parts, and that the index and
// the heads of the pages are those of the declarations. With UPDATE=1 in the environment
// it writes them.
func TestPages(t *testing.T) {
	known := causes(t)
	files, err := filepath.Glob(pages + "*[0-9].md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if code := strings.TrimSuffix(filepath.Base(f), ".md"); known[code].Code == "" {
			t.Errorf("%s.md is of no cause", code)
		}
	}
	for code, c := range known {
		page := replacePart(t, code+".md", "# ", "\n## What it is\n", head(c))
		for _, part := range []string{"## What it is", "## How it was seen", "## Example", "## What to do", "## What can go wrong"} {
			if !strings.Contains(page, "\n"+part+"\n") {
				t.Errorf("%s.md has no %q", code, part)
			}
		}
	}
	replacePart(t, "README.md", "## DB1xx", "", index(known))
}

// replacePart compares the part of a page between two texts with the declared one, or
// writes it. It returns the page.
func replacePart(t *testing.T, name, from, to, want string) string {
	t.Helper()
	b, err := os.ReadFile(pages + name)
	if err != nil {
		t.Error(err)
		return ""
	}
	page := string(b)
	start, end := strings.Index(page, from), len(page)
	if to != "" {
		end = strings.Index(page, to) + 1
	}
	if start < 0 || end < start {
		t.Errorf("%s has no part from %q to %q", name, from, to)
		return page
	}
	switch now := page[:start] + want + page[end:]; {
	case now == page:
	case os.Getenv("UPDATE") != "":
		if err := os.WriteFile(pages+name, []byte(now), 0o644); err != nil {
			t.Error(err)
		}
	default:
		t.Errorf("%s is out of date: go generate ./internal/cause", name)
	}
	return page
}

// ruleSources are the files with rules: those of this package, and the levers.
func ruleSources(t *testing.T) []string {
	t.Helper()
	rules, err := filepath.Glob("../*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	levers, err := filepath.Glob("../../rewrite/*.go")
	if err != nil || len(levers) == 0 {
		t.Fatalf("%d files of levers, %v", len(levers), err)
	}
	return slices.Concat(rules, levers)
}

// TestExamples checks that the claim and the remedy in the example of each page
// are sentences of the source: a literal of the source with values in place of
// its verbs.
func TestExamples(t *testing.T) {
	claims, remedies := sentencesOf(t, 20), sentencesOf(t, 11)
	files, err := filepath.Glob(pages + "*[0-9].md")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d pages, %v", len(files), err)
	}
	for _, file := range files {
		page, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code := strings.TrimSuffix(filepath.Base(file), ".md")
		_, example, _ := strings.Cut(string(page), "## Example\n\n")
		example, _, _ = strings.Cut(example, "\n\n")
		lines := strings.Split(example, "\n")
		if len(lines) < 2 || len(lines) > 3 || !strings.HasPrefix(lines[0], "    "+code+" ") {
			t.Errorf("%s: the example has no place, claim and remedy: %q", code, lines)
			continue
		}
		for i, line := range lines[1:] {
			sentences := claims
			if i == 1 {
				sentences = remedies
			}
			if !slices.ContainsFunc(sentences, func(s *regexp.Regexp) bool { return s.MatchString(line) }) {
				t.Errorf("%s: no rule writes %q", code, line)
			}
		}
	}
}

var verb = regexp.MustCompile(`%(%|[-+#.0-9]*[a-z])`)

// sentencesOf returns a pattern for each string literal of the rules that has at
// least so many bytes besides its verbs.
func sentencesOf(t *testing.T, least int) []*regexp.Regexp {
	t.Helper()
	var out []*regexp.Regexp
	for _, file := range ruleSources(t) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var s scanner.Scanner
		s.Init(token.NewFileSet().AddFile(file, -1, len(text)), text, nil, 0)
		for {
			_, kind, literal := s.Scan()
			if kind == token.EOF {
				break
			}
			if kind != token.STRING {
				continue
			}
			sentence, err := strconv.Unquote(literal)
			if err != nil || len(verb.ReplaceAllString(sentence, "")) < least {
				continue
			}
			pattern := ""
			for i, part := range verb.Split(sentence, -1) {
				if i > 0 {
					pattern += ".*"
				}
				pattern += regexp.QuoteMeta(part)
			}
			out = append(out, regexp.MustCompile(pattern))
		}
	}
	return out
}
