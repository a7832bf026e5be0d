package isublog

import (
	"context"
	"math/rand/v2"
	"net/url"
	"time"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

const (
	postEvery = time.Second
	// freshWithin is the age that an answer may have at most: the rule of the contest.
	freshWithin = time.Second
)

// comment posts a comment and notes it.
func (r reader) comment(ctx context.Context, c Comment) error {
	err := r.form(ctx, stepComment, "/comment/"+itoa(c.Article), url.Values{"name": {c.Name}, "body": {c.Body}}.Encode())
	if err == nil {
		r.ct.store(c)
	}
	return err
}

// checkVisible checks that a comment is on its page and its article in the sidebars
// of the index and of another article. Each page may fail once.
func (r reader) checkVisible(ctx context.Context, c Comment, other int) error {
	inSidebar := func(check string) func(*blogPage) error {
		return func(p *blogPage) error {
			for _, id := range p.sidebar {
				if id == c.Article {
					return nil
				}
			}
			return p.wrong(check, "article %d is not in the sidebar %v after its comment", c.Article, freshWithin)
		}
	}
	onPage := func(p *blogPage) error {
		if p.has(c) {
			return nil
		}
		return p.wrong("comment-missing", "the comment by %.30q is not among the %d of its page after %v", label(c.Name), len(p.comments), freshWithin)
	}
	return all(
		func() error { return r.twice(ctx, stepArticle, articlePath(c.Article), onPage) },
		func() error { return r.twice(ctx, stepIndex, "/", inSidebar("sidebar-index")) },
		func() error { return r.twice(ctx, stepArticle, articlePath(other), inSidebar("sidebar-article")) },
	)
}

// twice fetches a page, and once more if it did not come with status 200.
func (r reader) twice(ctx context.Context, step scenario.Step, path string, check func(*blogPage) error) error {
	res, err := r.cl.Do(ctx, &scenario.Request{Step: step, Path: path})
	if err != nil || res.Status != 200 {
		res.Release()
		return r.page(ctx, step, path, check)
	}
	defer res.Release()
	p, err := readPage(res)
	if err != nil {
		return err
	}
	return check(p)
}

// A poster posts comments under load.
type poster struct {
	ct  *contest
	r   reader
	rng *rand.Rand
}

func newPoster(ct *contest) *poster {
	return &poster{ct: ct, r: ct.reader(loadTimeout, false), rng: ct.plan.comments}
}

// post posts one comment and starts its check. The first comment that fails ends
// the run: one failure was enough in the contest too.
func (p *poster) post(ctx context.Context, _ time.Time) {
	c := nextComment(p.rng, p.ct.plan.article.ID)
	other := 1 + p.rng.IntN(c.Article)
	if err := p.r.comment(ctx, c); err != nil {
		p.ct.s.Fail(err)
		return
	}
	p.ct.posts.Add(1)
	p.ct.s.Go("verifier", func(ctx context.Context) {
		if !scenario.Sleep(ctx, freshWithin) {
			return
		}
		if err := p.r.checkVisible(ctx, c, other); err != nil {
			p.ct.s.Fail(err)
			return
		}
		p.ct.verified.Add(1)
	})
}
