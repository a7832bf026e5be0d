package mine

import "math/bits"

// walletMost is how many coins a wallet lists, and how many a licence may cost.
const walletMost = 1000

// A bank knows which coins are issued. Coins are numbers from 0.
type bank struct {
	issued  []uint64 // a bit for each coin
	total   int
	cursor  int // behind the newest coin
	balance int
}

func newBank(total int) *bank { return &bank{issued: make([]uint64, (total+63)/64), total: total} }

func (b *bank) has(coin int) bool {
	return coin >= 0 && coin < b.total && b.issued[coin/64]&(1<<(coin%64)) != 0
}

// earn issues n coins: the next free ones behind the newest. It returns nil if there are not
// so many left.
func (b *bank) earn(n int) []int {
	if b.balance+n > b.total {
		return nil
	}
	coins := make([]int, 0, n)
	for len(coins) < n {
		if !b.has(b.cursor) {
			b.issued[b.cursor/64] |= 1 << (b.cursor % 64)
			coins = append(coins, b.cursor)
		}
		b.cursor = (b.cursor + 1) % b.total
	}
	b.balance += n
	return coins
}

// spend takes coins back, all or none.
func (b *bank) spend(coins []int) bool {
	if len(coins) > b.balance {
		return false
	}
	for i, c := range coins {
		if !b.has(c) {
			for _, back := range coins[:i] {
				b.issued[back/64] |= 1 << (back % 64)
			}
			return false
		}
		b.issued[c/64] &^= 1 << (c % 64)
	}
	b.balance -= len(coins)
	return true
}

// wallet lists coins that are issued, the newest first, walletMost at most.
func (b *bank) wallet() []int {
	most := min(walletMost, b.balance)
	coins := make([]int, 0, most)
	for i := b.cursor; len(coins) < most; {
		if i == 0 {
			i = b.total
		}
		word := b.issued[(i-1)/64] & (^uint64(0) >> (63 - (i-1)%64))
		if word == 0 {
			i = (i - 1) / 64 * 64
			continue
		}
		i = (i-1)/64*64 + bits.Len64(word) - 1
		coins = append(coins, i)
	}
	return coins
}
