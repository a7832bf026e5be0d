package isuports

import (
	"net/http"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		status int
		header string
		want   time.Duration
		ok     bool
	}{
		{429, "2", 2 * time.Second, true},
		{429, "0", 0, true},
		{429, "-5", 0, true},
		{429, "9999", maxDelay, true},
		{429, now.Add(3 * time.Second).Format(http.TimeFormat), 3 * time.Second, true},
		{429, "", 0, false},
		{429, "soon", 0, false},
		{503, "2", 0, false},
		{200, "2", 0, false},
	} {
		res := &scenario.Response{Status: c.status, Fields: []scenario.HeaderField{{Name: []byte("retry-after"), Value: []byte(c.header)}}}
		if d, ok := retryAfter(res, now); d != c.want || ok != c.ok {
			t.Errorf("status %d, Retry-After %q: %v %v, want %v %v", c.status, c.header, d, ok, c.want, c.ok)
		}
	}
}
