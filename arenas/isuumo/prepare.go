package isuumo

import (
	"context"
	"net/http"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/prechecks"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// User agents of the phases before the load. A rule against bots must let them
// pass.
const (
	initializeAgent = "isucon-initialize"
	verifyAgent     = "isucon-verify"
)

// verifyTime limits the whole verification.
const verifyTime = 10 * time.Second

// Prepare initializes the target and verifies its answers.
func (ct *contest) Prepare(ctx context.Context, s scenario.Session) error {
	ct.s, ct.world = s, newWorld(ct.data, chairConditions(), estateConditions())
	return prechecks.Run(ctx, s, verifyTime, ct.initialize, func(ctx context.Context) error {
		return inTurn(
			func() error { return ct.verifyAnswers(ctx) },
			func() error { return ct.verifyPosts(ctx) },
			func() error { return ct.verifyPurchase(ctx) },
		)
	})
}

// initialize calls the target's POST /initialize.
func (ct *contest) initialize(ctx context.Context) error {
	b := ct.browser(scenario.ClientOptions{UserAgent: initializeAgent, Timeout: initializeTimeout})
	defer b.cl.Close()
	return b.do(ctx, &scenario.Request{Step: stepInitialize, Method: http.MethodPost, Path: "/initialize"}, func(res *scenario.Response) error {
		var answer struct {
			Language string `json:"language"`
		}
		if err := scenario.WantJSON(res, http.StatusOK, &answer); err != nil {
			return err
		}
		if answer.Language == "" {
			return scenario.Wrong(res, "initialize-language", "no language")
		}
		ct.s.Say("initialized, an app in %s", answer.Language)
		return nil
	})
}

// verifier opens a browser of the verification.
func (ct *contest) verifier(timeout time.Duration) *browser {
	return ct.browser(scenario.ClientOptions{UserAgent: verifyAgent, Timeout: timeout})
}
