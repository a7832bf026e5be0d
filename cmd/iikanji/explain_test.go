package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/site/livesite"
)

// TestHintOfLogsOn: a service that has ended in an observation is named, and what turns the logs of
// the observation off is the last hint.
func TestHintOfLogsOn(t *testing.T) {
	var out strings.Builder
	err := errors.Join(&livesite.DiedError{Service: "mariadb", Log: "/log/db.log"}, &livesite.StillOnError{Err: errors.New("connection refused")})
	if status := explain(&out, err); status != exitFailed || !strings.Contains(out.String(), "hint: its log is /log/db.log\nhint: logs of the observation are still on: ") {
		t.Errorf("status %d: %s", status, out.String())
	}
}
