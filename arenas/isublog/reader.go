package isublog

import (
	"context"
	"time"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// checkConns is the number of checks at once that a reader allows. Checks of a slow
// target overlap: four requests begin each second.
const checkConns = 64

// A reader fetches and checks answers.
type reader struct {
	ct *contest
	cl scenario.Client
}

func (ct *contest) reader(timeout time.Duration, gzip bool) reader {
	return reader{ct, ct.s.NewClient(scenario.ClientOptions{UserAgent: agent, Gzip: gzip, Timeout: timeout, MaxConns: checkConns})}
}

// do sends a request and checks its answer.
func (r reader) do(ctx context.Context, q *scenario.Request, check func(*scenario.Response) error) error {
	res, err := r.cl.Do(ctx, q)
	if err != nil {
		return err
	}
	defer res.Release()
	return check(res)
}

// page fetches and reads a page.
func (r reader) page(ctx context.Context, step scenario.Step, path string, check func(*blogPage) error) error {
	return r.do(ctx, &scenario.Request{Step: step, Path: path}, func(res *scenario.Response) error {
		p, err := readPage(res)
		if err != nil {
			return err
		}
		return check(p)
	})
}

func (r reader) index(ctx context.Context, check func(*blogPage) error) error {
	return r.page(ctx, stepIndex, "/", check)
}

func (r reader) article(ctx context.Context, id int, check func(*blogPage) error) error {
	return r.page(ctx, stepArticle, articlePath(id), check)
}

// form posts a form. Every status of success and every redirect is right.
func (r reader) form(ctx context.Context, step scenario.Step, path, body string) error {
	q := &scenario.Request{Step: step, Method: "POST", Path: path, ContentType: "application/x-www-form-urlencoded", Body: []byte(body)}
	return r.do(ctx, q, func(res *scenario.Response) error {
		if succeeded(res.Status) {
			return nil
		}
		return scenario.WantStatus(res, 302)
	})
}

// succeeded is the contest's rule for every status.
func succeeded(status int) bool { return status == 200 || status >= 300 && status < 400 }
