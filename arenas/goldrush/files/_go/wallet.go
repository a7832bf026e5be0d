package main

import "sync"

// walletMost is how many coins are kept for licences.
const walletMost = 1000

// A wallet holds coins that can be spent.
type wallet struct {
	mu    sync.Mutex
	coins []int
}

// put keeps coins, as far as there is room.
func (w *wallet) put(coins []int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.coins = append(w.coins, coins[:min(len(coins), max(0, walletMost-len(w.coins)))]...)
}

// take takes n coins out, or none if there are fewer.
func (w *wallet) take(n int) []int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.coins) < n {
		return nil
	}
	coins := append([]int(nil), w.coins[:n]...)
	w.coins = w.coins[n:]
	return coins
}
