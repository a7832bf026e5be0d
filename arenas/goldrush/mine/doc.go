// Package mine is the server of the arena goldrush: a field with treasures, a bank, licences,
// a virtual CPU that explores, digs and cashes share, and the API of the contest over them.
//
// It is the fixed side of the contest. It imports only the standard library.
//
//  1. world.go, treasure.go: where treasures are and what they are worth, from a seed;
//  2. field.go, bank.go, license.go: the state of a game;
//  3. cpu.go, limit.go: what makes answers slow, and refuses them;
//  4. game.go: the rules; api.go, request.go: HTTP and JSON;
//  5. serve.go, save.go: the life of a game, from its first request to its bell;
//  6. control.go: how a benchmarker begins games and reads their reports.
package mine
