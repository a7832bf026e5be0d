package main

import (
	"strings"
	"testing"
)

// TestInitRefuses: what cannot be the address of a site is a usage error, before the machine is
// asked.
func TestInitRefuses(t *testing.T) {
	for _, word := range []string{"ftp://127.0.0.1", "127.0.0.1:8080", "http://", "http://:80", "http://127.0.0.1:99999", "http://127.0.0.1:0", "javascript:1", "ssh://", "http://\x1b[31m", ""} {
		into := t.TempDir()
		_, said := shell(t, exitUsage, "init", word, "--into", into)
		if strings.Contains(said, "asking") || strings.Count(said, "\n") > 2 || strings.Contains(said, "\x1b") {
			t.Errorf("%q: %s", word, said)
		}
	}
	for _, word := range []string{"http://127.0.0.1:8080", "https://site.example", "http://[::1]:80", "http://site.example/path"} {
		if !isSiteURL(word) {
			t.Errorf("%q is not the address of a site", word)
		}
	}
}
