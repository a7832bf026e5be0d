package propose

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/iikanji/iikanji"
)

// Version is the version of both documents, the question and the answer.
const Version = 1

// An Input is the data of a question.
type Input struct {
	Target iikanji.Target
	Places map[string]Places // by the service's name
	Score  float64           // of the state in which the findings were made; 0 when unknown
	// Findings are best first. Secrets are removed from findings and facts.
	Findings []iikanji.Finding
	Facts    []iikanji.Fact
	Trials   []Trial // so far, in order
	// Kinds are the names of the existing kinds of change.
	Kinds []string
}

// Places are the folders of a service, as in change.Service; "" when unknown.
type Places struct {
	Source string   // of its source: names in a patch are relative to it
	Public string   // with static files that it serves
	Loads  []string // with the SQL files that the benchmark's initialize loads
}

// A Trial is a change that was tried, with its verdict.
type Trial struct {
	Change  iikanji.Change
	Verdict iikanji.Verdict
}

// A Proposal is one proposed change.
type Proposal struct {
	Remedy  iikanji.Remedy
	Answers iikanji.Code // the finding that it answers, or ""
}

// Run starts a command, writes the question to it, and returns its proposals in
// their order. The command is a program's name or path and its arguments; no
// shell interprets it.
//
// An error is an [*Error]: one line that names the program, with hints.
func Run(ctx context.Context, command []string, in Input) ([]Proposal, error) {
	if len(command) == 0 || command[0] == "" {
		return nil, &Error{Why: "the command is empty"}
	}
	question, err := Question(in)
	if err != nil {
		return nil, err
	}
	name := filepath.Base(command[0])
	answer, stderr, err := exchange(ctx, command, question)
	if err != nil {
		return nil, &Error{Program: name, Why: err.Error(), Stderr: stderr, Err: err}
	}
	proposals, err := Answer(answer, in.Kinds)
	if err != nil {
		return nil, &Error{Program: name, Why: err.Error(), Stderr: stderr, Err: err}
	}
	return proposals, nil
}

// An Error is the reason why there are no proposals.
type Error struct {
	Program string // "" when none was started
	Why     string
	Stderr  []string // the last lines of its standard error
	Err     error
}

func (e *Error) Error() string {
	if e.Program == "" {
		return "running a proposer: " + e.Why
	}
	return fmt.Sprintf("running the proposer %s: %s", e.Program, e.Why)
}

func (e *Error) Unwrap() error { return e.Err }

// Hints returns the program's last lines, and where the protocol is documented.
func (e *Error) Hints() []string {
	hints := make([]string, 0, len(e.Stderr)+1)
	for _, line := range e.Stderr {
		hints = append(hints, "stderr: "+line)
	}
	return append(hints, "docs/proposer.md describes what a proposer reads and writes")
}
