package goldrush

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/iikanji/iikanji/arenas/goldrush/mine"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// conform checks every row of the API.
func (ct *contest) conform(ctx context.Context, s scenario.Session) error {
	c := newChecker(ct, s)
	for _, part := range []func(context.Context) error{c.golden, c.treasure, c.digs, c.coins, c.refusals, c.full10, c.busy, c.limits, c.chance, c.bell} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}

// all asks questions one after the other.
func (c *checker) all(ctx context.Context, questions []question) error {
	for _, q := range questions {
		if err := c.ask(ctx, q, nil); err != nil {
			return err
		}
	}
	return nil
}

// digs checks digs that fail. A dig is charged before its place is looked at: the licence has
// two left.
func (c *checker) digs(ctx context.Context) error {
	return c.all(ctx, []question{
		{check: "dig-depth", step: stepDig, body: digBody(0, goldenCell, 1), status: 422, code: 1001},
		{check: "dig-outside", step: stepDig, body: digBody(0, goldenCell, 11), status: 422, code: 1000},
		{check: "dig-charged", step: stepDig, body: digBody(0, goldenCell, 2), status: 403, code: 403},
		{check: "dig-license", step: stepDig, body: digBody(999, goldenCell, 2), status: 403, code: 403},
	})
}

// coins checks paid licences, and that a purchase is done as a whole or not at all. The
// account has the coins 0, 1 and 2. Each purchase takes an id, also one that fails.
func (c *checker) coins(ctx context.Context) error {
	buy := func(check, body string, id int) func() error {
		return func() error {
			return c.ask(ctx, question{check: check, step: stepLicense, body: body, status: 200}, license(check, mine.License{ID: id, Allowed: 5}))
		}
	}
	refused := func(check, body string) func() error {
		return func() error {
			return c.ask(ctx, question{check: check, step: stepLicense, body: body, status: 402, code: 402}, nil)
		}
	}
	for _, step := range []func() error{
		func() error { return c.balance(ctx, "balance", 2, 1, 0) },
		buy("license-paid", "[0]", 1),
		refused("coin-spent", "[0]"),
		refused("coin-unknown", "[1,999999]"),
		refused("coins-beyond", "[1,2,3]"),
		func() error { return c.balance(ctx, "coins-rollback", 2, 1) },
		buy("license-id", "[1]", 5),
		func() error { return c.balance(ctx, "balance-after", 2) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return c.all(ctx, []question{
		{check: "dig-nothing", step: stepDig, body: digBody(1, goldenDeep, 1), status: 404, code: 404},
		{check: "dig-advances", step: stepDig, body: digBody(1, goldenDeep, 2), status: 404, code: 404},
	})
}

// refusals checks what is wrong with a request itself.
func (c *checker) refusals(ctx context.Context) error {
	many := "[" + strings.Repeat("7,", 1000) + "8]"
	err := c.all(ctx, []question{
		{check: "json-malformed", step: stepExplore, body: "{", status: 400, code: 400},
		{check: "json-field", step: stepExplore, body: `{"posX":1,"posY":1,"other":1}`, status: 400, code: 400},
		{check: "json-type", step: stepDig, body: `{"licenseID":"1","posX":1,"posY":1,"depth":1}`, status: 400, code: 400},
		{check: "content-type", step: stepExplore, body: exploreBody(goldenCell), plain: true, status: 415, code: 415},
		{check: "field-missing", step: stepExplore, body: `{"posX":1}`, status: 422, code: 602},
		{check: "field-negative", step: stepExplore, body: `{"posX":-1,"posY":1}`, status: 422, code: 609},
		{check: "size-zero", step: stepExplore, body: `{"posX":1,"posY":1,"sizeX":0,"sizeY":1}`, status: 422, code: 609},
		{check: "size-missing", step: stepExplore, body: `{"posX":1,"posY":1}`, status: 422, code: 1000},
		{check: "explore-outside", step: stepExplore, body: `{"posX":3499,"posY":0,"sizeX":2,"sizeY":1}`, status: 422, code: 1000},
		{check: "depth-least", step: stepDig, body: `{"licenseID":1,"posX":1,"posY":1,"depth":0}`, status: 422, code: 609},
		{check: "depth-most", step: stepDig, body: `{"licenseID":1,"posX":1,"posY":1,"depth":101}`, status: 422, code: 608},
		{check: "coins-twice", step: stepLicense, body: "[2,2]", status: 422, code: 610},
		{check: "coins-many", step: stepLicense, body: many, status: 422, code: 611},
		{check: "path", step: stepOther, status: 404, code: 404},
		{check: "method", step: stepOther, path: "/balance", method: "PUT", status: 405, code: 405},
	})
	if err != nil {
		return err
	}
	return c.patiently(ctx, question{check: "cash-unreadable", step: stepCash, body: `"treasure"`, status: 500, code: 500}, []int{503}, nil)
}

// full10 asks for free licences until there are ten.
func (c *checker) full10(ctx context.Context) error {
	issued := 2 // by the checks before
	for range patience {
		got, err := c.crowd(ctx, question{check: "licenses-full", step: stepLicense, body: free}, 20, func(res *scenario.Response) error {
			switch res.Status {
			case 200:
				return nil
			case 409:
				return question{check: "licenses-full", status: 409, code: 1002}.compare(res)
			case 502, 504:
				return question{check: "license-fails", status: res.Status, code: res.Status}.compare(res)
			}
			return scenario.Wrong(res, "license-status", "status %d", res.Status)
		})
		if err != nil {
			return err
		}
		if issued += got[200]; issued > mine.Normal.Licenses {
			break
		}
		if got[409] > 0 {
			return c.patiently(ctx, question{check: "licenses-full", step: stepList, status: 200}, []int{502, 504}, func(res *scenario.Response) error {
				if n := strings.Count(string(res.Body), `"id"`); n != mine.Normal.Licenses {
					return scenario.Wrong(res, "licenses-full", "%d licences are active, want %d", n, mine.Normal.Licenses)
				}
				return nil
			})
		}
	}
	return scenario.Wrong(nil, "licenses-full", "no licence was refused: more than %d may be active", mine.Normal.Licenses)
}

// busy explores the whole field so often at once that some explorations take more than a
// second of the CPU.
func (c *checker) busy(ctx context.Context) error {
	whole := question{check: "explore-busy", step: stepExplore, body: exploreBody(goldenField)}
	got, err := c.crowd(ctx, whole, checkerConns, func(res *scenario.Response) error {
		if res.Status == 200 {
			return amount("explore-busy", goldenField, goldenAmount-1)(res)
		}
		return question{check: "explore-busy", status: 503, code: 503}.compare(res)
	})
	if err == nil && got[503] == 0 {
		err = scenario.Wrong(nil, "explore-busy", "%d explorations of the whole field at once, and none took too long", checkerConns)
	}
	return err
}

// limits asks for the balance faster than 100 times per second. On a machine that is too slow
// for that, nothing is checked.
func (c *checker) limits(ctx context.Context) error {
	const crowd, rounds, rate = 50, 8, 100
	began := time.Now()
	for round := range rounds {
		got, err := c.crowd(ctx, question{check: "rate-limit", step: stepBalance}, crowd, func(res *scenario.Response) error {
			if res.Status == 200 {
				return nil
			}
			return question{check: "rate-limit", status: 429, code: 429}.compare(res)
		})
		if err != nil || got[429] > 0 {
			return err
		}
		if sent := (round + 1) * crowd; float64(sent) > rate*(2+2*time.Since(began).Seconds()) {
			return scenario.Wrong(nil, "rate-limit", "%d requests for the balance in %v, and none was refused", sent, time.Since(began).Round(time.Millisecond))
		}
	}
	c.session.Say("the machine is too slow to reach the limit of requests for the balance: it was not checked")
	return nil
}

// chance checks failures by chance, in a world whose seed has them first.
func (c *checker) chance(ctx context.Context) error {
	if err := c.control.begin(ctx, mine.Config{Seed: unluckySeed(), Size: mine.Normal, Duration: contestTime}); err != nil {
		return err
	}
	c.client.Close() // its connections were those of the game before
	c = newChecker(c.contest, c.session)
	if err := c.ask(ctx, question{check: "cash-chance", step: stepCash, body: `"treasure"`, status: 503, code: 503}, nil); err != nil {
		return err
	}
	return c.ask(ctx, question{check: "license-timeout", step: stepLicense, body: free, status: 504, code: 504}, least("license-timeout", time.Second))
}

// bellTime is how long the game of the check of the end takes. The check waits that long, and
// up to 5 s more until the server refuses connections.
const bellTime = 300 * time.Millisecond

// bell checks the end of a game: its server refuses connections.
func (c *checker) bell(ctx context.Context) error {
	if err := c.control.begin(ctx, mine.Config{Seed: 1, Size: mine.Small, Duration: bellTime}); err != nil {
		return err
	}
	cl := c.session.NewClient(scenario.ClientOptions{BaseURL: c.here.Places().URL()})
	defer cl.Close()
	ask := func() error {
		res, err := cl.Do(ctx, &scenario.Request{Step: stepBalance, Path: "/balance", Quiet: true})
		res.Release()
		return err
	}
	if err := ask(); err != nil {
		return err
	}
	for end := time.Now().Add(bellTime + 5*time.Second); time.Now().Before(end); {
		if ask() != nil {
			r, err := c.control.report(ctx)
			if err != nil {
				return err
			}
			if !r.Ended {
				return scenario.Wrong(nil, "bell", "the server refuses connections before the bell, after %v", r.Elapsed)
			}
			return nil
		}
		if !scenario.Sleep(ctx, 20*time.Millisecond) {
			return fmt.Errorf("checking the end of a game: %w", context.Cause(ctx))
		}
	}
	return scenario.Wrong(nil, "bell", "the server answers after the bell")
}
