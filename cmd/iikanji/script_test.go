package main

import (
	"flag"
	"os"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/iikanji/iikanji/internal/stack"
)

var update = flag.Bool("update", false, "write what the scripts' cmp commands saw into the scripts")

func TestMain(m *testing.M) {
	stack.MaybeSupervise()
	testscript.Main(sweptRun{m}, map[string]func(){"iikanji": mainOfTests})
}

// restVariable sets the rest between the runs of a search, as in 1.2s.
const restVariable = "IIKANJI_TEST_REST"

// mainOfTests is main with the settings that only tests have.
func mainOfTests() {
	stack.MaybeSupervise()
	e := systemEnv()
	if text := os.Getenv(restVariable); text != "" {
		var err error
		if e.Rest, err = time.ParseDuration(text); err != nil {
			panic(err)
		}
	}
	os.Exit(runProcess(e))
}

// A sweptRun runs all tests, then removes what they shared.
type sweptRun struct{ *testing.M }

// Run returns the status of the tests.
func (r sweptRun) Run() int {
	defer prepared.remove()
	return r.M.Run()
}

// TestScripts runs testdata/*.txtar: the command line's contract. The first
// word of a script's name is the command it is about (access_formats.txtar).
// A script starts in an empty folder that holds its own files; tables are 80
// columns wide there, as in any pipe.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		UpdateScripts:       *update,
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("COLUMNS", "80")
			e.Setenv("TZ", "UTC")
			return nil
		},
	})
}
