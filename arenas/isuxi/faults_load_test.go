package isuxi

import (
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena/arenatest"
)

// underLoad makes a fault of the load.
func underLoad(name string, want []arenatest.Caught, spoil func() arenatest.Hook) arenatest.Fault {
	return arenatest.Fault{Name: name + " under load", UnderLoad: true, Want: want, Also: shares, Spoil: spoil}
}

// shares are what a failing load may end with as well.
var shares = by("share-errors", "share-exceptions")

// loadFaults are met under load only.
var loadFaults = []arenatest.Fault{
	underLoad("comments are lost", by("comment-visible"), sent(load, atComment, func(form url.Values) { form.Set("comment", "x") })),
	underLoad("friendships are lost", by("friend-visible"), swallowed(load, atPostFriend, "/friends")),
	underLoad("list of friends from a cache", by("friend-visible"), func() arenatest.Hook {
		var cache sync.Map // by session
		return arenatest.When(load, "GET", atFriends, arenatest.After(200, func(x *arenatest.Exchange) {
			old, _ := cache.LoadOrStore(x.Header.Get("Cookie"), x.Reply)
			x.Reply = old.([]byte)
		}))
	}),
	underLoad("comments appear late", by("comment-visible"), func() arenatest.Hook {
		return arenatest.When(load, "GET", atEntry, arenatest.After(200, func(x *arenatest.Exchange) {
			x.Reply = []byte(strings.ReplaceAll(string(x.Reply), "remark ", "later "))
		}))
	}),
	underLoad("top page of another user", by("load-top"), answered(load, "GET", atTop, 200, func(x *arenatest.Exchange) {
		x.Reply = []byte(strings.ReplaceAll(string(x.Reply), "@", "%"))
	})),
	underLoad("empty entry", by("load-entry", "comment-visible"), given(load, "GET", atEntry, 200, 200)),
	underLoad("list without entries", by("load-entries"), given(load, "GET", atEntries, 200, 200)),
	underLoad("empty profile", by("load-profile"), given(load, "GET", atProfile, 200, 200)),
	underLoad("entry is not stored", by("redirect-status"), given(load, "POST", atPostEntry, 303, 200)),
	underLoad("footprints fail", on(iikanji.FaultStatus, stepFootprints), given(load, "GET", atFootprints, 200, 500)),
	underLoad("writes are slow", by(slow), func() arenatest.Hook {
		return arenatest.When(load, "POST", atPostEntry, func(_ *arenatest.Exchange, forward func()) {
			time.Sleep(slowWrite + 100*time.Millisecond)
			forward()
		})
	}),
	underLoad("connections break", on(iikanji.FaultClosed, stepFootprints), answered(load, "GET", atFootprints, 200, func(x *arenatest.Exchange) { x.Cut = 10 })),
}
