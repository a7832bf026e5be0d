package xsuportal

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/seeded"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

type (
	// A plan is what the seed decides about a team.
	plan struct {
		number      int
		name, email string
		people      [members]person
		student     bool // all members are students
		asks        bool
		// Chances of a benchmark to fail at once, and late.
		fastFail, slowFail float64
		bloom              int // the benchmark from which on the team gets much better
	}

	person struct {
		id, password, name string
		student            bool
	}
)

// planOf draws the team of a number, from 1.
func planOf(s scenario.Session, number int) plan {
	r := s.Rand(fmt.Sprintf("team %d", number))
	p := plan{number: number, name: fmt.Sprintf("%s %d", teamName(r), number), email: fmt.Sprintf("team%d@example.com", number)}
	p.student = r.IntN(6) == 0
	for i := range p.people {
		p.people[i] = person{id: fmt.Sprintf("%s_%d", seeded.UserName(r, 0), number*members+i),
			password: fmt.Sprintf("%016x", r.Uint64()), name: seeded.UserName(r, 0)}
		p.people[i].student = p.student || i > 0 && r.IntN(10) == 0
		if number == 1 { // accounts that people know
			p.people[i].id = fmt.Sprintf("isucon%d", i+1)
			p.people[i].password = p.people[i].id
		}
	}
	p.asks = r.IntN(4) < 3
	p.fastFail, p.slowFail = 0.44*r.Float64(), 0.05+0.04*r.Float64()
	p.bloom = 10 + r.IntN(30)
	return p
}

// A run is what a virtual benchmark gives.
type run struct {
	raw, deduction int64
	passed         bool
	reason         string
}

// draw draws the benchmark of a number, from 0.
func (p *plan) draw(r *rand.Rand, number int) run {
	fails, late := r.Float64(), r.Float64()
	trend := 1000 + 40*float64(number)
	if number > p.bloom {
		since := float64(number - p.bloom)
		trend += 25 * since * since
	}
	raw := int64(trend * (0.9 + 0.2*r.Float64()))
	deducted := r.IntN(2) == 0
	switch {
	case fails < p.fastFail:
		return run{reason: "the compatibility check failed"}
	case late < p.slowFail:
		return run{reason: "the load failed"}
	case deducted:
		return run{raw, raw / 10, true, "passed with deductions"}
	}
	return run{raw, 0, true, "passed"}
}

func teamName(r *rand.Rand) string {
	return pick(r, colours) + " " + pick(r, animals)
}

func pick(r *rand.Rand, words []string) string { return words[r.IntN(len(words))] }

var (
	colours = []string{"Amber", "Black", "Blue", "Bright", "Bronze", "Calm", "Clear", "Cold", "Dark", "Deep", "Fast", "Fierce", "Golden",
		"Green", "Grey", "Happy", "Lazy", "Loud", "Lucky", "Mild", "Noisy", "Pale", "Quick", "Quiet", "Red", "Silver", "Slow", "Small",
		"Soft", "Tall", "Warm", "White", "Wild", "Wise", "Young"}
	animals = []string{"Badgers", "Bears", "Bees", "Cats", "Cranes", "Crows", "Deer", "Dolphins", "Ducks", "Eagles", "Foxes", "Frogs",
		"Geese", "Hares", "Hawks", "Herons", "Horses", "Lions", "Lynxes", "Moles", "Mules", "Otters", "Owls", "Oxen", "Pandas", "Quails",
		"Ravens", "Robins", "Seals", "Sharks", "Storks", "Swans", "Tigers", "Toads", "Trouts", "Whales", "Wolves", "Zebras"}
	topics = []string{"the proxy", "the database", "the queue", "the leaderboard", "the benchmarker", "the rules", "the score",
		"our first host", "our second host", "our third host", "the manual", "the deduction", "the freeze", "a restart", "the time"}
	problems = []string{"does not answer", "is slower than before", "shows another number", "was reset", "is not reachable",
		"differs from the manual", "fails once in three times", "takes more memory", "is out of date", "has no log"}
)

// questionText draws the text of a question, which no other one has.
func questionText(r *rand.Rand, number int) string {
	return fmt.Sprintf("%s %s, what can we do? (%d)", pick(r, topics), pick(r, problems), number)
}

func answerText(r *rand.Rand, number int) string {
	return fmt.Sprintf("See the section about %s; %s. (%d)", pick(r, topics), "the checks have the last word", number)
}

// Numbers of what the digest of the offered work covers.
const (
	digestTeams = 30
	digestRuns  = 20
)

// work returns a digest of the work that the seed offers: the teams, and their benchmarks.
func work(s scenario.Session) float64 {
	h := fnv.New32a()
	for number := range digestTeams {
		p := planOf(s, number+1)
		fmt.Fprintln(h, p)
		r := s.Rand("scores of " + p.name)
		for i := range digestRuns {
			fmt.Fprintln(h, p.draw(r, i))
		}
	}
	return float64(h.Sum32())
}
