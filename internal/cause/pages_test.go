package cause_test

import (
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const pages = "../../docs/findings/"

// TestPages checks that every code in the source has a page with its five
// parts, that every page is linked from the index, and that no code is listed
// twice.
func TestPages(t *testing.T) {
	index, err := os.ReadFile(pages + "README.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := regexp.MustCompile(`(?m)^\| (?:\[([A-Z]+\d+)\]\(([A-Z]+\d+)\.md\)|([A-Z]+\d+) ·) \|`).FindAllStringSubmatch(string(index), -1)
	var all, linked []string
	for _, m := range listed {
		if m[1] != m[2] {
			t.Errorf("%s links to %s", m[1], m[2])
		}
		if slices.Contains(all, m[1]+m[3]) {
			t.Errorf("%s is listed twice", m[1]+m[3])
		}
		all = append(all, m[1]+m[3])
		if m[1] != "" {
			linked = append(linked, m[1])
		}
	}
	var coded []string
	for _, f := range ruleSources(t) {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`"((?:DB|KV|WEB|APP|OS|BEN)\d{3})"`).FindAllStringSubmatch(string(text), -1) {
			coded = append(coded, m[1])
		}
	}
	slices.Sort(coded)
	coded = slices.Compact(coded)
	slices.Sort(linked)
	if !slices.Equal(coded, linked) {
		t.Errorf("codes in rules  %v\npages in index %v", coded, linked)
	}
	for _, code := range linked {
		page, err := os.ReadFile(pages + code + ".md")
		if err != nil {
			t.Error(err)
		}
		for _, part := range []string{"# " + code + " ", "## What it is", "## How it was seen", "## Example", "## What to do", "## What can go wrong"} {
			if !strings.Contains(string(page), part) {
				t.Errorf("%s.md has no %q", code, part)
			}
		}
	}
}

// ruleSources are the files with rules: those of this package, and the levers.
func ruleSources(t *testing.T) []string {
	t.Helper()
	rules, err := filepath.Glob("*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	levers, err := filepath.Glob("../rewrite/*.go")
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
