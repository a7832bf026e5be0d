package isucholar

import (
	"net/url"
	"sync"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena/arenatest"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// stale answers from a cache of its own for some time, for each session and address.
func stale(pattern string, keep time.Duration) func() arenatest.Hook {
	type entry struct {
		x  arenatest.Exchange
		at time.Time
	}
	return func() arenatest.Hook {
		var cache sync.Map
		return arenatest.When(scenario.Load, "GET", pattern, func(x *arenatest.Exchange, forward func()) {
			key := x.Header.Get("Cookie") + x.Path + "?" + x.Query
			if v, ok := cache.Load(key); ok && time.Since(v.(entry).at) < keep {
				old := v.(entry).x
				x.Status, x.Answer, x.Reply = old.Status, old.Answer.Clone(), old.Reply
				return
			}
			forward()
			if x.Status == 200 {
				e := entry{*x, time.Now()}
				e.x.Answer = x.Answer.Clone()
				cache.Store(key, e)
			}
		})
	}
}

// underLoad makes a fault of the load.
func underLoad(name string, want []arenatest.Caught, spoil func() arenatest.Hook) arenatest.Fault {
	return arenatest.Fault{Name: name + " under load", UnderLoad: true, Set: smallLoad, Want: want, Spoil: spoil}
}

// sometimes lets one request of ten pass through a hook.
func sometimes(hook func(x *arenatest.Exchange)) func(x *arenatest.Exchange) {
	var mu sync.Mutex
	n := 0
	return func(x *arenatest.Exchange) {
		mu.Lock()
		n++
		now := n%10 == 0
		mu.Unlock()
		if now {
			hook(x)
		}
	}
}

// loadFaults are met under load only.
var loadFaults = []arenatest.Fault{
	underLoad("announcements from a cache", by("announcements-unread"), stale(atNotices, time.Second)),
	underLoad("announcements in the wrong order", by("announcements-order"), changed(scenario.Load, atNotices,
		func(o object) object {
			o["announcements"] = reversed(o["announcements"].([]any))
			return o
		})),
	underLoad("another title", by("announcements-fields"), within(scenario.Load, atNotices, "announcements",
		func(o object) { o["title"] = "x" })),
	{Name: "announcement is read before it is read under load", UnderLoad: true, Set: smallLoad,
		Want: by("announcement-unread"), Also: by("announcements-unread"),
		Spoil: changed(scenario.Load, atNotice, func(o object) object { o["unread"] = false; return o })},
	underLoad("classes from a cache", by("classes-list", "classes-closed", "classes-submitted"), stale(atClasses,
		time.Minute)),
	underLoad("course of another student", by("registered-foreign"), changed(scenario.Load, atRegistered,
		func(v []any) []any {
			return append(v, object{"id": "01FGWKRE7YPFBYEB31FQGERSQA", "name": "x", "teacher": "x", "period": 1,
				"day_of_week": "monday"})
		})),
	underLoad("registered courses from a cache", by("registered-foreign"), stale(atRegistered, 2*time.Second)),
	underLoad("search without a condition", by("search-condition"), plain(arenatest.When(scenario.Load, "GET", atSearch,
		arenatest.Before(func(x *arenatest.Exchange) {
			if q, err := url.ParseQuery(x.Query); err == nil {
				q.Del("period")
				x.Query = q.Encode()
			}
		})))),
	underLoad("search in the wrong order", by("search-order"), changed(scenario.Load, atSearch, reversed)),
	underLoad("course with other credits", by("course-fields"), changed(scenario.Load, atCourse,
		func(o object) object { add(o, "credit", 1); return o })),
	underLoad("totals from the day before", by("grades-totals"), within(scenario.Load, atGrades, "courses",
		func(o object) { add(o, "total_score", 1) })),
	underLoad("submissions are refused", on(iikanji.FaultStatus, stepUpload), plain(arenatest.When(scenario.Load, "POST",
		atUpload,
		arenatest.After(204, sometimes(func(x *arenatest.Exchange) { x.Give(500, "", "") }))))),
	{Name: "submission lost under load", UnderLoad: true, Set: smallLoad, Want: by("zip-files"),
		Also:  by("classes-submitted"),
		Spoil: plain(arenatest.When(scenario.Load, "POST", atUpload, arenatest.Instead(204, "", "")))},
	underLoad("answers without JSON", on(iikanji.FaultBody, stepAnnouncements), plain(arenatest.When(scenario.Load, "GET",
		atNotices,
		arenatest.After(200, sometimes(func(x *arenatest.Exchange) { x.Reply = x.Reply[:len(x.Reply)/2] }))))),
}
