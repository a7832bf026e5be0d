package node_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/iikanji/iikanji/internal/portal/worker"
)

// TestMain lets the test's binary be a guard, a portal, a worker or a benchmarker.
func TestMain(m *testing.M) {
	worker.MaybeGuard()
	roles := map[string]func([]string) error{crashRole: crashProcess, portalRole: portalProcess, workerRole: workerProcess, benchRole: benchProcess,
		hostRole: hostProcess, finalBenchRole: finalBench, persistRole: persistProcess}
	if len(os.Args) > 1 {
		if role := roles[os.Args[1]]; role != nil {
			if err := role(os.Args[2:]); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}
