// Package notify tells people what happened in a contest outside of its pages: by Web Push, by
// mail, and by webhooks.
//
//  1. [Service.Plan] reads the events that it has not read yet and writes a delivery for each
//     person and address, in one transaction with its place in the events: each event is
//     planned once (plan.go).
//  2. [Service.Send] claims what is due and sends it; a failure is tried again later and later,
//     for 24 hours (send.go). A crash between a send and its note sends once more, with the same
//     id: mail, browsers and receivers of webhooks show it once.
//  3. Channels are in push.go, mail.go and hook.go. Addresses are from outside: a webhook is
//     https at a public address, without redirects; a push endpoint is of a known service.
//
// The page is the truth: it shows every message whether or not it was delivered.
package notify
