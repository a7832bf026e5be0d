package policy_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// prefixOfCode is a decision by the beginning of a finding's code.
var prefixOfCode = regexp.MustCompile(`HasPrefix\(string\(.*[cC]ode`)

// TestNoPrefixOfCode checks that what a finding is about is never read from its code: the
// declaration of its rule says it.
func TestNoPrefixOfCode(t *testing.T) {
	if !prefixOfCode.MatchString(`strings.HasPrefix(string(f.Code), "DB")`) {
		t.Error("the pattern matches nothing")
	}
	for _, file := range repository(t) {
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if prefixOfCode.MatchString(line) {
				t.Errorf("%s:%d: %s", file, i+1, strings.TrimSpace(line))
			}
		}
	}
}
