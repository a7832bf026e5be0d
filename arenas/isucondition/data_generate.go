package isucondition

import (
	"math/rand/v2"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/seeded"
)

const dataSeed = 2021

// A dataOwner is one line of the initial data set: a user, the number of ISUs, the
// number of conditions of each, and the time between conditions.
type dataOwner struct {
	user       string // "" means a random name
	isus       int
	conditions int
	spacing    time.Duration
	earlier    time.Duration // how much earlier than other users this user signed up
}

var dataOwners = []dataOwner{
	{user: "isucon1", isus: 5, conditions: 72, spacing: time.Hour, earlier: 3 * 24 * time.Hour},
	{user: "isucon2", isus: 20, conditions: 12, spacing: 30 * time.Minute},
	{isus: 1, conditions: 6, spacing: 10 * time.Minute},
	{isus: 1, conditions: 6, spacing: 10 * time.Minute},
	{isus: 1, conditions: 6, spacing: 10 * time.Minute},
}

// generateUsers makes the initial data. The result is the same at every call. The
// icons come from pool.
func generateUsers(pool []Image) []User {
	r := rand.New(rand.NewPCG(dataSeed, 0))
	var names seeded.UserNames
	users := make([]User, len(dataOwners))
	id := 0
	for i, p := range dataOwners {
		created := T0.Add(-time.Duration(r.Int64N(int64(T0.Sub(T0.AddDate(0, -6, 0)))))).Add(-p.earlier).Truncate(time.Microsecond)
		users[i] = User{ID: p.user, CreatedAt: created}
		if p.user == "" {
			users[i].ID = names.Next(r)
		}
		for range p.isus {
			id++
			users[i].ISUs = append(users[i].ISUs, generateISU(r, id, created.Add(time.Minute), p, pool))
		}
	}
	return users
}

// generateISU makes one ISU. The first ISUs have each character once, because the
// check of the trend requires every character.
func generateISU(r *rand.Rand, id int, created time.Time, p dataOwner, pool []Image) ISU {
	character := id - 1
	if character >= Characters {
		character = 0
	}
	isu := ISU{
		ID:        id,
		UUID:      seeded.UUID(r),
		Name:      ISUName(r),
		Image:     pool[r.IntN(len(pool))].MD5,
		Character: Labels[character],
		CreatedAt: created,
	}
	at := created.Add(time.Minute)
	var last *Condition
	for range p.conditions {
		isu.Conditions = append(isu.Conditions, nextCondition(r, last, character, at.Unix()))
		last = &isu.Conditions[len(isu.Conditions)-1]
		at = at.Add(p.spacing)
	}
	return isu
}

// nextCondition draws the condition that follows last; nil means that there is no
// earlier condition.
func nextCondition(r *rand.Rand, last *Condition, character int, at int64) Condition {
	one := func(in int) bool { return r.IntN(in) == 0 }
	c := Condition{Timestamp: at}
	if last != nil && last.IsSitting {
		c.IsSitting = !one(6)
	} else {
		c.IsSitting = one(3)
	}
	for _, flag := range []Flags{Dirty, Overweight, Broken} {
		odds := 4
		if last != nil && last.Flags&flag != 0 {
			odds = 2
		}
		if one(odds) {
			c.Flags |= flag
		}
	}
	c.Message = Message(character, c.Flags)
	return c
}
