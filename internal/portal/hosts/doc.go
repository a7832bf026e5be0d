// Package hosts is the part of a portal that runs on the machine of a team: it proves that the
// machine is the team's, and tells how it is.
//
//  1. An [Agent] tells the portal every few seconds what the machine is (boot id, SSH host keys,
//     CPU, memory, disk, clock), and answers checks of workers with the HMAC of their nonce
//     (agent.go). It reads, and changes nothing.
//  2. [ReadFacts] reads the facts of this machine (facts.go).
//  3. [Look] compares the facts with what a contest needs; each failure has its remedy (look.go).
package hosts
