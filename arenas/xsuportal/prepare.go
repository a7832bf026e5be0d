package xsuportal

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/arenas/xsuportal/pb/services/admin"
	"github.com/iikanji/iikanji/internal/contest/arena/kit/prechecks"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

const (
	// checksTimeout limits all checks before the load.
	checksTimeout = 90 * time.Second
	// testWindow is the length of each phase of the contest of the checks.
	testWindow = 2 * time.Second
	// lateTries is how often the checks begin again, with a longer contest, because a phase
	// of it ended before what belongs to it.
	lateTries = 6
)

// errLate means that the contest of the checks went on before a check was done.
var errLate = errors.New("the contest of the checks went on too early")

// Prepare initializes the target with a short contest, checks its answers in each phase of it,
// and initializes it again with the contest of the load, which begins when Prepare returns.
func (ct *contest) Prepare(ctx context.Context, s scenario.Session) (err error) {
	ct.begin(s)
	push, err := newPushService(ct, ct.rules.push)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil || ct.noLoad {
			push.close()
		}
	}()
	ct.push = push
	window := ct.span(testWindow)
	initialize := func(ctx context.Context) error {
		ct.begin(s)
		return ct.initialize(ctx, testTimes(time.Now().Truncate(time.Microsecond), window))
	}
	err = prechecks.Run(ctx, s, checksTimeout, initialize, func(ctx context.Context) error {
		for try := 1; ; try++ {
			err := ct.check(ctx)
			if !errors.Is(err, errLate) {
				return err
			}
			if try == lateTries {
				return &scenario.Fault{Kind: iikanji.FaultTimeout, Step: -1, Check: "checks-late",
					Message: "the checks of a phase took longer than " + window.String() + ", also when repeated", Cause: err}
			}
			window *= 2
			if err := initialize(ctx); err != nil {
				return err
			}
		}
	})
	if err != nil {
		return err
	}
	ct.begin(s)
	s.Phase(scenario.Initialize)
	open := nextSecond(time.Now())
	if err := ct.initialize(ctx, ct.contestTimes(open, s.LoadTime())); err != nil {
		return err
	}
	scenario.Sleep(ctx, time.Until(open))
	return nil
}

// initialize calls POST /initialize.
func (ct *contest) initialize(ctx context.Context, t times) error {
	a := ct.browser()
	defer a.close()
	out := new(admin.InitializeResponse)
	in := &admin.InitializeRequest{Contest: t.message()}
	if err := a.call(ctx, stepInitialize, http.MethodPost, "/initialize", in, out); err != nil {
		return err
	}
	if out.GetLanguage() == "" {
		return wrong(stepInitialize, "initialize-language", "no language")
	}
	host, port := out.GetBenchmarkServer().GetHost(), out.GetBenchmarkServer().GetPort()
	if host == "" || port < 1 || port > 65535 {
		return wrong(stepInitialize, "initialize-queue", "the benchmark server is %.80q, port %d", host, port)
	}
	ct.times, ct.queue = t, "http://"+net.JoinHostPort(host, strconv.FormatInt(port, 10))
	ct.s.Say("initialized, an app in %.20s", out.GetLanguage())
	return nil
}
