package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/iikanji/iikanji/internal/portal/contest"
)

// TestSpectatorCounts: a spectator whose stream is refused, or who cannot connect, is counted as bad, and as
// no spectator; one whom the end of the rehearsal cuts is not.
func TestSpectatorCounts(t *testing.T) {
	status := http.StatusOK
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "event: x\ndata: 1\n\n")
	}))
	v := &virtual{url: s.URL, watching: s.Client()}
	counts := func(ctx context.Context, what string, bad int64) {
		t.Helper()
		if v.read(ctx); v.bad != bad || v.watchers != 0 || v.frames != 1 {
			t.Errorf("%s: %d bad, %d spectators, %d frames; want %d bad", what, v.bad, v.watchers, v.frames, bad)
		}
	}
	counts(t.Context(), "an answer", 0)
	status = http.StatusTooManyRequests
	counts(t.Context(), "a refusal", 1)
	ended, end := context.WithCancel(t.Context())
	end()
	counts(ended, "the end", 1)
	s.Close()
	counts(t.Context(), "no connection", 2)
}

// TestCheckShards: a contest cannot say that a load is divided that cannot be.
func TestCheckShards(t *testing.T) {
	for _, c := range []struct {
		arena  string
		shards int
		taken  bool
	}{
		{"isuxi", 4, true}, {"isuxi", 5, false}, {"isucondition", 2, false}, {"isucondition", 1, true}, {"another", 64, true},
	} {
		err := checkShards(&contest.Contest{Problems: []contest.Problem{{ID: "p", Arena: c.arena, Shards: c.shards}}})
		if (err == nil) != c.taken {
			t.Errorf("%s by %d: %v", c.arena, c.shards, err)
		}
	}
}
