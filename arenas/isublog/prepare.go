package isublog

import (
	"context"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/dom"
	"github.com/iikanji/iikanji/internal/contest/arena/kit/verify"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// Prepare initializes the target, checks it without load, and posts the article of
// the run.
func (ct *contest) Prepare(ctx context.Context, s scenario.Session) error {
	ct.s, ct.posted = s, map[int][]Comment{}
	ct.plan = newPlan(s, Articles+1)
	s.Phase(scenario.Initialize)
	if err := ct.initialize(ctx); err != nil {
		return err
	}
	ct.settle(ctx)
	s.Phase(scenario.Prepare)
	r := ct.reader(checkTimeout, false)
	defer r.cl.Close()
	for _, check := range []func(context.Context, reader) error{
		ct.checkInitialIndex, ct.checkStatic, ct.checkForm, ct.checkInitial, ct.publish,
	} {
		if err := check(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

func (ct *contest) initialize(ctx context.Context) error {
	r := ct.reader(initializeTimeout, false)
	defer r.cl.Close()
	return r.do(ctx, &scenario.Request{Step: stepInitialize, Method: http.MethodPost, Path: "/initialize"}, func(res *scenario.Response) error {
		return scenario.WantStatus(res, http.StatusOK)
	})
}

// settle sends some requests at once and ignores their answers. A pool of database
// connections may hold some that a restart of the database has ended since the last
// run. The end of a load also leaves connections that were never used. For those,
// package database/sql learns only from a failed request that they have ended.
func (ct *contest) settle(ctx context.Context) {
	r := ct.reader(checkTimeout, false)
	defer r.cl.Close()
	var all sync.WaitGroup
	for range connections {
		all.Go(func() {
			res, _ := r.cl.Do(ctx, &scenario.Request{Step: stepForm, Path: "/post", Quiet: true}) // the checks see what lasts
			res.Release()
		})
	}
	all.Wait()
}

// checkInitialIndex checks the index and the sidebar of the initial data.
func (ct *contest) checkInitialIndex(ctx context.Context, r reader) error {
	articles := slices.Clone(initialArticles()[Articles-indexArticles:])
	slices.Reverse(articles)
	return r.index(ctx, func(p *blogPage) error {
		if len(p.articles) > 0 && p.articles[0].id != Articles {
			return p.wrong("initial-articles", "the newest article is %d, want %d", p.articles[0].id, Articles)
		}
		if err := p.checkIndex(articles); err != nil {
			return err
		}
		if want := initialSidebar(); !slices.Equal(p.sidebar, want) {
			return p.wrong("sidebar-order", "the sidebar links to %v, want %v", p.sidebar, want)
		}
		return nil
	})
}

// initialSidebar lists the articles with the newest initial comments.
func initialSidebar() []int {
	ids := latestCommented()
	return ids[:sidebarLinks]
}

// checkStatic checks all static files, with and without compression.
func (ct *contest) checkStatic(ctx context.Context, r reader) error {
	return ct.checkStaticIn(ctx, checkTimeout, ct.plan.checks)
}

// checkStaticIn checks all static files in a random order.
func (ct *contest) checkStaticIn(ctx context.Context, timeout time.Duration, rng *rand.Rand) error {
	list := statics()
	for _, i := range rng.Perm(2 * len(list)) {
		r, f := ct.reader(timeout, i%2 == 1), list[i/2]
		err := r.do(ctx, &scenario.Request{Step: stepOfStatic(f.path), Path: f.path}, func(res *scenario.Response) error {
			return verify.File(res, f.sum, false)
		})
		r.cl.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// checkForm checks the page on which articles are written.
func (ct *contest) checkForm(ctx context.Context, r reader) error {
	return r.page(ctx, stepForm, "/post", func(p *blogPage) error {
		form := p.root.First(dom.ByTag("form"))
		names := map[string]bool{}
		for _, tag := range []string{"input", "textarea"} {
			for _, field := range form.All(dom.ByTag(tag)) {
				names[field.Attr("name")] = true
			}
		}
		if !names["title"] || !names["body"] {
			return p.wrong("post-form", "the form has no fields title and body")
		}
		return nil
	})
}

// publish posts the article of the run and a comment on an old article, and checks
// one second later that every page shows them. It reads the pages directly before,
// so that every cache has a copy of them.
func (ct *contest) publish(ctx context.Context, r reader) error {
	rng, a := ct.plan.checks, ct.plan.article
	c := nextComment(rng, a.ID)
	c.Article = 1 + rng.IntN(Articles/2)
	other := 1 + Articles/2 + rng.IntN(Articles/2)
	none := func(*blogPage) error { return nil }
	err := all(
		func() error { return r.article(ctx, c.Article, none) },
		func() error { return r.index(ctx, none) },
		func() error { return r.article(ctx, other, none) },
	)
	if err == nil {
		err = r.form(ctx, stepPost, "/post", url.Values{"title": {a.Title}, "body": {a.Body}}.Encode())
	}
	if err == nil {
		err = r.comment(ctx, c)
	}
	if err != nil {
		return err
	}
	if !scenario.Sleep(ctx, freshWithin) {
		return ctx.Err()
	}
	if err := ct.checkPosted(ctx, r); err != nil {
		return err
	}
	return r.checkVisible(ctx, c, other)
}

// checkPosted checks that the index begins with the article of the run, whose id
// follows the last one, and the article's page.
func (ct *contest) checkPosted(ctx context.Context, r reader) error {
	a := ct.plan.article
	err := r.index(ctx, func(p *blogPage) error {
		if len(p.articles) == 0 || p.articles[0].id != a.ID {
			return p.wrong("article-id", "the newest article of the index is not number %d, which was posted %v ago", a.ID, freshWithin)
		}
		return p.checkIndex([]Article{a})
	})
	if err != nil {
		return err
	}
	return r.article(ctx, a.ID, func(p *blogPage) error {
		if err := p.checkArticle(a); err != nil {
			return err
		}
		return p.checkComments(nil)
	})
}

// checkInitial checks an article of the initial data and its comments.
func (ct *contest) checkInitial(ctx context.Context, r reader) error {
	a := initialArticles()[ct.plan.checks.IntN(Articles)]
	return r.article(ctx, a.ID, func(p *blogPage) error {
		if err := p.checkArticle(a); err != nil {
			return err
		}
		return p.checkComments(initialComments(a.ID))
	})
}
