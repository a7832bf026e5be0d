package pagegen

import "strconv"

const (
	// Buckets is how many links the pages of a plan with a table share. Pages of one
	// bucket are dropped together.
	Buckets = 100
	// Common is the link of pages that every write drops: all pages of a plan without a
	// table, and pages whose path has no id in the usual form.
	Common = "x"
)

// share is the part of the hash values that one bucket has: nginx's split_clients
// computes one percent in this way.
const share = 100 * 0xffffffff / 10000

// BucketOf is the bucket of a page's path: the same that nginx's split_clients finds for
// $uri with 99 buckets of 1 % and a last one.
func BucketOf(path string) string {
	return strconv.Itoa(min(int(murmur(path)/share), Buckets-1))
}

// murmur is MurmurHash2 with the seed 0.
func murmur(text string) uint32 {
	const m = 0x5bd1e995
	h := uint32(len(text))
	for ; len(text) >= 4; text = text[4:] {
		k := uint32(text[0]) | uint32(text[1])<<8 | uint32(text[2])<<16 | uint32(text[3])<<24
		k *= m
		k ^= k >> 24
		h = h*m ^ k*m
	}
	for i := len(text) - 1; i >= 0; i-- {
		h ^= uint32(text[i]) << (8 * i)
	}
	if len(text) > 0 {
		h *= m
	}
	h ^= h >> 13
	h *= m
	return h ^ h>>15
}
