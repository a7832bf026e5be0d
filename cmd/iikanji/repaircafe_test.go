package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/machine/servertest"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// startRepairCafe starts the site of fixtures/repaircafe with little data, by its own script, and
// returns its folder and its URL.
func startRepairCafe(t *testing.T) (dir, url string) {
	t.Helper()
	env := []string{"CAFE_SCALE=0.05", fmt.Sprintf("CAFE_PORT=%d", servertest.FreePorts(t, 3))}
	return startFixture(t, "repaircafe", 3*time.Minute, env, "/login")
}

// cafeBench runs the repair café's benchmarker and returns its line of JSON.
func cafeBench(t *testing.T, dir string, args ...string) (pass bool, score int, faults []string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), filepath.Join(dir, "bin", "bench"), args...).Output()
	var line struct {
		Pass   bool
		Score  int
		Faults []string
	}
	if jsonErr := json.Unmarshal(out, &line); jsonErr != nil {
		t.Fatalf("the benchmarker: %v, %v\n%s", err, jsonErr, out)
	}
	if (err == nil) != line.Pass {
		t.Errorf("the benchmarker ends with %v and says pass = %t", err, line.Pass)
	}
	return line.Pass, line.Score, line.Faults
}

// TestRepairCafe builds and starts the repair café, whose answers pass the checks of its own
// benchmarker with a score. A changed row, and data other than the seeded, do not pass.
func TestRepairCafe(t *testing.T) {
	tier.Slow(t)
	dir, url := startRepairCafe(t)
	pass, score, faults := cafeBench(t, dir, "-target", url, "-scale", "0.05", "-duration", "3s")
	if !pass || score <= 0 {
		log, _ := os.ReadFile(filepath.Join(dir, "log", "app.log"))
		t.Fatalf("pass %t, score %d: %q\n%s", pass, score, faults, log)
	}
	for _, statement := range []string{
		"UPDATE comments SET body = 'another text' ORDER BY id DESC LIMIT 1",
		"UPDATE photos SET data = 'no picture' ORDER BY id DESC LIMIT 1",
	} {
		// What the load brought goes first, because the newest seeded row is meant.
		if resp, err := http.Post(url+"/initialize", "", nil); err != nil || resp.Body.Close() != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("initialize: %v", err)
		}
		sql := exec.CommandContext(t.Context(), "mariadb", "--no-defaults", "-S", filepath.Join(dir, "run", "mysql.sock"), "-u", "root", "cafe", "-e", statement)
		if out, err := sql.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", statement, err, out)
		}
		if pass, _, faults = cafeBench(t, dir, "-target", url, "-scale", "0.05", "-duration", "1s"); pass || len(faults) == 0 {
			t.Errorf("after %q: pass %t, %q", statement, pass, faults)
		}
	}
}
