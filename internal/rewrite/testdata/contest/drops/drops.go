// Package drops has constants that leave work out at random, and others.
package drops

import (
	"database/sql"
	"math/rand"
)

const dropped = 0.9

func share(do func()) {
	if rand.Float64() < dropped {
		return
	}
	do()
}

func percent(do func()) {
	if rand.Intn(100) < 80 {
		return
	}
	do()
}

func allButOne(do func()) {
	if rand.Intn(5) != 0 {
		return
	}
	do()
}

func sometimes(do func()) {
	if rand.Float64() < 0.1 {
		do()
	}
}

func oneOfTen(do func()) {
	if rand.Intn(10) == 0 {
		do()
	}
}

func all(do func()) {
	if rand.Float64() < 1.0 {
		return
	}
	do()
}

func pool(db *sql.DB) {
	db.SetMaxOpenConns(10)
	db.SetMaxIdleConns(3)
}
