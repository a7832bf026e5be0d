//go:build !race

package summary_test

// slowness is how many times slower than the product the tests may be.
const slowness = 1
