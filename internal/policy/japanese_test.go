package policy_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A term is a line of docs/terms.md.
type term struct {
	japanese, not []string
}

var note = regexp.MustCompile(`\s*\([^)]*\)`)

// terms reads the table of docs/terms.md.
func terms(t *testing.T) (all []term) {
	t.Helper()
	page, err := os.ReadFile("docs/terms.md")
	if err != nil {
		t.Fatal(err)
	}
	split := func(cell string) (words []string) {
		for _, w := range regexp.MustCompile(`[、/,]`).Split(note.ReplaceAllString(cell, ""), -1) {
			if w = strings.TrimSpace(w); w != "" {
				words = append(words, w)
			}
		}
		return words
	}
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) == 3 && !strings.HasPrefix(cells[0], "--") && strings.TrimSpace(cells[0]) != "English" {
			all = append(all, term{split(cells[1]), split(cells[2])})
		}
	}
	if len(all) < 20 {
		t.Fatalf("docs/terms.md has %d terms", len(all))
	}
	return all
}

// wrongTerms are the words of a page for which the table has others.
func wrongTerms(page string, all []term) (bad []string) {
	for _, x := range all {
		rest := page
		for _, right := range x.japanese {
			rest = strings.ReplaceAll(rest, right, "")
		}
		for _, wrong := range x.not {
			if strings.Contains(rest, wrong) {
				bad = append(bad, wrong+" in place of "+strings.Join(x.japanese, " or "))
			}
		}
	}
	return bad
}

// japanesePages are the pages in Japanese.
func japanesePages(t *testing.T) (pages []string) {
	t.Helper()
	for _, pattern := range []string{"*.ja.md", "docs/*.ja.md", "arenas/*/*.ja.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	return pages
}

// TestTerms: the pages in Japanese have one word for one thing.
func TestTerms(t *testing.T) {
	all := terms(t)
	for _, name := range japanesePages(t) {
		page, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range wrongTerms(string(page), all) {
			t.Errorf("%s: %s", name, b)
		}
	}
	planted := []term{{[]string{"作業フォルダー"}, []string{"作業フォルダ"}}}
	if wrongTerms("作業フォルダーの中", planted) != nil || wrongTerms("作業フォルダの中", planted) == nil {
		t.Error("the comparison finds nothing, or too much")
	}
}

// TestJapanesePages: each arena for competitors has its rules in Japanese, each page in Japanese
// has its English twin, and both name each other.
func TestJapanesePages(t *testing.T) {
	arenas, err := filepath.Glob("arenas/*/arena.go")
	if err != nil || len(arenas) < 6 {
		t.Fatalf("%d arenas: %v", len(arenas), err)
	}
	for _, a := range arenas {
		if _, err := os.Stat(filepath.Join(filepath.Dir(a), "README.ja.md")); err != nil {
			t.Error(err)
		}
	}
	pages := japanesePages(t)
	if len(pages) < 8 {
		t.Errorf("only %d pages in Japanese: %q", len(pages), pages)
	}
	for _, name := range pages {
		english := strings.TrimSuffix(name, ".ja.md") + ".md"
		for at, to := range map[string]string{name: english, english: name} {
			text, err := os.ReadFile(at)
			if err != nil {
				t.Error(err)
				continue
			}
			if !strings.Contains(string(text), "]("+filepath.Base(to)+")") {
				t.Errorf("%s does not name %s", at, to)
			}
		}
	}
	readme, err := os.ReadFile("README.ja.md")
	if err != nil || strings.Count(string(readme), "\n") > 200 {
		t.Errorf("README.ja.md: %v, or more than 200 lines", err)
	}
}
