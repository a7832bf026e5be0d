package discover

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/servertest"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// TestCalledByLoop: what scripts with a loop call, and nothing of those without one, of
// comments and of other programs.
func TestCalledByLoop(t *testing.T) {
	for script, want := range map[string][]string{
		"#!/bin/sh\nwhile true; do\n  curl -s http://localhost:8080/api/internal/matching >/dev/null\n  sleep 0.5\ndone": {"http://localhost:8080/api/internal/matching"},
		"sh\n-c\nuntil false; do wget -qO- 'http://127.0.0.1/tick?a=1'; sleep 1; done":                                   {"http://127.0.0.1/tick?a=1"},
		"for i in 1 2; do\ncurl \"https://[::1]:8443/x\"; done":                                                          {"https://[::1]:8443/x"},
		"curl http://localhost/once":                        nil,
		"while true; do\n# curl http://localhost/x\ndone":   nil,
		"while true; do echo http://localhost/x; done":      nil,
		"while true; do curl http://$HOST/x; sleep 1; done": nil,
	} {
		if got := calledByLoop(script); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", script, got, want)
		}
	}
}

// TestToldURL: what init tells of a loop has no login and no token.
func TestToldURL(t *testing.T) {
	for called, want := range map[string]string{
		"http://localhost:8080/api/match":                   "http://localhost:8080/api/match",
		"http://ops:canary-5@127.0.0.1/tick?token=canary-6": "http://127.0.0.1/tick",
		"http://[::1/": "the site",
	} {
		if got := toldURL(called); got != want {
			t.Errorf("%s: %s", called, got)
		}
	}
}

// TestAskLoop: a shell loop that calls an app is named, with the script that it runs.
func TestAskLoop(t *testing.T) {
	tier.Slow(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	address := servertest.FreeAddress(t)
	_, port, _ := strings.Cut(address, ":")
	app := exec.Command("python3", "-m", "http.server", "--bind", "127.0.0.1", port)
	app.Dir = dir
	servertest.Start(t, app, address)
	script := filepath.Join(dir, "matcher.sh")
	if err := os.WriteFile(script, []byte("while true; do\n  curl -s 'http://"+address+"/match?token=canary-6' >/dev/null\n  sleep 0.5\ndone\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	loop := exec.Command("sh", "matcher.sh", "canary-7")
	loop.Dir = dir
	if err := loop.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = loop.Process.Kill() // it has no other end
		_ = loop.Wait()
	}()
	found, err := Ask(t.Context(), host.Local{}, Options{URL: "http://" + address, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(found.Findings, func(f Finding) bool {
		return f.What == "a shell loop calls http://"+address+"/match" && strings.Contains(f.How, "matcher.sh")
	}) {
		t.Errorf("%+v", found.Findings)
	}
	if text := fmt.Sprintf("%+v", found.Findings); strings.Contains(text, "canary") {
		t.Errorf("a secret is told: %s", text)
	}
}
