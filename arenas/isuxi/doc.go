// Package isuxi is the arena of the qualifier of ISUCON 5: a small social network, rendered
// as pages. Its users write diaries, comment on those of others, make friends, and see who
// has looked at their pages.
package isuxi
