// Package webpush has the formats of Web Push: encrypted messages (RFC 8291) and the tokens of
// those who send them (RFC 8292).
//
//  1. [Seal] encrypts a message for a browser, [Open] decrypts it (crypt.go).
//  2. [Keys] sign a sender's tokens, [Check] checks one as a push service does (vapid.go).
//
// Both sides are here: the benchmark of xsuportal is a push service, the portal sends.
package webpush
