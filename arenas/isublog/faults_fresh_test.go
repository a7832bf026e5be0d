package isublog_test

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena/arenatest"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// A keptPage is an answer of a planted cache.
type keptPage struct {
	at time.Time
	x  arenatest.Exchange
}

// cached is a cache of pages that is never purged. It holds pages that keep accepts,
// each for a time.
func cached(phase scenario.Phase, valid time.Duration, keep func(path string) bool) func() arenatest.Hook {
	return func() arenatest.Hook {
		var pages sync.Map
		return func(x *arenatest.Exchange, forward func()) {
			if x.Method != "GET" || phase != "" && x.Phase != phase || !keep(x.Path) {
				forward()
				return
			}
			if had, ok := pages.Load(x.Path); ok && time.Since(had.(keptPage).at) < valid {
				was := had.(keptPage).x
				x.Status, x.Answer, x.Reply, x.Close = was.Status, was.Answer, was.Reply, was.Close
				return
			}
			forward()
			pages.Store(x.Path, keptPage{time.Now(), *x})
		}
	}
}

// lateBy is how long after a post a late page shows it. The limit is 1 s.
const lateBy = 1300 * time.Millisecond

// A latePage is an answer that a late page keeps showing.
type latePage struct {
	x     arenatest.Exchange
	posts int // posts before it was asked for
	shown int // posts before it was last shown late
}

// late shows on some pages, after each post, what they showed before it: for a time,
// and in any case once, so that a slow machine meets the fault too.
func late(by time.Duration, keep func(path string) bool) func() arenatest.Hook {
	return func() arenatest.Hook {
		var mu sync.Mutex
		var posts int
		var posted time.Time
		pages := map[string]*latePage{}
		// keptFor returns the late answer for a path, or nil, and the number of posts.
		keptFor := func(path string) (*latePage, int) {
			mu.Lock()
			defer mu.Unlock()
			p := pages[path]
			if p == nil || p.posts == posts || p.shown == posts && time.Since(posted) >= by {
				return nil, posts
			}
			p.shown = posts
			return p, posts
		}
		return func(x *arenatest.Exchange, forward func()) {
			get := x.Method == "GET" && keep(x.Path)
			was, before := keptFor(x.Path)
			if get && was != nil {
				x.Status, x.Answer, x.Reply, x.Close = was.x.Status, was.x.Answer, was.x.Reply, was.x.Close
				return
			}
			forward()
			mu.Lock()
			defer mu.Unlock()
			if x.Method == "POST" && x.Path != "/initialize" {
				posts++
				posted = time.Now()
			} else if get {
				pages[x.Path] = &latePage{x: *x, posts: before}
			}
		}
	}
}

func index(path string) bool { return path == "/" }

// articles accepts the pages of articles up to a number.
func articles(most int) func(path string) bool {
	return func(path string) bool {
		n, err := strconv.Atoi(strings.TrimPrefix(path, "/article/"))
		return err == nil && n <= most
	}
}

func anyPage(path string) bool { return index(path) || articles(1<<30)(path) }

var sidebarTable = regexp.MustCompile(`(?s)<table>.*?</table>`)

// oldSidebar shows on some pages the sidebar of the first page of the run.
func oldSidebar(shown func(path string) bool) func() arenatest.Hook {
	return func() arenatest.Hook {
		var mu sync.Mutex
		var first string
		return func(x *arenatest.Exchange, forward func()) {
			forward()
			if x.Status != 200 || x.Method != "GET" || !anyPage(x.Path) {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if first == "" {
				first = sidebarTable.FindString(string(x.Reply))
			}
			if shown(x.Path) {
				x.Reply = []byte(sidebarTable.ReplaceAllLiteralString(string(x.Reply), first))
			}
		}
	}
}

// forget answers posts as if they had succeeded.
func forget(phase scenario.Phase, pattern string) func() arenatest.Hook {
	return plain(arenatest.When(phase, "POST", pattern, func(x *arenatest.Exchange, _ func()) {
		x.Give(302, "", "")
		x.Answer.Set("Location", "/")
	}))
}

// freshFaults show posts too late, or never. The checks without load catch them.
var freshFaults = []arenatest.Fault{
	{Name: "article not stored", Want: by("article-id"), Spoil: forget("", "/post")},
	{Name: "comment not stored", Want: by("comment-missing"), Spoil: forget("", "/comment/*")},
	{Name: "comment stored under another name", Want: by("comment-missing"), Spoil: plain(arenatest.When("", "POST", "/comment/*",
		arenatest.Before(func(x *arenatest.Exchange) { x.Body = []byte(strings.Replace(string(x.Body), "name=", "name=x", 1)) })))},
	{Name: "index late", Want: by("article-id"), Spoil: late(lateBy, index)},
	{Name: "article late", Want: by("comment-missing"), Spoil: late(lateBy, articles(1500))},
	{Name: "sidebar of other articles late", Want: by("sidebar-article"), Spoil: late(lateBy, func(path string) bool {
		return !articles(1500)(path) && articles(3000)(path)
	})},
	{Name: "comment missing after a purge", Want: by("comment-missing"), Spoil: cached("", time.Hour, articles(1500))},
	{Name: "sidebar of the index only", Want: by("sidebar-article"), Spoil: oldSidebar(articles(1 << 30))},
	{Name: "sidebar of articles only", Want: by("sidebar-index"), Spoil: oldSidebar(index)},
}

// loadFaults need the load.
var loadFaults = []arenatest.Fault{
	{Name: "under load: pages stale by 1.5 s", UnderLoad: true, Want: by("comment-missing", "sidebar-index", "sidebar-article"), Spoil: cached("load", 1500*time.Millisecond, anyPage)},
	{Name: "under load: comment not stored", UnderLoad: true, Want: by("comment-missing"), Spoil: forget("load", "/comment/*")},
	{Name: "under load: sidebar of the index only", UnderLoad: true, Want: by("sidebar-article"), Spoil: oldSidebar(articles(1 << 30))},
	{Name: "under load: every third page refused", UnderLoad: true, Want: on(iikanji.FaultStatus, onIndex), Also: by("load-errors"), Spoil: everyThird("/")},
	{Name: "under load: images cut off", UnderLoad: true, Want: on(iikanji.FaultClosed, onImages), Also: by("load-errors"),
		Spoil: plain(arenatest.When("load", "GET", "/images/*", arenatest.After(200, func(x *arenatest.Exchange) { x.Cut = 1000 })))},
}

// everyThird answers every third request of the load with an error.
func everyThird(pattern string) func() arenatest.Hook {
	return func() arenatest.Hook {
		var n atomic.Int64
		return arenatest.When("load", "GET", pattern, func(x *arenatest.Exchange, forward func()) {
			if n.Add(1)%3 == 0 {
				x.Give(503, "text/plain", "busy")
				return
			}
			forward()
		})
	}
}
