package isucondition_test

import (
	"sync"

	"github.com/iikanji/iikanji/internal/contest/arena/arenatest"
)

// frozenTrend sends every client the trend of the first answer under load.
func frozenTrend() arenatest.Hook {
	var mu sync.Mutex
	var first []byte
	return arenatest.When("load", "GET", "/api/trend", arenatest.After(200, func(x *arenatest.Exchange) {
		mu.Lock()
		defer mu.Unlock()
		if first == nil {
			first = x.Reply
		}
		x.Reply = first
	}))
}
