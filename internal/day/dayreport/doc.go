// Package dayreport tells the day of a team from what it left behind, for the talk
// afterwards: who ran what and what the score was, what was edited between two runs, what
// each edit was worth where it was proven, how long nobody measured and how long people
// waited for each other, and which causes were left.
//
// It is pure: it reads a history and the states of its runs through functions of the
// caller, and asks no machine.
package dayreport
