package change

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
)

var (
	environmentName   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	environmentValue  = regexp.MustCompile(`^[A-Za-z0-9_.,:/@+=-]*$`)
	environmentSecret = regexp.MustCompile(`(?i)pass|secret|token|key|credential|dsn|_url$`)
)

// CheckEnvironment refuses variables that a unit may not get: names and values that would need
// quotes, and names of secrets, because a unit's settings can be read by every account.
func CheckEnvironment(variables map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		switch {
		case !environmentName.MatchString(name):
			return fmt.Errorf("%q is no name of a variable", name)
		case environmentSecret.MatchString(name):
			return fmt.Errorf("%s may hold a secret: a unit's settings can be read by every account of the machine", name)
		case !environmentValue.MatchString(variables[name]):
			return fmt.Errorf("the value of %s has other characters than letters, digits and _.,:/@+=-", name)
		}
	}
	return nil
}
