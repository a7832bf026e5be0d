package isublog_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"
)

// testRestart: after a restart of its database the app serves as before, once its
// pool has lost its dead connections. More requests at once than the pool has
// connections are cut before, so that it also holds connections that were opened for
// them and never used: database/sql does not test these.
func testRestart(t *testing.T) {
	for range 4 {
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		var wg sync.WaitGroup
		for i := range 30 {
			wg.Go(func() {
				for n := 1; ctx.Err() == nil; n++ {
					r, err := http.NewRequestWithContext(ctx, "GET", fmt.Sprintf("%s/article/%d", contest.stack.Places().URL(), i*90+n), nil)
					if err != nil {
						t.Error(err)
						return
					}
					if res, err := guest.Do(r); err == nil {
						res.Body.Close()
					}
				}
			})
		}
		wg.Wait()
		cancel()
		if err := contest.stack.Restart(t.Context(), "database"); err != nil {
			t.Fatal(err)
		}
		if a := send(t, "POST", "/initialize", nil); a.status != 200 {
			t.Fatalf("status %d: %s", a.status, a.body)
		}
		dead := 0
		for range 10 {
			if a := get(t, "/post"); a.status != 200 {
				dead++
			}
		}
		t.Logf("%d requests met a dead connection", dead)
		if a := get(t, "/"); a.status != 200 {
			t.Errorf("status %d: %s", a.status, a.body)
		}
	}
}
