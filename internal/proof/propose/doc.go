// Package propose runs a program of the user (a script, a fixed list, a language
// model) that proposes changes. The program proposes; the judge decides.
//
// The package plans, applies and judges nothing. The answer becomes a list of
// remedies, which are planned and tried like those of findings. Nothing in an
// answer is trusted: this package checks its form to the last field and its
// kinds against the existing ones; the kinds check their arguments.
//
// docs/proposer.md is the protocol, and docs/examples/proposer.py an example;
// tests compare both with the code.
//
// Steps of a call:
//
//  1. write the question (document.go) without secrets (secrets*.go) and without
//     facts that do not help (facts.go), with the possible changes (kinds.go);
//  2. start the command in a process group of its own, write the question to
//     it, read its answer, and end the group and every other process that it
//     left, in whatever session (command.go, adopted.go);
//  3. read the answer strictly (answer.go, strict.go).
//
// Note: the command runs with the user's rights and environment, as any program
// that the user starts. Only its answer is not trusted.
//
//go:generate env UPDATE=1 go test -run TestDocKinds .
package propose
