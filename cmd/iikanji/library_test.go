package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause/diagnose"
	"github.com/iikanji/iikanji/internal/machine/servertest"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// startLibrary starts the lending library of fixtures/library with little data, by
// its own script.
func startLibrary(t *testing.T) (dir, url string) {
	t.Helper()
	source, err := filepath.Abs("../../fixtures/library")
	if err != nil {
		t.Fatal(err)
	}
	// The programs have the paths of their source, whatever GOFLAGS says of -trimpath.
	paths := fmt.Sprintf(` "-gcflags=library/...='-trimpath=%[1]s=>%[1]s'"`, source)
	env := []string{"GOFLAGS=" + os.Getenv("GOFLAGS") + paths, "LIBRARY_SCALE=0.03", fmt.Sprintf("LIBRARY_PORT=%d", servertest.FreePorts(t, 5))}
	return startFixture(t, "library", 4*time.Minute, env, "/", "/sign-in")
}

// libraryCauses are findings that the library must have, by the name of the cause in
// its causes.txt. With little data and a short load, the causes in Redis cost too
// little to be findings.
var libraryCauses = map[string]struct {
	code  iikanji.Code
	where string
}{
	"loans-book": {"DB101", "loans (book_id"}, "reviews-book": {"DB101", "reviews (book_id"}, "loans-member": {"DB101", "loans (member_id"},
	"covers-db": {"WEB111", "/covers/"}, "idle-pool": {"DB210", "mariadb"}, "nginx-keepalive": {"WEB102", "127.0.0.1:"}, "reviews-loop": {"DB113", "members where id"},
}

// libraryFindings loads the library for a time. It returns the diagnosis and what it lacks: the
// names of the libraryCauses without a finding, and a run that counts.
func libraryFindings(t *testing.T, into, work, load string) (d diagnose.Diagnosis, missing []string) {
	t.Helper()
	out, said := shell(t, exitDone, "diagnose", into, "--dir", work, "--load", load, "--json")
	if err := json.Unmarshal([]byte(out), &d); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	if d.Run.Outcome != iikanji.Passed || d.Run.Score <= 0 {
		missing = append(missing, fmt.Sprintf("a run that counts: it is %s, score %.0f: %v", d.Run.Outcome, d.Run.Score, d.Run.Reasons))
	}
	for _, s := range d.Sensors {
		if !s.Green {
			t.Logf("%s is red: %s", s.Name, s.Why())
		}
	}
	for name, want := range libraryCauses {
		at := slices.IndexFunc(d.Findings, func(f iikanji.Finding) bool { return f.Code == want.code && strings.Contains(f.Where, want.where) })
		if at < 0 {
			missing = append(missing, name)
			continue
		}
		t.Logf("%s: finding %d, %.2f s", name, at+1, d.Findings[at].Gain.Hi)
	}
	return d, missing
}

// TestLibraryUnderLoad takes the lending library from init to findings: no line of the file is
// typed, and causes are found that its author has written down.
func TestLibraryUnderLoad(t *testing.T) {
	tier.Slow(t)
	dir, url := startLibrary(t)
	into, work := t.TempDir(), t.TempDir()
	out, _ := shell(t, exitDone, "init", url, "--into", into, "--bench", filepath.Join(dir, "bin", "bench")+" -target $IIKANJI_URL -seconds $IIKANJI_SECONDS -scale 0.03")
	if strings.Contains(out, "to do:") || !strings.Contains(out, "redis at") || strings.Count(out, "source in ") != 2 {
		t.Errorf("init leaves something to do, or found too little:\n%s", out)
	}
	shell(t, exitDone, "doctor", into, "--dir", work)
	var d diagnose.Diagnosis
	var missing []string
	for _, length := range []string{"10s", "40s", "2m"} { // a busy machine has too few requests of some routes in a short time
		if d, missing = libraryFindings(t, into, work, length); len(missing) == 0 {
			break
		}
		t.Logf("not found in %s: %q", length, missing)
	}
	if len(missing) > 0 {
		t.Errorf("not found: %q", missing)
	}
	facts, err := os.ReadFile(filepath.Join(work, "history", "runs", "0001", "facts.json"))
	if err != nil || !strings.Contains(string(facts), `"total_connections_received"`) || !strings.Contains(string(facts), `"command.keys.calls"`) {
		t.Errorf("Redis was not observed: %v", err)
	}
	if t.Failed() {
		for i, f := range d.Findings {
			t.Logf("%d %s %s: %s", i+1, f.Code, f.Where, f.Claim)
		}
	}
}
