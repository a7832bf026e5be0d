package isublog

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

const (
	loadTime     = 60 * time.Second
	checkTimeout = 5 * time.Second  // per request of the checks without load
	loadTimeout  = 30 * time.Second // per request of the checks under load, beside ten others
	// agent is the User-Agent of every request, of load and checks alike.
	agent = "http_load 12mar2006"
)

// The steps: one per route.
const (
	stepInitialize scenario.Step = iota
	stepIndex
	stepArticle
	stepForm
	stepPost
	stepComment
	stepCSS
	stepJS
	stepImages
)

var stepNames = []string{"POST /initialize", "GET /", "GET /article/:id", "GET /post", "POST /post", "POST /comment/:id",
	"GET /css/*", "GET /js/*", "GET /images/*"}

func stepOfStatic(path string) scenario.Step {
	switch {
	case strings.HasPrefix(path, "/css/"):
		return stepCSS
	case strings.HasPrefix(path, "/js/"):
		return stepJS
	default:
		return stepImages
	}
}

// eventAnswered is a successful request of the load.
const eventAnswered scenario.Event = 0

// table is the score: one point per successful request of the load. The load takes
// a minute by default, so that the score is the requests per minute.
var table = scenario.Table{Events: []scenario.EventRule{{Name: "requests answered", Points: 1}}, FailAtZero: true}

// newScenario returns the benchmarker.
func newScenario(o arena.Options) (scenario.Scenario, error) {
	if o.Clock != 0 {
		return nil, errors.New("choosing the clock: this contest has no virtual time")
	}
	ct := &contest{}
	if o.NoLoad {
		return scenario.ChecksOnly(ct), nil
	}
	return ct, nil
}

// A contest is one run of the benchmarker.
type contest struct {
	// Made by Prepare.
	s    scenario.Session
	plan *plan

	mu     sync.Mutex
	posted map[int][]Comment // comments that are stored, by article, in their order

	posts, verified atomic.Int64
}

var (
	_ scenario.Preparer  = (*contest)(nil)
	_ scenario.Loader    = (*contest)(nil)
	_ scenario.Validator = (*contest)(nil)
)

// Info describes the benchmarker.
func (ct *contest) Info() scenario.Info {
	return scenario.Info{Name: "isublog", Steps: stepNames, Table: table, Load: loadTime, Timeout: checkTimeout}
}

// Load starts the load, the poster of comments and the check of contents, and
// applies the rule of errors when the load has ended.
func (ct *contest) Load(ctx context.Context, s scenario.Session) error {
	s.Gauge("offered work (digest)", "", work(s, ct.plan.article.ID))
	h, err := newHammer(s, ct.plan)
	if err != nil {
		return err
	}
	p := newPoster(ct)
	s.Go("load", h.run)
	s.Every("poster", scenario.Arrivals{First: postEvery, Period: postEvery}, p.post)
	s.Go("content check", ct.checkContents)
	<-ctx.Done()
	<-h.over
	h.gauges()
	s.Gauge("comments posted", "", float64(ct.posts.Load()))
	s.Gauge("comments verified", "", float64(ct.verified.Load()))
	return h.verdict()
}

// Validate checks that every comment of the run is stored.
func (ct *contest) Validate(ctx context.Context, s scenario.Session) error {
	if s.LoadTime() >= minLoad && ct.posts.Load() == 0 {
		return scenario.Wrong(nil, "poster", "no comment was posted")
	}
	return ct.checkStored(ctx)
}

// minLoad is a load that is long enough for a comment.
const minLoad = 5 * time.Second

// store notes a comment whose post was answered.
func (ct *contest) store(c Comment) {
	ct.mu.Lock()
	defer ct.mu.Unlock()
	ct.posted[c.Article] = append(ct.posted[c.Article], c)
}

// all runs several checks at once and returns the first error in their order.
func all(checks ...func() error) error {
	errs := make([]error, len(checks))
	var wg sync.WaitGroup
	for i, check := range checks {
		wg.Go(func() { errs[i] = check() })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
