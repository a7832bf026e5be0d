// Package isutrain is the arena of the final of ISUCON 9: seats of a bullet-train line.
// Users search trains, look at seats, reserve certain ones or any, pay through a payment
// service beside the app, and cancel.
package isutrain
