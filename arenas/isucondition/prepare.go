package isucondition

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

const (
	initializeTimeout = 20 * time.Second
	checkTimeout      = 3 * time.Second // per request of the checks
	strangeEvery      = 20 * time.Millisecond
	strangeGrace      = time.Second // conditions posted before may still appear during this time
	// strangeTimeout is long because a post that the client abandoned could still be
	// in progress in the target when the ISU is registered, and would then rightly be
	// stored.
	strangeTimeout = 15 * time.Second
)

// Prepare initializes the target and checks that it is compatible.
func (ct *contest) Prepare(ctx context.Context, s scenario.Session) (err error) {
	if err := ct.begin(s); err != nil {
		return err
	}
	defer func() {
		if err != nil || ct.options.NoLoad {
			ct.jia.close()
		}
	}()
	s.Phase(scenario.Initialize) // set first, so that a run whose initialize fails names this phase
	old := ct.oldSession(ctx)
	defer old.close()
	if err := ct.initialize(ctx); err != nil {
		return err
	}
	s.Phase(scenario.Prepare)
	ct.clock = clock{origin: time.Now(), rate: ct.options.Clock}
	ct.jia.serve()
	if err := ct.compatible(ctx, old); err != nil {
		return ct.explained(err)
	}
	return nil
}

// explained adds a hint to the error of a check. Mistakes in the target's setup
// appear as answers that do not show the cause.
func (ct *contest) explained(err error) error {
	var f *scenario.Fault
	if !errors.As(err, &f) {
		return err
	}
	hint := ct.jia.hint()
	if hint == "" && f.Step == stepAuth && f.Kind == iikanji.FaultStatus {
		hint = "does the target have the public half of the key that signs our login tokens?"
	}
	if hint != "" {
		f.Message += "; " + hint
	}
	return err
}

// A session is a signed-in browser, or empty.
type session struct{ *browser }

func (o session) close() {
	if o.browser != nil {
		o.cl.Close()
	}
}

// oldSession signs up a user before the target is initialized; after that, the
// target must not know the user. The session is empty if the target cannot sign
// users in yet.
func (ct *contest) oldSession(ctx context.Context) session {
	b := ct.browser(checkTimeout)
	token, err := loginToken(ct.key, "before_initialize", time.Now())
	if err == nil {
		var res *scenario.Response
		res, err = b.cl.Do(ctx, &scenario.Request{Step: stepAuth, Method: http.MethodPost, Path: "/api/auth", Quiet: true,
			Header: []scenario.Field{{Name: "Authorization", Value: token}}})
		if err == nil && res.Status != http.StatusOK {
			err = errors.New("not yet")
		}
		res.Release()
	}
	if err != nil {
		b.cl.Close()
		return session{}
	}
	return session{b}
}

// initialize calls the target's POST /initialize.
func (ct *contest) initialize(ctx context.Context) error {
	body, err := json.Marshal(map[string]string{"jia_service_url": ct.jia.url})
	if err != nil {
		return fmt.Errorf("writing the body: %w", err)
	}
	b := ct.browser(initializeTimeout)
	defer b.cl.Close()
	return b.do(ctx, &scenario.Request{Step: stepInitialize, Method: http.MethodPost, Path: "/initialize",
		ContentType: "application/json", Body: body}, func(res *scenario.Response) error {
		var said struct {
			Language string `json:"language"`
		}
		if err := scenario.WantJSON(res, http.StatusOK, &said); err != nil {
			return err
		}
		if said.Language == "" {
			return scenario.Wrong(res, "initialize-language", "no language")
		}
		ct.s.Say("initialized, an app in %s", said.Language)
		return nil
	})
}

// compatible is the compatibility check. A target that fails it gets no load.
func (ct *contest) compatible(ctx context.Context, old session) error {
	if old.browser != nil {
		if err := old.meRefused(ctx, "session-stale"); err != nil {
			return err
		}
	}
	guests := ct.inviteGuests()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	hush := ct.strange(ctx, guests.unregistered)
	defer hush()

	checks := []func(ctx context.Context) error{ct.checkPages, ct.checkTrendOnce}
	// All initial users are checked. They are few, and a fault that only one user's
	// data shows must not depend on a random draw.
	for i := range ct.data.Users {
		checks = append(checks, func(ctx context.Context) error { return ct.checkOwner(ctx, ct.world.owners[i]) })
	}
	err := together(len(checks), func(i int) error { return checks[i](ctx) })
	if err != nil {
		return err
	}
	if err := ct.checkIrregular(ctx, ct.world.owners[0], ct.world.owners[1], checkTimeout, nil); err != nil {
		return err
	}
	return guests.check(ctx, hush)
}

// checkPages checks that every page path of the application returns the same
// single page.
func (ct *contest) checkPages(ctx context.Context) error {
	b := ct.browser(checkTimeout)
	defer b.cl.Close()
	uuid := ct.world.owners[0].list()[0].uuid
	for _, path := range []string{"/", "/register", "/isu/" + uuid, "/isu/" + uuid + "/condition", "/isu/" + uuid + "/graph"} {
		if err := b.landing(ctx, path); err != nil {
			return err
		}
	}
	return nil
}

// checkTrendOnce checks the trend of the initial data without a session.
func (ct *contest) checkTrendOnce(ctx context.Context) error {
	b := ct.browser(checkTimeout)
	defer b.cl.Close()
	for range 2 { // the second answer may come from a cache
		err := b.get(ctx, stepTrend, "/api/trend", func(res *scenario.Response) error { return checkTrendExact(res, ct.world) })
		if err != nil {
			return err
		}
	}
	return nil
}

// strange makes an unregistered ISU post until the returned function is called.
// That function waits until no post is in progress.
func (ct *contest) strange(ctx context.Context, c *chair) (hush func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	w := newWalk(ct.s.Rand("walk "+c.uuid), newestSlot(ct.clock.now()))
	cl := ct.s.NewClient(scenario.ClientOptions{MaxConns: 1, Timeout: strangeTimeout, UserAgent: posterAgent})
	go func() {
		defer close(done)
		defer cl.Close()
		for pause(ctx, strangeEvery) {
			var body []byte
			for i := range postBatch {
				ts, s := w.step()
				body = appendCondition(body, i, &utterances[c.character], ts, s)
			}
			// Without ctx's cancellation: a post that has begun is completed.
			res, err := cl.Do(context.WithoutCancel(ctx), &scenario.Request{Step: stepPost, Method: http.MethodPost,
				Path: "/api/condition/" + c.uuid, ContentType: "application/json", Body: append(body, ']'), Quiet: true})
			if err == nil {
				res.Release()
			}
		}
	}()
	return func() { cancel(); <-done }
}
