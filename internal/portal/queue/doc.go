// Package queue decides which job starts next, and what a waiting team is told. It is pure:
// no clock, no I/O.
//
//  1. [State.Order] puts waiting jobs into the order of their starts (order.go).
//  2. [Used] is the worker time of teams, which halves in 30 minutes (used.go).
//  3. [Expect] tells when each waiting job starts (expect.go).
//  4. [Check] holds a team to its budget (budget.go).
//  5. [Wait] and [Plan] tell how many workers a contest needs (erlang.go).
package queue
