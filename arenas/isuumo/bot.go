package isuumo

import (
	"context"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// botAgents are user agents that the rules allow to refuse with 503.
var botAgents = []string{
	"ISUCONbot", "ISUCONbot-Mobile", "ISUCONbot-Image/", "Mediapartners-ISUCON", "ISUCONCoffee", "ISUCONFeedSeeker",
	"ISUCONFeedSeekerBeta", "crawler (https://isucon.invalid/support/faq/", "crawler (https://isucon.invalid/help/jp/",
	"isubot", "Isupider", "Isupider-image+", "Example-Bot/1.0", "example crawler; +https://crawler.invalid", "Example_Spider",
}

// pauseCrawl is the time between the starts of two crawls of a bot.
var pauseCrawl = [2]time.Duration{450 * time.Millisecond, 550 * time.Millisecond}

// crawlLimit is the number of crawls of a bot that may be under way at a time,
// and botConns the number of its connections. A crawl ends within about 4 s: a
// search of up to 2 s, then details of up to 2 s. At most nine begin in that time,
// so that the limits bound the load without changing it.
const (
	botConns   = 220
	crawlLimit = 10
)

// A bot crawls the site: load without points. Its answers are not checked, and
// nothing that happens to it costs anything.
type bot struct {
	*browser
	rng    *rand.Rand
	crawls chan struct{} // one element per crawl under way
}

func (ct *contest) newBot(i int) *bot {
	rng := ct.s.Rand(workerName("bot", i))
	agent := botAgents[rng.IntN(len(botAgents))]
	return &bot{rng: rng, crawls: make(chan struct{}, crawlLimit),
		browser: ct.browser(scenario.ClientOptions{UserAgent: agent, MaxConns: botConns})}
}

// run starts a crawl about twice a second, whether or not the one before has
// ended.
func (b *bot) run(ctx context.Context) {
	var crawls sync.WaitGroup
	defer b.cl.Close()
	defer crawls.Wait()
	for rest(ctx, b.rng, pauseCrawl) {
		w, n := b.ct.world, conditionsAt(int(b.ct.level.Load()))
		chairs, estates := drawQuery(b.rng, w.chairPickers, n, botPage), drawQuery(b.rng, w.estatePickers, n, botPage)
		select {
		case b.crawls <- struct{}{}:
			crawls.Go(func() {
				defer func() { <-b.crawls }()
				b.crawl(ctx, chairs, estates)
			})
		default:
		}
	}
}

// crawl does one chair search and one estate search, and then loads the pages of
// all results.
func (b *bot) crawl(ctx context.Context, chairs, estates *query) {
	var wg sync.WaitGroup
	wg.Go(func() {
		b.follow(ctx, stepChairSearch, chairs.path("/api/chair/search"), "chairs", stepChair, "/api/chair/")
	})
	wg.Go(func() {
		b.follow(ctx, stepEstateSearch, estates.path("/api/estate/search"), "estates", stepEstate, "/api/estate/")
	})
	wg.Wait()
}

// follow loads a search and the page of each of its rows.
func (b *bot) follow(ctx context.Context, search scenario.Step, path, field string, detail scenario.Step, base string) {
	var ids []int64
	b.load(ctx, search, path, func(res *scenario.Response) { ids = readIDs(res, field) })
	var wg sync.WaitGroup
	for _, id := range ids[:min(len(ids), botPage)] {
		wg.Go(func() { b.load(ctx, detail, idPath(base, id), func(*scenario.Response) {}) })
	}
	wg.Wait()
}

// load sends a GET and passes an answer with status 200 to read.
func (b *bot) load(ctx context.Context, step scenario.Step, path string, read func(res *scenario.Response)) {
	b.ct.crawled.Add(1)
	res, err := b.cl.Do(ctx, &scenario.Request{Step: step, Path: path, Quiet: true})
	if err != nil {
		return
	}
	defer res.Release()
	switch res.Status {
	case http.StatusOK:
		read(res)
	case http.StatusServiceUnavailable:
		b.ct.refusedBots.Add(1)
	}
}
