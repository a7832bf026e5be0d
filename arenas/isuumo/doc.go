// Package isuumo is the arena of the ISUCON 10 qualifier: a search site for
// chairs, and for estates with a door that a chair fits through.
package isuumo
