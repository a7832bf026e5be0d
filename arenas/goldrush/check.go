package goldrush

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/iikanji/iikanji/arenas/goldrush/mine"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// The steps: one for each operation.
const (
	stepHealth scenario.Step = iota
	stepBalance
	stepList
	stepLicense
	stepExplore
	stepDig
	stepCash
	stepOther
)

var stepNames = []string{"GET /health-check", "GET /balance", "GET /licenses", "POST /licenses", "POST /explore", "POST /dig", "POST /cash", "other"}

// A question is a request with what must come of it.
type question struct {
	check  string // name of the check
	step   scenario.Step
	method string // POST where empty and there is a body, else GET
	path   string // of the step where empty
	body   string
	plain  bool // no type of the content
	status int  // 0 is for any
	code   int  // of a refusal; 0 is for none
}

// stepPaths are the paths of the operations.
var stepPaths = []string{"/health-check", "/balance", "/licenses", "/licenses", "/explore", "/dig", "/cash", "/other"}

// A checker asks a server questions.
type checker struct {
	*contest
	session scenario.Session
	client  scenario.Client
}

// checkerConns is the number of connections of the checker: more explorations of the whole
// field at once than are done within a second.
const checkerConns = 170

func newChecker(ct *contest, s scenario.Session) *checker {
	return &checker{ct, s, s.NewClient(scenario.ClientOptions{UserAgent: "iikanji", MaxConns: checkerConns})}
}

// ask sends a question and checks the answer. more looks further at an answer with the right
// status; it may be nil.
func (c *checker) ask(ctx context.Context, q question, more func(res *scenario.Response) error) error {
	res, err := c.client.Do(ctx, q.request())
	if err != nil {
		return err
	}
	defer res.Release()
	if err := q.compare(res); err != nil || more == nil {
		return err
	}
	return more(res)
}

// request makes the request of a question.
func (q question) request() *scenario.Request {
	r := &scenario.Request{Step: q.step, Method: q.method, Path: q.path, Body: []byte(q.body)}
	if r.Method == "" && q.body != "" {
		r.Method = http.MethodPost
	}
	if r.Path == "" {
		r.Path = stepPaths[q.step]
	}
	if q.body != "" && !q.plain {
		r.ContentType = "application/json"
	}
	return r
}

// compare checks status and code.
func (q question) compare(res *scenario.Response) error {
	if q.status != 0 && res.Status != q.status {
		return scenario.Wrong(res, q.check, "status %d, want %d", res.Status, q.status)
	}
	if q.code == 0 {
		return nil
	}
	var got struct {
		Code    int
		Message string
	}
	if err := json.Unmarshal(res.Body, &got); err != nil || got.Code != q.code || got.Message == "" {
		return scenario.Wrong(res, q.check, "want the code %d and a message", q.code)
	}
	return nil
}

// is returns a check of the whole answer as JSON.
func is[T any](check string, want T, equal func(a, b T) bool) func(res *scenario.Response) error {
	return func(res *scenario.Response) error {
		var got T
		if err := json.Unmarshal(res.Body, &got); err != nil || !equal(got, want) {
			return scenario.Wrong(res, check, "want %v", want)
		}
		return nil
	}
}

func same[T comparable](a, b T) bool { return a == b }

// amount checks the answer to an exploration.
func amount(check string, area mine.Area, n int) func(res *scenario.Response) error {
	type explored struct {
		Area   mine.Area
		Amount int
	}
	return is(check, explored{area, n}, same)
}

// patiently asks until the status is not one of those that come by chance.
func (c *checker) patiently(ctx context.Context, q question, chance []int, more func(res *scenario.Response) error) error {
	for range patience {
		again := errors.New("by chance")
		any := q
		any.status, any.code = 0, 0
		err := c.ask(ctx, any, func(res *scenario.Response) error {
			if slices.Contains(chance, res.Status) {
				return again
			}
			if err := q.compare(res); err != nil || more == nil {
				return err
			}
			return more(res)
		})
		if !errors.Is(err, again) {
			return err
		}
	}
	return scenario.Wrong(nil, q.check, "%d answers with a status of %v, one after the other", patience, chance)
}

// patience is how often a request is repeated that fails by chance: 60 % of the requests do
// so at most, and 40 in a row in one of 10⁸ runs.
const patience = 40

// crowd sends a question n times at once, and counts the statuses.
func (c *checker) crowd(ctx context.Context, q question, n int, more func(res *scenario.Response) error) (map[int]int, error) {
	var mu sync.Mutex
	var all sync.WaitGroup
	got, errs := map[int]int{}, []error{}
	for range n {
		all.Go(func() {
			err := c.ask(ctx, q, func(res *scenario.Response) error {
				mu.Lock()
				got[res.Status]++
				mu.Unlock()
				if more == nil {
					return nil
				}
				return more(res)
			})
			mu.Lock()
			errs = append(errs, err)
			mu.Unlock()
		})
	}
	all.Wait()
	return got, errors.Join(errs...)
}

// costs asks until an answer takes as long as its ticks do. Ticks that were stored come at
// once, and so do those of a server that runs late: one of a few answers must take its time.
func (c *checker) costs(ctx context.Context, q question, ticks int) error {
	const tries = 8
	long := time.Duration(ticks-mine.Buffer) * time.Second / mine.TicksPerSecond
	longest := time.Duration(0)
	for range tries {
		err := c.patiently(ctx, q, []int{503}, func(res *scenario.Response) error {
			longest = max(longest, res.Took)
			return nil
		})
		if err != nil || longest >= long {
			return err
		}
	}
	return scenario.Wrong(nil, q.check, "%d answers of %s within %v, it takes %v at least", tries, stepNames[q.step], longest, long)
}

// least checks how long an answer took.
func least(check string, d time.Duration) func(res *scenario.Response) error {
	return func(res *scenario.Response) error {
		if res.Took < d {
			return scenario.Wrong(res, check, "answered after %v, it takes %v at least", res.Took, d)
		}
		return nil
	}
}
