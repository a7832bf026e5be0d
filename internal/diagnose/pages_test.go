package diagnose_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const pages = "../../docs/findings/"

// TestPages holds that every code in the source has a page with its four
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
	sources, _ := filepath.Glob("*.go")
	for _, f := range sources {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`"((?:DB|WEB|APP|OS|BEN)\d{3})"`).FindAllStringSubmatch(string(text), -1) {
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
		for _, part := range []string{"# " + code + " ", "## What it is", "## How it was seen", "## What to do", "## What can go wrong"} {
			if !strings.Contains(string(page), part) {
				t.Errorf("%s.md has no %q", code, part)
			}
		}
	}
}
