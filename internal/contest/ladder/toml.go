package ladder

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/iikanji/iikanji"
)

// remedyTable is one [[remedy]] of a file.
type remedyTable struct {
	Kind   string            `toml:"kind"`
	Target string            `toml:"target"`
	Says   string            `toml:"says"`
	Args   map[string]string `toml:"args"`
	Proof  []string          `toml:"proof"`
}

// proofs are the properties of a site that a file may state.
var proofs = []iikanji.Proof{iikanji.RowsSorted, iikanji.SameForAll, iikanji.SameAsFile, iikanji.Unchanged}

// readTOML reads remedies of any kind.
func readTOML(_ heading, body string) ([]placed, *Error) {
	var file struct {
		Remedy []remedyTable `toml:"remedy"`
	}
	d := toml.NewDecoder(strings.NewReader(body)).DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		return nil, misread(err)
	}
	at := tableLines(body)
	var all []placed
	for i, r := range file.Remedy {
		line := 1
		if i < len(at) {
			line = at[i]
		}
		if r.Kind == "" || r.Target == "" {
			return nil, mistake(line, "a remedy without a kind or a target").hint(`as in kind = "appenv" and target = "app"`)
		}
		remedy := iikanji.Remedy{Kind: r.Kind, Target: r.Target, Says: r.Says, Args: r.Args}
		for _, word := range r.Proof {
			p := iikanji.Proof(word)
			if !slices.Contains(proofs, p) {
				return nil, mistake(line, "unknown proof %.40q", word).hint(fmt.Sprintf("want %v, of what the checks of the arena hold", proofs))
			}
			remedy.Proof = append(remedy.Proof, p)
		}
		all = append(all, placed{remedy, line})
	}
	return all, nil
}

// misread is the mistake of a file that is not TOML, or has unknown keys.
func misread(err error) *Error {
	const hint = `want [[remedy]] tables with kind, target, says and args; every argument is a string: keepalive = "16"`
	var unknown *toml.StrictMissingError
	if errors.As(err, &unknown) && len(unknown.Errors) > 0 {
		line, _ := unknown.Errors[0].Position()
		return mistake(max(1, line), "unknown key %s", strings.Join(unknown.Errors[0].Key(), ".")).hint(hint)
	}
	var bad *toml.DecodeError
	if errors.As(err, &bad) {
		line, _ := bad.Position()
		return mistake(max(1, line), "%w", bad).hint(hint)
	}
	return mistake(1, "%w", err).hint(hint)
}

// tableLines are the lines of the [[remedy]] tables. One inside a text of several
// lines would count, too, and only the line of a message would be wrong.
func tableLines(body string) []int {
	var at []int
	for i, line := range strings.Split(body, "\n") {
		if strings.TrimSpace(line) == "[[remedy]]" {
			at = append(at, i+1)
		}
	}
	return at
}
