package isuumo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/seeded"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

const (
	requestTimeout    = 2 * time.Second
	draftTimeout      = 5 * time.Second
	initializeTimeout = 30 * time.Second
)

// errBusy means that the target answered a user with 503. The rules count it
// neither as an error nor as progress.
var errBusy = errors.New("the target refused a user with 503")

// A browser is one simulated client.
type browser struct {
	ct    *contest
	cl    scenario.Client
	email string // for purchases and document requests
	// patient treats 503 as errBusy.
	patient bool
}

// browser opens a browser.
func (ct *contest) browser(o scenario.ClientOptions) *browser {
	o.Gzip = true
	return &browser{ct: ct, cl: ct.s.NewClient(o), email: "user@isuumo.example"}
}

// humanBrowsers are the names in the user agents of users.
var humanBrowsers = []string{"Chrome", "Firefox", "Safari", "Edge"}

// humanAgent draws the user agent of a user.
func humanAgent(rng *rand.Rand) string {
	return fmt.Sprintf("ISUCON %s %d.%d-%s", humanBrowsers[rng.IntN(len(humanBrowsers))], 70+rng.IntN(20), rng.IntN(10), seeded.UUID(rng))
}

func (b *browser) do(ctx context.Context, r *scenario.Request, check func(res *scenario.Response) error) error {
	res, err := b.cl.Do(ctx, r)
	if err != nil {
		return err
	}
	defer res.Release()
	if b.patient && res.Status == http.StatusServiceUnavailable {
		b.ct.refused.Add(1)
		return errBusy
	}
	return check(res)
}

func (b *browser) get(ctx context.Context, step scenario.Step, path string, check func(res *scenario.Response) error) error {
	return b.do(ctx, &scenario.Request{Step: step, Path: path}, check)
}

// postJSON sends a POST with a JSON body.
func (b *browser) postJSON(ctx context.Context, step scenario.Step, path string, body any, check func(res *scenario.Response) error) error {
	text, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("writing the body: %w", err)
	}
	return b.do(ctx, &scenario.Request{Step: step, Method: http.MethodPost, Path: path, ContentType: "application/json", Body: text}, check)
}

func idPath(base string, id int64) string { return base + strconv.FormatInt(id, 10) }

func (b *browser) chairLow(ctx context.Context) error {
	w, asked := b.ct.world, b.ct.world.now()
	return b.get(ctx, stepChairLow, "/api/chair/low_priced", func(res *scenario.Response) error { return w.checkChairLow(res, asked) })
}

func (b *browser) estateLow(ctx context.Context) error {
	return b.get(ctx, stepEstateLow, "/api/estate/low_priced", b.ct.world.checkEstateLow)
}

func (b *browser) chairConditions(ctx context.Context) error {
	return b.get(ctx, stepChairCondition, "/api/chair/search/condition", func(res *scenario.Response) error {
		return checkConditions(res, "chair-condition", b.ct.world.chairConditions)
	})
}

func (b *browser) estateConditions(ctx context.Context) error {
	return b.get(ctx, stepEstateCondition, "/api/estate/search/condition", func(res *scenario.Response) error {
		return checkConditions(res, "estate-condition", b.ct.world.estateConditions)
	})
}

func (b *browser) searchChairs(ctx context.Context, q *query) (p page, err error) {
	w, asked := b.ct.world, b.ct.world.now()
	err = b.get(ctx, stepChairSearch, q.path("/api/chair/search"), func(res *scenario.Response) (err error) {
		p, err = w.checkChairSearch(res, q, asked)
		return err
	})
	return p, err
}

func (b *browser) searchEstates(ctx context.Context, q *query) (p page, err error) {
	err = b.get(ctx, stepEstateSearch, q.path("/api/estate/search"), func(res *scenario.Response) (err error) {
		p, err = b.ct.world.checkEstateSearch(res, q)
		return err
	})
	return p, err
}

// chair reads a chair. found is false if it is sold out.
func (b *browser) chair(ctx context.Context, pos int32) (found bool, err error) {
	w, asked := b.ct.world, b.ct.world.now()
	err = b.get(ctx, stepChair, idPath("/api/chair/", w.chairs.ids[pos]), func(res *scenario.Response) (err error) {
		found, err = w.checkChair(res, pos, asked)
		return err
	})
	return found, err
}

func (b *browser) estate(ctx context.Context, pos int32) error {
	w := b.ct.world
	return b.get(ctx, stepEstate, idPath("/api/estate/", w.estates.ids[pos]), func(res *scenario.Response) error {
		return w.checkEstate(res, pos)
	})
}

func (b *browser) recommended(ctx context.Context, chair int32) (rows []int32, err error) {
	w := b.ct.world
	err = b.get(ctx, stepRecommended, idPath("/api/recommended_estate/", w.chairs.ids[chair]), func(res *scenario.Response) (err error) {
		rows, err = w.checkRecommended(res, chair)
		return err
	})
	return rows, err
}

func (b *browser) nazotte(ctx context.Context, p polygon) (rows []int32, err error) {
	err = b.postJSON(ctx, stepNazotte, "/api/estate/nazotte", wirePolygon(p), func(res *scenario.Response) (err error) {
		rows, err = b.ct.world.checkNazotte(res, p)
		return err
	})
	return rows, err
}

// A wireLine is the body of a polygon search.
type wireLine struct {
	Coordinates []wirePoint `json:"coordinates"`
}

type wirePoint struct {
	Latitude  float64 `json:"latitude"`
	Longitude float64 `json:"longitude"`
}

func wirePolygon(p polygon) wireLine {
	line := wireLine{make([]wirePoint, len(p))}
	for i, v := range p {
		line.Coordinates[i] = wirePoint{v.lat, v.lon}
	}
	return line
}

// A wireEmail is the body of a purchase and of a document request.
type wireEmail struct {
	Email string `json:"email"`
}

// buy buys a chair. done is false if the target refused because the chair was
// sold out, or if there was an error.
func (b *browser) buy(ctx context.Context, pos int32) (done bool, err error) {
	w := b.ct.world
	id := w.chairs.ids[pos]
	w.chairs.buying(pos)
	err = b.postJSON(ctx, stepBuy, idPath("/api/chair/buy/", id), wireEmail{b.email}, func(res *scenario.Response) error {
		if res.Status == http.StatusNotFound {
			if w.chairs.buyFailed(pos) {
				return scenario.Wrong(res, "buy-refused", "chair %d was in stock", id)
			}
			return nil
		}
		if err := scenario.WantStatus(res, http.StatusOK); err != nil {
			return err // the purchase may have happened
		}
		if done = true; w.chairs.buyDone(pos, w.now()) {
			return scenario.Wrong(res, "buy-oversold", "more of chair %d were sold than there were", id)
		}
		return nil
	})
	return done, err
}

func (b *browser) document(ctx context.Context, pos int32) error {
	return b.postJSON(ctx, stepDocument, idPath("/api/estate/req_doc/", b.ct.world.estates.ids[pos]), wireEmail{b.email},
		func(res *scenario.Response) error { return scenario.WantStatus(res, http.StatusOK) })
}

// together runs calls concurrently, waits for all, and returns the first error.
func together(calls ...func() error) error {
	errs := make([]error, len(calls))
	var wg sync.WaitGroup
	for i, call := range calls {
		wg.Go(func() { errs[i] = call() })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// inTurn runs calls one after another until one fails.
func inTurn(calls ...func() error) error {
	for _, call := range calls {
		if err := call(); err != nil {
			return err
		}
	}
	return nil
}
