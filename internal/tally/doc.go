// Package tally counts: durations in sketches, keys in bounded tables, and
// both as the rows of a Profile. It is what the readers' workers hold, one of
// each per worker, and what is merged when they are done.
//
// The rule of the room is that nothing depends on the order in which things
// were added, nor on how they were split over workers: counts, sums, squares,
// minima and maxima are exact integers, buckets add up, and a [Table] that is
// full keeps the same keys whoever counted them.
//
//   - [Sketch]: a histogram of durations, within 0.8 %;
//   - [Table]: key → anything, at most so many, the rest in one overflow;
//   - [Merge]: profiles of several hosts or hours into one.
package tally
