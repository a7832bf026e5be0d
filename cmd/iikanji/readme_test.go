package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadmeTune: docs/measured.md quotes the captured output of the search whose report the
// picture of both READMEs shows. It is their only picture.
func TestReadmeTune(t *testing.T) {
	measured, err := os.ReadFile(filepath.Join("..", "..", "docs", "measured.md"))
	if err != nil {
		t.Fatal(err)
	}
	captured, err := os.ReadFile(filepath.Join("..", "..", "docs", "pictures", "tune.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(measured), "```\n"+string(captured)+"```\n") {
		t.Error("docs/measured.md does not quote docs/pictures/tune.txt")
	}
	if !strings.Contains(string(captured), " × the untouched score (") {
		t.Error("docs/pictures/tune.txt has no result")
	}
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "pictures", "report.png"))
	if err != nil || !strings.HasPrefix(string(data), "\x89PNG") {
		t.Errorf("report.png: %v, or it is no picture", err)
	}
	for _, name := range []string{"README.md", "README.ja.md"} {
		readme, err := os.ReadFile(filepath.Join("..", "..", name))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Count(string(readme), "![") != 1 || !strings.Contains(string(readme), "docs/pictures/report.png") {
			t.Errorf("%s does not show the one picture", name)
		}
	}
}
