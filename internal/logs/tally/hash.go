package tally

import (
	"encoding/binary"
	"math/bits"
)

const (
	hashK0 = 0x9e3779b97f4a7c15
	hashK1 = 0xd6e8feb86659fd93
	hashK2 = 0xa0761d6478bd642f
)

// Mix combines a hash and a value.
func Mix(h, v uint64) uint64 {
	hi, lo := bits.Mul64(h^hashK0, v^hashK1)
	return hi ^ lo
}

// Hash is a fast hash of bytes like wyhash: multiply 64×64 to 128 bits and
// fold. It gives the same result on every machine and in every run, so that
// results that depend on it (the keys that a full Table keeps) can be repeated.
// A secret seed protects against keys made to collide.
func Hash(b []byte, seed uint64) uint64 {
	n := len(b)
	var x, y uint64
	switch {
	case n > 16:
		return hashLong(b, seed)
	case n >= 8:
		x, y = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[n-8:])
	case n >= 4:
		x, y = uint64(binary.LittleEndian.Uint32(b)), uint64(binary.LittleEndian.Uint32(b[n-4:]))
	case n > 0:
		x = uint64(b[0])<<16 | uint64(b[n>>1])<<8 | uint64(b[n-1])
	}
	return Mix(Mix(x^seed, y^hashK2), uint64(n)^seed)
}

func hashLong(b []byte, seed uint64) uint64 {
	n := len(b)
	h := seed
	for i := 0; i+16 < n; i += 16 {
		h = Mix(h^binary.LittleEndian.Uint64(b[i:]), binary.LittleEndian.Uint64(b[i+8:])^hashK2)
	}
	tail := b[n-16:] // may overlap the bytes mixed before
	h = Mix(h^binary.LittleEndian.Uint64(tail), binary.LittleEndian.Uint64(tail[8:])^hashK2)
	return Mix(h, uint64(n)^seed)
}
