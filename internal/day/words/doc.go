// Package words reads what a benchmarker prints: its lines become groups that differ in their
// numbers only, with a count, times, the route that they name and what they mean. It is pure.
//
//  1. A line loses colours, wide digits, the time and the level of a log (line.go).
//  2. The rules of the site's file decide first what it means, then the table of the words
//     that benchmarkers use in English and Japanese (meanings.go).
//  3. Lines with the same meaning, route and template are one message (read.go).
package words
