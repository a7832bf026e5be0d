package main

import "sync"

// The field.
const (
	fieldX = 3500
	fieldY = 3500
	depths = 10
)

// A miner plays a game.
type miner struct {
	api    *api
	knobs  knobs
	wallet wallet
}

func newMiner(a *api, k knobs) *miner { return &miner{api: a, knobs: k} }

// run plays until the field is done, which takes longer than a game: the server ends it.
func (m *miner) run() {
	rows := make(chan int)
	var all sync.WaitGroup
	for range m.knobs.workers {
		all.Go(func() { m.work(rows) })
	}
	for x := range fieldX {
		rows <- x
	}
	close(rows)
	all.Wait()
}

// work looks at one row of cells after the other. It has a licence of its own.
func (m *miner) work(rows <-chan int) {
	l := &license{}
	for x := range rows {
		for y := 0; y < fieldY; y += m.knobs.area {
			m.strip(l, area{x, y, 1, min(m.knobs.area, fieldY-y)})
		}
	}
}

// strip explores a strip, and then its cells until all treasures are found.
func (m *miner) strip(l *license, at area) {
	left, _ := m.api.explore(at)
	if at.SizeY == 1 {
		m.dig(l, at.PosX, at.PosY, left)
		return
	}
	for y := at.PosY; y < at.PosY+at.SizeY && left > 0; y++ {
		n, _ := m.api.explore(area{at.PosX, y, 1, 1})
		m.dig(l, at.PosX, y, n)
		left -= n
	}
}

// dig digs a cell until as many treasures are found as it has.
func (m *miner) dig(l *license, x, y, amount int) {
	for depth := 1; depth <= depths && amount > 0; depth++ {
		for l.Used >= l.Allowed {
			*l = m.license()
		}
		treasure, _ := m.api.dig(l.ID, x, y, depth)
		l.Used++
		if treasure != "" {
			amount--
			m.cash(treasure, depth)
		}
	}
}

// license asks for a licence until there is one.
func (m *miner) license() license {
	for {
		if l, status := m.api.license(m.wallet.take(m.knobs.licenseCoins)); status == 200 {
			return l
		}
	}
}

// cash cashes a treasure if it is deep enough.
func (m *miner) cash(treasure string, depth int) {
	if depth < m.knobs.cashFrom {
		return
	}
	for range m.knobs.cashTries {
		if coins, status := m.api.cash(treasure); status == 200 {
			m.wallet.put(coins)
			return
		}
	}
}
