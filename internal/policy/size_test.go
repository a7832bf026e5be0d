package policy_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestSizeOfTheCheck bounds the Makefile, the scripts and the first page: see docs/adr/0011.
func TestSizeOfTheCheck(t *testing.T) {
	for pattern, most := range map[string]int{"Makefile": 120, "scripts/*": 250, "README.md": 200} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no file (%v)", pattern, err)
		}
		lines := 0
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			lines += bytes.Count(text, []byte("\n"))
		}
		if lines > most {
			t.Errorf("%s has %d lines, %d are allowed", pattern, lines, most)
		}
	}
}
