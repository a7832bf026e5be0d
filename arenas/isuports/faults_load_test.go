package isuports

import (
	"sync/atomic"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena/arenatest"
)

// loadFaults begin with the load.
var loadFaults = []arenatest.Fault{
	{Name: "load: every third upload fails", UnderLoad: true, Want: on(iikanji.FaultStatus, stepScore), Spoil: everyThird("POST", atScore)},
	{Name: "load: growth refused without a time", UnderLoad: true, Want: on(iikanji.FaultStatus, stepTenantAdd),
		Spoil: plain(arenatest.When("load", "POST", atTenantAdd, arenatest.Instead(429, "application/json", refused)))},
	{Name: "load: ends of competitions lost", UnderLoad: true, Want: by("competition-finished", "page-billing", "billing-report"),
		Spoil: plain(arenatest.When("load", "POST", atFinish, func(x *arenatest.Exchange, _ func()) { say(x, 200, `{"status":true}`) }))},
	{Name: "load: disqualified players may read", UnderLoad: true, Want: by("disqualified"),
		Spoil: plain(arenatest.When("load", "GET", atPlayerLists, arenatest.After(403, func(x *arenatest.Exchange) { say(x, 200, accepted) })))},
	{Name: "load: rankings kept", UnderLoad: true, Want: by("ranking-stale", "ranking-length", "ranking-ranks", "competition-finished"),
		Spoil: func() arenatest.Hook { return keeping("load", atRanking, time.Minute) }},
	{Name: "load: billing of a tenant kept", UnderLoad: true, Want: by("billing-competitions", "billing-report"),
		Spoil: func() arenatest.Hook { return keeping("load", atBilling, time.Minute) }},
	{Name: "load: admin's billing kept", UnderLoad: true, Want: by("tenants-page", "page-billing"),
		Spoil: func() arenatest.Hook { return keeping("load", atTenants, time.Minute) }},
}

// everyThird answers every third request of the load with an error.
func everyThird(method, pattern string) func() arenatest.Hook {
	return func() arenatest.Hook {
		var n atomic.Int64
		return arenatest.When("load", method, pattern, func(x *arenatest.Exchange, forward func()) {
			if n.Add(1)%3 == 0 {
				say(x, 503, refused)
				return
			}
			forward()
		})
	}
}

// appFaults break the app's source, where a proxy lacks what is necessary.
var appFaults = []arenatest.Fault{
	{Name: "app: upload without the lock", Want: by("ranking-torn"), Edits: []arenatest.Edit{
		{File: "go/score.go", Old: "	lock, err := lockTenant(v.tenant.ID)\n	if err != nil {\n		return err\n	}\n	defer lock.Close()\n", New: ""},
		// The rows are missing long enough that a reader meets the gap on every machine.
		{File: "go/score.go", Old: "	for _, row := range rows {\n		if _, err := tx.NamedExec", New: "	time.Sleep(100 * time.Millisecond)\n	for _, row := range rows {\n		if _, err := tx.NamedExec"},
	}},
}
