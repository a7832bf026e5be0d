package goldrush

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/iikanji/iikanji/arenas/goldrush/mine"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// goldenGame is the game of the golden values, which were taken from the contest's server.
var goldenGame = mine.Config{Seed: 3, Size: mine.Normal, Duration: contestTime}

// Golden values of its world: places of treasures, and how many there are in all.
var (
	goldenCell  = mine.Area{PosX: 1247, PosY: 1366, SizeX: 1, SizeY: 1} // at depth 1
	goldenDeep  = mine.Area{PosX: 1350, PosY: 777, SizeX: 1, SizeY: 1}  // at depth 10
	goldenField = mine.Area{SizeX: 3500, SizeY: 3500}
)

const goldenAmount = 490_000 - 913

func exploreBody(a mine.Area) string {
	return fmt.Sprintf(`{"posX":%d,"posY":%d,"sizeX":%d,"sizeY":%d}`, a.PosX, a.PosY, a.SizeX, a.SizeY)
}

func digBody(license int, a mine.Area, depth int) string {
	return fmt.Sprintf(`{"licenseID":%d,"posX":%d,"posY":%d,"depth":%d}`, license, a.PosX, a.PosY, depth)
}

// golden checks the world, with three requests.
func (c *checker) golden(ctx context.Context) error {
	err := c.ask(ctx, question{check: "health", step: stepHealth, status: 200}, func(res *scenario.Response) error {
		if !json.Valid(res.Body) {
			return scenario.Wrong(res, "health", "the body is not JSON")
		}
		return nil
	})
	if err != nil {
		return err
	}
	whole := question{check: "golden-field", step: stepExplore, body: exploreBody(goldenField), status: 200}
	if err := c.ask(ctx, whole, amount("golden-field", goldenField, goldenAmount)); err != nil {
		return err
	}
	whole.check = "explore-ticks"
	if err := c.costs(ctx, whole, mine.ExploreTicks(goldenField.SizeX*goldenField.SizeY)); err != nil {
		return err
	}
	return c.ask(ctx, question{check: "golden-cell", step: stepExplore, body: exploreBody(goldenCell), status: 200}, amount("golden-cell", goldenCell, 1))
}

// license is the answer to a request for a licence.
func license(check string, want mine.License) func(res *scenario.Response) error {
	return is(check, want, same)
}

// Bodies of licence requests.
const free = "[]"

// treasure is the life of the golden treasure: licence, dig, cash, coins.
func (c *checker) treasure(ctx context.Context) error {
	var id string
	steps := []func() error{
		func() error {
			return c.ask(ctx, question{check: "license-fails", step: stepLicense, body: free, status: 502, code: 502}, nil)
		},
		func() error {
			return c.ask(ctx, question{check: "golden-license", step: stepLicense, body: free, status: 200}, license("golden-license", mine.License{ID: 0, Allowed: 3}))
		},
		func() error {
			return c.ask(ctx, question{check: "golden-dig", step: stepDig, body: digBody(0, goldenCell, 1), status: 200}, oneText("golden-dig", &id))
		},
		func() error {
			return c.ask(ctx, question{check: "explore-dug", step: stepExplore, body: exploreBody(goldenCell), status: 200}, amount("explore-dug", goldenCell, 0))
		},
		func() error {
			return c.patiently(ctx, question{check: "license-list", step: stepList, status: 200}, []int{502, 504},
				is("license-list", []mine.License{{ID: 0, Allowed: 3, Used: 1}}, slices.Equal))
		},
		func() error { return c.cash(ctx, id) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// oneText reads a list with one text.
func oneText(check string, into *string) func(res *scenario.Response) error {
	return func(res *scenario.Response) error {
		var list []string
		if err := json.Unmarshal(res.Body, &list); err != nil || len(list) != 1 || list[0] == "" {
			return scenario.Wrong(res, check, "want a list of one treasure")
		}
		*into = list[0]
		return nil
	}
}

// cash cashes the golden treasure, twice.
func (c *checker) cash(ctx context.Context, id string) error {
	body, err := json.Marshal(id)
	if err != nil {
		return err
	}
	q := question{check: "golden-cash", step: stepCash, body: string(body), status: 200}
	if err := c.patiently(ctx, q, []int{503}, is("golden-cash", []int{0, 1, 2}, slices.Equal)); err != nil {
		return err
	}
	q.check, q.status, q.code = "cash-again", 404, 404
	if err := c.patiently(ctx, q, []int{503}, nil); err != nil {
		return err
	}
	q.check = "cash-ticks" // a second time costs the same
	return c.costs(ctx, q, mine.CashTicks)
}

// balance checks the account.
func (c *checker) balance(ctx context.Context, check string, wallet ...int) error {
	return c.ask(ctx, question{check: check, step: stepBalance, status: 200}, is(check, mine.Balance{Balance: len(wallet), Wallet: wallet},
		func(a, b mine.Balance) bool { return a.Balance == b.Balance && slices.Equal(a.Wallet, b.Wallet) }))
}
