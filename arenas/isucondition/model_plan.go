package isucondition

import (
	"fmt"
	"hash"
	"hash/fnv"
	"math/rand/v2"

	"github.com/iikanji/iikanji/internal/arena/kit/seeded"
)

// countSeed seeds the sequence of how many ISU the next user brings. It is no
// part of the run's seed: the size of the work is the same in every run.
const countSeed = 11

// Every twentieth ISU is registered without an image.
const bareEvery = 20

// A plan is the work that a seed offers: users in the order of their arrival,
// with their ISU. It is not safe for concurrent use.
type plan struct {
	counts *rand.Rand
	rng    *rand.Rand
	names  seeded.UserNames
	pool   int
	isus   int
	digest hash.Hash64
}

// A plannedUser is one user to come.
type plannedUser struct {
	id   string
	isus []plannedISU
}

type plannedISU struct {
	uuid, name string
	image      int // index in the pool; -1 is none
	character  int // index in Labels
}

// newPlan makes the plan of a generator. Names of the initial users are not given again.
func newPlan(rng *rand.Rand, data *Data) *plan {
	p := &plan{counts: rand.New(rand.NewPCG(countSeed, 0)), rng: rng, pool: len(data.Pool), digest: fnv.New64a()}
	for _, u := range data.Users {
		p.names.Take(u.ID)
	}
	for _, special := range []string{"isucon", "isucon1", "isucon2", "isucon3"} {
		p.names.Take(special)
	}
	return p
}

// next plans one more user with 1 to 9 ISU; an empty id gets a name.
func (p *plan) next(id string) plannedUser {
	if id == "" {
		id = p.names.Next(p.rng)
	}
	u := plannedUser{id: id}
	for range 1 + p.counts.IntN(9) {
		u.isus = append(u.isus, p.isu())
	}
	fmt.Fprintf(p.digest, "%s %v\n", u.id, u.isus)
	return u
}

// isu plans one ISU.
func (p *plan) isu() plannedISU {
	p.isus++
	i := plannedISU{uuid: seeded.UUID(p.rng), name: ISUName(p.rng), image: p.rng.IntN(p.pool), character: p.rng.IntN(Characters)}
	if p.isus%bareEvery == 0 {
		i.image = -1
	}
	return i
}

// sum is a digest of all that was planned so far, in 48 bits so that a float64
// holds it exactly.
func (p *plan) sum() float64 { return float64(p.digest.Sum64() >> 16) }
