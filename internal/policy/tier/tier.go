// Package tier says in which of the three checks a test runs. A test without a word of
// it runs in all of them: in "make quick", "make check" and "make soak".
package tier

import (
	"os"
	"testing"
)

// soak is the environment variable with which "make soak" runs the tests.
const soak = "IIKANJI_SOAK"

// Slow skips a test in "make quick", which runs go test -short: it takes seconds, most often
// because it starts real servers, kills processes or builds programs.
func Slow(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("a slow test: make check runs it")
	}
}

// Long skips a test but in "make soak". The reason says why "make check" does without it and,
// if it failed by chance, when it comes back.
func Long(t testing.TB, reason string) {
	t.Helper()
	if !Soaking() {
		t.Skip("make soak runs it: " + reason)
	}
}

// Soaking reports whether this is "make soak", where a test may try all of its cases.
func Soaking() bool { return os.Getenv(soak) != "" }

// Needs skips a test where the machine lacks what it needs, and fails it in "make soak". missing
// says what the machine lacks; "" for nothing.
func Needs(t testing.TB, what, missing string) {
	t.Helper()
	if missing == "" {
		return
	}
	if Soaking() {
		t.Fatalf("%s cannot be had: %s", what, missing)
	}
	t.Skipf("%s cannot be had: %s", what, missing)
}
