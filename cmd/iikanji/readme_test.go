package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadmeTune: README.md quotes the captured output that its pictures are made of.
func TestReadmeTune(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	captured, err := os.ReadFile(filepath.Join("..", "..", "docs", "pictures", "tune.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), "```\n"+string(captured)+"```\n") {
		t.Error("README.md does not quote docs/pictures/tune.txt")
	}
	if !strings.Contains(string(captured), " × the untouched score (") {
		t.Error("docs/pictures/tune.txt has no result")
	}
	for _, name := range []string{"terminal.png", "report.png"} {
		data, err := os.ReadFile(filepath.Join("..", "..", "docs", "pictures", name))
		if err != nil || !strings.HasPrefix(string(data), "\x89PNG") || !strings.Contains(string(readme), "docs/pictures/"+name) {
			t.Errorf("%s: %v, or README.md does not show it", name, err)
		}
	}
}
