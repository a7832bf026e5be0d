// Package redact removes secrets and data of users from what leaves the machine:
// saved profiles, reports, exports, collected files, questions to proposers.
//
//  1. Text removes what looks like a secret from any text: passwords, tokens, keys,
//     credentials in addresses, addresses of e-mail.
//  2. Statement replaces literals of a SQL statement: those that may be secrets,
//     or all. Prose does it for a sentence that quotes a statement.
//  3. Facts and Args do it for the facts and arguments that they are named after.
//  4. Document does all of it for any value: every string in it, at any depth.
//     Use it for what leaves the machine.
//
// Names stay, so that a reader sees that a value exists. A secret that is a common
// word under a common name is not recognised.
package redact
