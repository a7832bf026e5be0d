package isucondition_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

// shortLine is a line of the app's request log: address, user, request, status, bytes
// and milliseconds.
var shortLine = regexp.MustCompile(`(?m)^\S+ - GET /api/trend\?of=log HTTP/1\.[01] 200 \d+ - [0-9.]+ ms$`)

// testNodeLog checks that each request has one line in the log of the app: the lines
// are a part of the cost that the last rung of the ladder removes.
func testNodeLog(t *testing.T) {
	c := fresh(t)
	log := filepath.Join(c.Stack.Logs(), c.Stack.Arena().Service("app").Output)
	const requests = 3
	for range requests {
		c.NewClient(t).Get("/api/trend?of=log").Want(t, 200, "")
	}
	lines := 0
	for end := time.Now().Add(2 * time.Minute); lines < requests && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		text, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		lines = len(shortLine.FindAll(text, -1))
	}
	if lines != requests {
		t.Errorf("the log has %d lines for %d requests", lines, requests)
	}
}
