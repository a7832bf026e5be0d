package worker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/contest"
)

const (
	// shadowLimit bounds all requests after a run: the lease goes on without a heartbeat.
	shadowLimit = 6 * time.Second
	shadowTimes = 3 // of each visitor, for each page
	// visitorAgent is a browser that many people have.
	visitorAgent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
)

// shadow asks the pages that the problem names as the benchmarker and as a browser, in turn, and
// names those that the site answers differently. The requests are for pages that anyone may read,
// without cookies.
func (w *Worker) shadow(ctx context.Context, a *api.Assignment, outcome iikanji.Outcome) (differ []string) {
	s := a.Problem.Shadow
	if len(s.Pages) == 0 || outcome != iikanji.Passed {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, shadowLimit)
	defer cancel()
	for _, page := range s.Pages {
		var benchmarker, visitor []contest.Visit
		for range shadowTimes {
			benchmarker = append(benchmarker, visit(ctx, a.Target, page, s.Agent))
			visitor = append(visitor, visit(ctx, a.Target, page, visitorAgent))
		}
		if contest.Differs(benchmarker, visitor) {
			differ = append(differ, page)
		}
	}
	return differ
}

// visit asks one page. A redirect is an answer, too; it is not followed.
func visit(ctx context.Context, target, page, agent string) contest.Visit {
	a, err := get(ctx, strings.TrimSuffix(target, "/")+page, agent)
	if err != nil {
		return contest.Visit{}
	}
	sum := sha256.Sum256(a.text)
	return contest.Visit{Status: a.status, Digest: hex.EncodeToString(sum[:])}
}
