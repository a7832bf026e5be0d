package work_test

import (
	"os"
	"testing"

	"github.com/iikanji/iikanji/internal/machine/process"
)

// TestMain lets this program be the supervisor of the services that a test restarts.
func TestMain(m *testing.M) {
	process.MaybeSupervise()
	os.Exit(m.Run())
}
