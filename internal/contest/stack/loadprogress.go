package stack

import (
	"os"
	"regexp"
	"time"
)

// loadStep matches a line of a loader's output that is shown as progress, as in
// "loading comments". Others, as those of a database's client, are not for the user.
var loadStep = regexp.MustCompile(`(?m)^(loading [a-z_ ]{1,40})\n`)

// lookEvery is how often a loader's log is read. Loads that have steps take a minute.
const lookEvery = 500 * time.Millisecond

// tellSteps shows the steps of a loader while it runs, until stop is called.
func (s *Stack) tellSteps(log string) (stop func()) {
	if s.options.Progress == nil {
		return func() {}
	}
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(lookEvery)
		defer ticker.Stop()
		for told := 0; ; {
			select {
			case <-ticker.C:
				told = s.tellNew(log, told)
			case <-end:
				s.tellNew(log, told)
				return
			}
		}
	}()
	return func() { close(end); <-ended }
}

// tellNew shows the steps of a log behind those that were told, and returns how many there are.
func (s *Stack) tellNew(log string, told int) int {
	text, err := os.ReadFile(s.dir.path(logDir, log))
	if err != nil {
		return told // the end of the load reports what is wrong
	}
	steps := loadStep.FindAllSubmatch(text, -1)
	for _, step := range steps[min(told, len(steps)):] {
		s.progress(string(step[1]))
	}
	return max(told, len(steps))
}
