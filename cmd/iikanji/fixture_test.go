package main

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// startFixture starts the site of a folder of fixtures by its own script, with variables beside
// those of this process, and waits until paths answer with status 200. It returns the site's
// folder and its URL. The site is stopped at the end of the test.
func startFixture(t *testing.T, name string, limit time.Duration, env []string, paths ...string) (dir, url string) {
	t.Helper()
	source, err := filepath.Abs(filepath.Join("../../fixtures", name))
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", filepath.Join(source, "start.sh"), dir)
	cmd.Env = append(append(os.Environ(), env...), "GOWORK=off", "CGO_ENABLED=0", "PATH="+os.Getenv("PATH")+":/usr/sbin:/sbin")
	t.Cleanup(func() {
		if out, err := exec.Command("sh", filepath.Join(source, "stop.sh"), dir).CombinedOutput(); err != nil {
			t.Logf("stopping %s: %v\n%s", name, err, out)
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
		t.Fatalf("starting %s: %v\n%s", name, err, text)
	}
	lines := strings.Fields(string(text))
	url = lines[len(lines)-1]
	for _, path := range paths { // the script does not wait for the apps
		for !answersOK(url + path) {
			if ctx.Err() != nil {
				t.Fatalf("%s does not answer at %s%s", name, url, path)
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	return dir, url
}

func answersOK(url string) bool {
	resp, err := http.Get(url)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}
