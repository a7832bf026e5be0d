package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/policy/tier"
)

// programFile is a target without services: a command with two parameters. The score is best
// with 32 workers and the fast codec, and has a noise of 1 %.
const programFile = `version = 1
name = "program"
[bench]
command = "./run.sh"
length = "100ms"
[[bench.parameter]]
name = "WORKERS"
value = "4"
least = 1
most = 256
[[bench.parameter]]
name = "CODEC"
value = "json"
values = ["json", "fast"]
`

const programRun = `#!/bin/sh
awk -v w="$WORKERS" -v c="$CODEC" -v seed="$$" 'BEGIN {
	srand(seed); x = w; if (w > 32) x = 32 * 32 / w
	printf "score: %d\n", 10000 * x / (x + 8) * (c == "fast" ? 1.3 : 1) * (1 + 0.02 * (rand() - 0.5)) }'
`

// TestTuneProgram: a search of a program without services climbs to the best values of its
// parameters, and revert brings the declared ones back. The score does not depend on what else
// the machine does, and so must not the search: its guard watches a quiet machine.
func TestTuneProgram(t *testing.T) {
	tier.Slow(t)
	dir, work := t.TempDir(), filepath.Join(t.TempDir(), "work")
	for name, text := range map[string]string{"iikanji.toml": programFile, "run.sh": programRun} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	out, said := shell(t, exitDone, "doctor", dir, "--dir", work)
	if strings.Contains(out, "failed  ") {
		t.Errorf("doctor: %s%s", out, said)
	}
	var errs lockedBuffer
	status, tuned := commandIn(t.Context(), &env{Stderr: &errs, Rest: time.Millisecond, Machine: quietMachine(t)}, "tune", dir, "--dir", work, "--time", "0", "--runs", "70")
	if said = errs.String(); status != exitDone {
		t.Fatalf("status %d\n%s\n%s", status, tuned, said)
	}
	values := filepath.Join(dir, "parameters.env")
	text, err := os.ReadFile(values)
	if err != nil || !strings.Contains(string(text), "CODEC=fast\n") || !strings.Contains(string(text), "WORKERS=32\n") {
		t.Errorf("%v: %q\n%s\n%s", err, text, tuned, said)
	}
	if strings.Contains(tuned, "all services were killed") || !strings.Contains(tuned, "no service that runs") {
		t.Errorf("a rehearsal without services: %s", tuned)
	}
	if err := os.WriteFile(values, []byte("WORKERS=many\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, said := shell(t, exitFailed, "bench", dir, "--dir", work); !strings.Contains(said, values+`:1: WORKERS: "many" is no integer`) {
		t.Errorf("a damaged file of values: %s", said)
	}
	if err := os.WriteFile(values, text, 0o600); err != nil {
		t.Fatal(err)
	}
	shell(t, exitDone, "revert", dir, "--dir", work, "--all")
	if _, err := os.Stat(values); !os.IsNotExist(err) {
		t.Errorf("the file of values is left: %v", err)
	}
}
