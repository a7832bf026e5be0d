package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/machine/servertest"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// startRepairCafe starts the site of fixtures/repaircafe with little data, by its own script, and
// returns its folder and its URL.
func startRepairCafe(t *testing.T) (dir, url string) {
	t.Helper()
	source, err := filepath.Abs("../../fixtures/repaircafe")
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", filepath.Join(source, "start.sh"), dir)
	cmd.Env = append(os.Environ(), "CAFE_SCALE=0.05", fmt.Sprintf("CAFE_PORT=%d", servertest.FreePorts(t, 3)), "GOWORK=off", "CGO_ENABLED=0", "PATH="+os.Getenv("PATH")+":/usr/sbin:/sbin")
	t.Cleanup(func() {
		if out, err := exec.Command("sh", filepath.Join(source, "stop.sh"), dir).CombinedOutput(); err != nil {
			t.Logf("stopping the repair café: %v\n%s", err, out)
		}
	})
	log, err := os.Create(filepath.Join(dir, "start.out")) // a pipe would stay open in the services
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	err = cmd.Run()
	text, _ := os.ReadFile(log.Name())
	if err != nil {
		t.Fatalf("starting the repair café: %v\n%s", err, text)
	}
	lines := strings.Fields(string(text))
	url = lines[len(lines)-1]
	for { // the script does not wait for the app
		if resp, err := http.Get(url + "/login"); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return dir, url
			}
		}
		if ctx.Err() != nil {
			t.Fatalf("the repair café does not answer at %s", url)
		}
		time.Sleep(50 * time.Millisecond)
	}
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
