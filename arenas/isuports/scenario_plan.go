package isuports

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/seeded"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// A plan is what the seed decides before the load: which initial tenants the
// workers choose, and the tenants that may be added.
type plan struct {
	light   int64 // the popular tenant of the first seconds: 2 to 30
	cursor  int64 // of the page whose billing is watched: 41 to 71
	watched int64 // the tenant whose players are watched: 71 to 100

	rng   *rand.Rand
	names seeded.UserNames
	added int
}

func newPlan(s scenario.Session) *plan {
	r := s.Rand("plan")
	return &plan{light: 2 + r.Int64N(29), cursor: 41 + r.Int64N(31), watched: 71 + r.Int64N(30), rng: r}
}

// A tenantPlan is a tenant to be added.
type tenantPlan struct{ name, display string }

// tenant returns the next tenant. The number keeps its name apart from those of
// the initial data, which end in their ids.
func (p *plan) tenant() tenantPlan {
	name := p.names.Next(p.rng)
	p.added++
	_, display := tenantWords(p.rng)
	return tenantPlan{fmt.Sprintf("%s-%d", strings.ReplaceAll(name, "_", "-"), 1000+p.added), display}
}

// Numbers of what the digest of the offered work covers.
const (
	digestTenants = 50
	digestScores  = 50
)

// work returns a digest of the work that the seed offers: the chosen tenants, the
// tenants to be added, and the first scores of their competitions.
func work(s scenario.Session) float64 {
	h := fnv.New32a()
	p := newPlan(s)
	fmt.Fprintln(h, p.light, p.cursor, p.watched)
	for range digestTenants {
		t := p.tenant()
		fmt.Fprintln(h, t.name, t.display)
		r := organizerRand(s, t.name)
		for range digestScores {
			fmt.Fprintln(h, r.IntN(scoreLimit))
		}
	}
	return float64(h.Sum32())
}

// organizerRand returns the source of what an organizer does.
func organizerRand(s scenario.Session, tenant string) *rand.Rand {
	return s.Rand("organizer of " + tenant)
}
