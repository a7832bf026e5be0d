package isucondition

import (
	"fmt"
	"hash"
	"hash/fnv"
	"math/rand/v2"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/seeded"
)

// countSeed seeds the number of ISU per user. It is independent of the run's seed,
// so that every run has the same amount of work.
const countSeed = 11

// bareEvery: one ISU in this many is registered without an image.
const bareEvery = 20

// An arrivals is the work that a seed offers: users in order of arrival, with their
// ISU. It is not safe for concurrent use.
type arrivals struct {
	counts *rand.Rand
	rng    *rand.Rand
	names  seeded.UserNames
	pool   int
	isus   int
	digest hash.Hash64
}

// A futureUser is a user who has not arrived yet.
type futureUser struct {
	id   string
	isus []futureISU
}

type futureISU struct {
	uuid, name string
	image      int // index in the pool; -1 means no image
	character  int // index in Labels
}

// newArrivals makes the arrivals for a random generator. It does not reuse the names of
// the initial users.
func newArrivals(rng *rand.Rand, data *Data) *arrivals {
	p := &arrivals{counts: rand.New(rand.NewPCG(countSeed, 0)), rng: rng, pool: len(data.Pool), digest: fnv.New64a()}
	for _, u := range data.Users {
		p.names.Take(u.ID)
	}
	for _, special := range []string{"isucon", "isucon1", "isucon2", "isucon3"} {
		p.names.Take(special)
	}
	return p
}

// next makes one more user with 1 to 9 ISU. If id is empty, the user gets a
// generated name.
func (p *arrivals) next(id string) futureUser {
	if id == "" {
		id = p.names.Next(p.rng)
	}
	u := futureUser{id: id}
	for range 1 + p.counts.IntN(9) {
		u.isus = append(u.isus, p.isu())
	}
	fmt.Fprintf(p.digest, "%s %v\n", u.id, u.isus)
	return u
}

// isu plans one ISU.
func (p *arrivals) isu() futureISU {
	p.isus++
	i := futureISU{uuid: seeded.UUID(p.rng), name: ISUName(p.rng), image: p.rng.IntN(p.pool), character: p.rng.IntN(Characters)}
	if p.isus%bareEvery == 0 {
		i.image = -1
	}
	return i
}

// sum is a digest of everything made so far, cut to 48 bits so that a float64
// holds it exactly.
func (p *arrivals) sum() float64 { return float64(p.digest.Sum64() >> 16) }
