//go:build race

package summary_test

// slowness is how many times slower than the product the tests may be: the race
// detector costs an order of magnitude.
const slowness = 10
