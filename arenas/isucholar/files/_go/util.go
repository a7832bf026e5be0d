package main

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"math"
	"time"
)

// crockford is the alphabet of ULIDs.
var crockford = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// newULID returns a new identifier of 26 characters: 48 bits of time in ms, then 80 random bits.
func newULID() string {
	// Base 32 encodes groups of 5 bits from the left: two leading zero bits make 128 bits 26 characters.
	var bits [16]byte
	binary.BigEndian.PutUint64(bits[:8], uint64(time.Now().UnixMilli())<<16)
	rand.Read(bits[6:])
	var shifted [17]byte
	for i, b := range bits {
		shifted[i] |= b >> 2
		shifted[i+1] = b << 6
	}
	return crockford.EncodeToString(shifted[:])[:26]
}

func average[T int | float64](values []T) float64 {
	if len(values) == 0 {
		return 0
	}
	return sum(values, func(v T) float64 { return float64(v) }) / float64(len(values))
}

// sum adds with Kahan's correction, so that the order of the values hardly matters.
func sum[T int | float64](values []T, of func(T) float64) float64 {
	total, lost := 0.0, 0.0
	for _, v := range values {
		y := of(v) - lost
		next := total + y
		lost = (next - total) - y
		total = next
	}
	return total
}

func largest[T int | float64](values []T) T {
	var found T
	for i, v := range values {
		if i == 0 || v > found {
			found = v
		}
	}
	return found
}

func smallest[T int | float64](values []T) T {
	var found T
	for i, v := range values {
		if i == 0 || v < found {
			found = v
		}
	}
	return found
}

// tScore is the deviation score of a value among the values: 50 is the average,
// 10 a standard deviation. It is 50 for values that are all equal, and for none.
func tScore[T int | float64](value T, values []T) float64 {
	if len(values) == 0 || largest(values) == smallest(values) {
		return 50
	}
	mean := average(values)
	squares := sum(values, func(v T) float64 { return (float64(v) - mean) * (float64(v) - mean) })
	deviation := math.Sqrt(squares / float64(len(values)))
	if deviation == 0 {
		return 50
	}
	return (float64(value)-mean)/deviation*10 + 50
}
