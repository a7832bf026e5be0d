package facts

import (
	"net/http"
	"testing"
	"time"
)

// TestAgainAfter: when an answer tells its client to ask again, in the forms that are usual.
func TestAgainAfter(t *testing.T) {
	const ms, s = time.Millisecond, time.Second
	for body, want := range map[string]time.Duration{
		`{"data": null, "retry_after_ms": 30}`:                             30 * ms,
		`{"chairs":[{"id":1}],"retryAfterMs":"300"}`:                       300 * ms,
		`{"poll_interval": 1.5, "x": 1}`:                                   1500 * ms,
		`{"pollInterval":500}`:                                             500 * ms,
		`{"next_poll_after_seconds":2}`:                                    2 * s,
		`{"refresh_in":1}`:                                                 s,
		` {"nextPollMs":250}`:                                              250 * ms,
		`{"retry_after":"2026-11-19T04:04:05Z"}`:                           0,
		`{"retry_count": 3, "polls": 4, "refresh_token": 7}`:               0,
		`{"retry_after": 1795061045000}`:                                   0,
		`[{"retry_after_ms": 30}]`:                                         0,
		`<html><meta http-equiv="refresh" content="5; url=/queue"></html>`: 5 * s,
		`<p>retry_after_ms": 30}`:                                          0,
		"":                                                                 0,
	} {
		if got := againAfter(http.Header{}, 200, []byte(body)); got != want {
			t.Errorf("%s: %v, want %v", body, got, want)
		}
	}
	for _, c := range []struct {
		name, value string
		status      int
		want        time.Duration
	}{{"Refresh", "3; url=/x", 200, 3 * s}, {"Retry-After", "2", 202, 2 * s}, {"Retry-After", "2", 503, 0}, {"Retry-After", "Fri, 31 Dec 1999 23:59:59 GMT", 200, 0}} {
		if got := againAfter(http.Header{c.name: {c.value}}, c.status, nil); got != c.want {
			t.Errorf("%s: %s with %d: %v, want %v", c.name, c.value, c.status, got, c.want)
		}
	}
}

// FuzzAgainAfter: no answer crashes it, and no time is negative or beyond its bound.
func FuzzAgainAfter(f *testing.F) {
	f.Add(`{"retry_after_ms": 30}`, "1")
	f.Add(`<meta http-equiv=refresh content=5>`, "NaN")
	f.Fuzz(func(t *testing.T, body, header string) {
		for _, h := range []http.Header{{}, {"Refresh": {header}}} {
			if got := againAfter(h, 200, []byte(body)); got < 0 || got > 1e9*time.Second {
				t.Errorf("%q %q: %v", body, header, got)
			}
		}
	})
}
