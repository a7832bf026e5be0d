package facts

import (
	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/appserver"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// TiesFact is what ties an app to its host: source is the folder of its source, "" if unknown,
// program that of a Go program in it, pid its root process, 0 if it does not run.
func TiesFact(h host.Host, service, source, program string, pid int) (iikanji.Fact, error) {
	all, known, err := appserver.Ties(h, appserver.App{Source: source, Program: program, PID: pid})
	if err != nil {
		return iikanji.Fact{}, err
	}
	value := fact.Ties{Known: known}
	for _, t := range all {
		value.All = append(value.All, fact.Tie{Kind: string(t.Kind), Place: t.Place(), Name: t.Name, Routes: t.Routes,
			Spread: string(t.Spread()), Move: string(t.Move()), Breaks: t.Breaks(), Cure: t.Cure()})
	}
	f := fact.TopicTies.Fact(service, "", value, false)
	f.Host = h.Name()
	return f, nil
}
