// Package tally counts: durations in sketches, keys in bounded tables, and both
// as the rows of a Profile. Each worker of a log reader holds its own sketches
// and tables; they are merged at the end.
//
// No result depends on the order of additions or on how the input was divided
// among workers: counts, sums, squares, minima and maxima are exact integers,
// buckets add up, and a full [Table] keeps the same keys in every case.
//
//   - [Sketch]: a histogram of durations, within 0.8 %;
//   - [Table]: key → value, with a limit of keys, the rest in one overflow value;
//   - [Merge]: joins profiles of several hosts or hours.
package tally
