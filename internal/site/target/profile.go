package target

import (
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
)

// A PolicyProfile is one word for what changes may weaken, on a kind of site.
type PolicyProfile string

// The profiles.
const (
	Contest    PolicyProfile = "contest"
	Staging    PolicyProfile = "staging"
	Production PolicyProfile = "production"
)

// allowed are the promises that changes may weaken, by profile. Production keeps what
// users and owners rely on: only an order of rows that no query asked for may change. On a
// staging site data may be lost and logs be missing, but its answers are those of
// production. In a contest the benchmarker's checks say which answers are right.
var allowed = map[PolicyProfile][]iikanji.Promise{
	Production: {iikanji.RowOrder},
	Staging:    {iikanji.RowOrder, iikanji.Durability, iikanji.Observability, iikanji.TestedOnly},
	Contest: {iikanji.RowOrder, iikanji.Durability, iikanji.Observability, iikanji.TestedOnly,
		iikanji.Freshness, iikanji.Isolation, iikanji.Behaviour},
}

// Profiles are the profiles, the strictest first.
func Profiles() []PolicyProfile { return []PolicyProfile{Production, Staging, Contest} }

// Allows are the promises that a profile allows to weaken; of no profile, none.
func (p PolicyProfile) Allows() []iikanji.Promise { return slices.Clone(allowed[p]) }

// Text is the profile's list, as in "row-order, durability".
func (p PolicyProfile) Text() string {
	var words []string
	for _, promise := range allowed[p] {
		words = append(words, promise.String())
	}
	return strings.Join(words, ", ")
}

// Allows are the promises that a policy allows to weaken: those of its profile and its own.
func (p Policy) Allows() []iikanji.Promise {
	all := p.Profile.Allows()
	for _, promise := range p.Allow {
		if !slices.Contains(all, promise) {
			all = append(all, promise)
		}
	}
	return all
}
