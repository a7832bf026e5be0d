package propose

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/iikanji/iikanji"
)

// Version is the version of both documents, the question and the answer.
const Version = 1

// An Input is what a proposer is told.
type Input struct {
	Target iikanji.Target
	Places map[string]Places // by the service's name
	Score  float64           // of the state that the findings are of; 0 when unknown
	// Findings are best first. Facts may hold secrets: they are taken out.
	Findings []iikanji.Finding
	Facts    []iikanji.Fact
	Trials   []Trial // so far, in order
	// Kinds are the names of the kinds of change that there are.
	Kinds []string
}

// Places are the folders of a service, as in change.Service; "" when unknown.
type Places struct {
	Source string   // of its source: names in a patch are relative to it
	Public string   // with files that it serves as they are
	Loads  []string // with the SQL files that initialize loads
}

// A Trial is a change that was tried, and what the runs proved.
type Trial struct {
	Change  iikanji.Change
	Verdict iikanji.Verdict
}

// A Proposal is one change that a proposer wants tried.
type Proposal struct {
	Remedy  iikanji.Remedy
	Answers iikanji.Code // the finding that it answers, or ""
}

// Run starts a command, asks it, and returns its proposals in its order. The
// command is a program's name or path and its arguments; no shell reads it.
//
// An error is one line that names the program, and has Hints.
func Run(ctx context.Context, command []string, in Input) ([]Proposal, error) {
	if len(command) == 0 || command[0] == "" {
		return nil, &Error{Why: "there is no command to start"}
	}
	question, err := Question(in)
	if err != nil {
		return nil, err
	}
	name := filepath.Base(command[0])
	answer, said, err := ask(ctx, command, question)
	if err != nil {
		return nil, &Error{Program: name, Why: err.Error(), Said: said, Err: err}
	}
	proposals, err := Answer(answer, in.Kinds)
	if err != nil {
		return nil, &Error{Program: name, Why: err.Error(), Said: said, Err: err}
	}
	return proposals, nil
}

// An Error says that there are no proposals, and why.
type Error struct {
	Program string // "" when none was started
	Why     string
	Said    []string // the last lines on its standard error
	Err     error
}

func (e *Error) Error() string {
	if e.Program == "" {
		return "asking a proposer: " + e.Why
	}
	return fmt.Sprintf("asking the proposer %s: %s", e.Program, e.Why)
}

func (e *Error) Unwrap() error { return e.Err }

// Hints show what the program said, and where its form is told.
func (e *Error) Hints() []string {
	hints := make([]string, 0, len(e.Said)+1)
	for _, line := range e.Said {
		hints = append(hints, "it said: "+line)
	}
	return append(hints, "docs/proposer.md tells what a proposer reads and writes")
}
