package web

import (
	"os"
	"testing"

	"github.com/iikanji/iikanji/internal/portal/worker"
)

// TestMain lets the test's binary be the guard of a benchmarker.
func TestMain(m *testing.M) {
	worker.MaybeGuard()
	os.Exit(m.Run())
}
