package topology

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	_ "github.com/iikanji/iikanji/internal/change/ddl"
	_ "github.com/iikanji/iikanji/internal/change/nginxconf"
	_ "github.com/iikanji/iikanji/internal/change/unit"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// seedName is the environment variable with the seed of the cuts.
const seedName = "IIKANJI_SEED"

// cutPlan is a plan whose ops are cut, with the changes that must be in force before it.
type cutPlan struct {
	name   string
	before []iikanji.Remedy
	remedy iikanji.Remedy
	cuts   int
}

// remedyOf is one with these arguments.
func remedyOf(kind, target string, args map[string]string) iikanji.Remedy {
	return iikanji.Remedy{Kind: kind, Target: target, Args: args}
}

// cutPlans are those of a site of two hosts: 60 cuts.
func cutPlans() []cutPlan {
	spread, toSpread := spreading("step", "prepare"), spreading("step", "switch")
	shares := remedyOf("topology", "isu-go", map[string]string{"act": "weights", "service": "isu-go", "weights": "web=1,db=4"})
	return []cutPlan{
		{"a unit", nil, remedyOf("unit", "host:db", map[string]string{"act": "dropin", "unit": "mariadb.service", "LimitNOFILE": "65536"}), 5},
		{"environment", nil, remedyOf("unit", "isu-go", map[string]string{"act": "dropin", "unit": "isu-go.service", "env.GOGC": "400"}), 4},
		{"nginx", nil, remedyOf("nginxconf", "nginx", map[string]string{"act": "upstream keepalive", "keepalive": "16"}), 4},
		{"an index", nil, remedyOf("ddl", "mariadb", map[string]string{"act": "add index", "schema": "shop", "table": "item", "columns": "id, name(8)", "name": "wide"}), 4},
		{"move by copy", nil, move("step", "prepare", "method", "copy"), 8},
		{"move by dump", nil, move("step", "prepare", "method", "dump"), 8},
		{"move's switch", []iikanji.Remedy{move("step", "prepare")}, move("step", "switch"), 8},
		{"a cache", nil, movingCache("redis", "step", "prepare"), 3},
		{"a cache's switch", []iikanji.Remedy{movingCache("redis", "step", "prepare")}, movingCache("redis", "step", "switch"), 6},
		{"spread", nil, spread, 5},
		{"spread's switch", []iikanji.Remedy{spread}, toSpread, 3},
		{"weights", []iikanji.Remedy{spread, toSpread}, shares, 2},
	}
}

// TestSeededCuts cuts the connection sixty times, at ops, moments and by ways that a seed
// chooses: after recover both hosts are as before each, to the byte. A seed of your own:
// IIKANJI_SEED=7 IIKANJI_SOAK=1 go test -run TestSeededCuts ./internal/change/topology
func TestSeededCuts(t *testing.T) {
	tier.Long(t, "sixty cuts take minutes; every check makes some thirty of TestCuts, TestSpreadCuts, TestMoveCacheCuts and TestMoveByDumpCuts")
	seed := uint64(36)
	if text := os.Getenv(seedName); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed = n
	}
	t.Logf("%s=%d", seedName, seed)
	c := newCaches(t, "nginx")
	c.now = func() string { return c.cacheState() + c.spreadState() }
	n, want, all := 0, 0, 0
	for i, p := range cutPlans() {
		all += p.cuts
		t.Run(p.name, func(t *testing.T) {
			defer func(all *testing.T) { c.t = all }(c.t)
			c.t, c.open = t, c.spreadSite
			if p.remedy.Target == "redis" {
				c.open = func() *change.Site {
					s := c.spreadSite()
					c.addCaches(s)
					return s
				}
			}
			want += p.cuts
			n += c.cutSome(p, rand.New(rand.NewPCG(seed, uint64(i))))
		})
	}
	if t.Logf("%d cuts", n); n != want || all != 60 {
		t.Errorf("%d cuts, want %d of %d", n, want, all)
	}
}

// cutSome makes the cuts of a plan, each at another moment of it where it has so many.
func (c *contest) cutSome(p cutPlan, random *rand.Rand) (n int) {
	c.t.Helper()
	s := c.open()
	x, h := c.executor(s)
	var under []iikanji.ChangeID
	for _, r := range p.before {
		ch := c.plan(s, h, r)
		if err := x.Apply(c.t.Context(), ch.ID); err != nil {
			c.t.Fatal(err)
		}
		under = append(under, ch.ID)
	}
	before := c.now()
	ch, err := change.Plan(c.t.Context(), c.open(), p.remedy)
	if err != nil {
		c.t.Fatal(err)
	}
	all := everyCut(ch)
	for i, at := range random.Perm(len(all)) {
		if i == p.cuts {
			break
		}
		n++
		if !c.t.Run(fmt.Sprintf("%d %s", n, all[at]), func(t *testing.T) { c.cutOnce(t, p.remedy, all[at], before) }) {
			return n
		}
	}
	for i := len(under) - 1; i >= 0; i-- {
		err = errors.Join(err, x.Revert(c.t.Context(), under[i], "test"))
	}
	if err != nil {
		c.t.Fatal(err)
	}
	return n
}

// everyCut are the cuts of a change, by each way and with and without the host's return.
func everyCut(c *iikanji.Change) (all []cut) {
	for _, one := range cuts(c) {
		for _, how := range ways {
			for _, back := range []bool{false, true} {
				one.how, one.back = how, back
				all = append(all, one)
			}
		}
	}
	return all
}
