// Package propose asks a program of the user's for changes: a script, a person's
// list, a language model. It may propose; the gate decides.
//
// It plans nothing, applies nothing and judges nothing: what comes back is a
// list of remedies, which package change plans and the loop tries like those
// of findings. Nothing in an answer is trusted: its form is checked to the
// last field here, its kinds against those that there are, and its arguments
// by the kinds themselves.
//
// docs/proposer.md is the protocol, and docs/examples/proposer.py an example;
// tests hold both to the code.
//
// Steps of a question:
//
//  1. write down what is known (document.go), without secrets (secrets*.go)
//     and without facts that help nobody (facts.go), and what may be asked
//     for (kinds.go);
//  2. start the command in a process group of its own, give it the document,
//     take its answer, and end the group (command.go);
//  3. read the answer strictly (answer.go, strict.go).
//
// Note: the command runs with the user's own rights and environment, as
// everything that a user starts. It is what it answers that is not trusted.
package propose
