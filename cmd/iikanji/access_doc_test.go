package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/iikanji/iikanji/internal/show/report"
)

// TestAccessDoc: docs/access.md begins with the table of the script, and it has
// every column and flag.
func TestAccessDoc(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "access.md"))
	if err != nil {
		t.Fatal(err)
	}
	doc := string(b)
	a, err := txtar.ParseFile(filepath.Join("testdata", "access_table.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range a.Files {
		if f.Name == "table.txt" && !strings.Contains(doc, "```\n"+string(f.Data)+"```\n") {
			t.Errorf("docs/access.md does not show what the program prints:\n%s", f.Data)
		}
	}
	for _, name := range report.AccessView("route").Names() {
		if strings.HasSuffix(name, "xx") {
			name = "1xx … 5xx"
		}
		if !strings.Contains(doc, name) {
			t.Errorf("docs/access.md does not have the column %s", name)
		}
	}
	for _, flag := range []string{"log-format", "nginx-conf", "field", "route", "query", "max-bad", "partial", "by", "where", "since", "until", "sort", "columns", "save", "from-offset", "pos", "routes", "decode-uri", "percentiles", "top-requests", "noheaders"} {
		if !strings.Contains(doc, "--"+flag) {
			t.Errorf("docs/access.md does not have --%s", flag)
		}
	}
}
