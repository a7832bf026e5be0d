package app

import (
	"fmt"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// A library is work of packages that no code lever makes less, with what teams did
// about it.
type library struct {
	packages []string // import paths, with what is below them
	work     string
	cure     string
}

// libraries are what write-ups of contests name, beside statements.
var libraries = []library{
	{[]string{"golang.org/x/crypto/bcrypt", "golang.org/x/crypto/blowfish", "golang.org/x/crypto/argon2", "golang.org/x/crypto/scrypt", "golang.org/x/crypto/pbkdf2"},
		"hashing passwords", "store the hash with a lower cost where the rules allow it, or keep the result of a login in memory for its session"},
	{[]string{"html/template", "text/template"}, "rendering templates", "parse templates once, render the parts that are the same for all once, or write the page with a generator of Go code"},
	{[]string{"encoding/json", "encoding/json/v2", "encoding/json/jsontext"}, "encoding and decoding JSON", "use an encoder that is compatible and faster, or keep encoded answers until their data change"},
	{[]string{"compress/flate", "compress/gzip", "compress/zlib"}, "compressing answers", "let the web server compress, with a lower level, or keep compressed copies"},
	{[]string{"image", "golang.org/x/image"}, "decoding and scaling images", "do it once, when an image arrives, and store the result"},
	{[]string{"regexp"}, "matching regular expressions", "compile them once, or compare strings by hand"},
	{[]string{"crypto/rsa", "crypto/ecdsa", "crypto/elliptic", "crypto/tls"}, "signing and verifying", "keep the result of a verified token in memory until it ends"},
	{[]string{"crypto/sha256", "crypto/sha512", "crypto/sha1", "crypto/md5", "crypto/hmac"}, "hashing", "keep the result where the input does not change"},
	{[]string{"log", "log/slog", "github.com/labstack/gommon/log", "go.uber.org/zap"}, "writing a log", "lower the level of the log, or turn it off"},
}

// leastLibrary is the least share of an app's CPU time that such work has in a
// finding.
const leastLibrary = 0.05

var hotLibraries = cause.Declare(cause.PerRun, findHotLibraries,
	cause.Cause{Code: "APP107", Title: "hot work in libraries", Of: iikanji.OfCPU, Relieves: cause.AnyLimit,
		Line:     "hashing, templates, encoding or compression take the app's CPU time",
		Remedies: []cause.Way{cause.Patch}})

// findHotLibraries reports work in libraries that the profile of an app's CPU shows. Calls of a
// package within another of the list count in both.
func findHotLibraries(v *cause.View) []iikanji.Finding {
	var out []iikanji.Finding
	for _, s := range v.Input.Target.WithRole(iikanji.RoleApp) {
		all := cpuOf(v, s.Name)
		if all == 0 {
			continue
		}
		for _, l := range libraries {
			took, most, within := libraryTime(v, s.Name, l)
			if took.Seconds() < leastLibrary*all {
				continue
			}
			f := iikanji.Finding{Code: "APP107", Where: s.Name + " " + most, Gain: cause.Between(took.Seconds(), 0.1, 0.9),
				Claim:    fmt.Sprintf("%s takes %.1f s of the %.1f s of CPU that %s used", l.work, took.Seconds(), all, v.Input.Called(s.Name)),
				Evidence: []iikanji.Evidence{{Source: "CPU profile", Text: most + ", called by " + strings.Join(within, ", ")}},
				Remedies: []iikanji.Remedy{{Kind: "patch", Target: s.Name, Says: l.cure}}}
			out = append(out, f)
		}
	}
	return out
}

// libraryTime is the CPU time of the package of a library with the most time, and the
// app's own functions that it ran for. The times of several packages of a library are
// not added: one calls the other.
func libraryTime(v *cause.View, service string, l library) (took time.Duration, most string, within []string) {
	for _, f := range v.Input.Facts {
		hot, ok := cause.Decode(f, fact.TopicHot)
		if !ok || f.Target != service || hot.Each <= took || !l.has(hot.Package) {
			continue
		}
		took, most, within = hot.Each, hot.Package, nil
		for _, n := range hot.Within {
			within = append(within, fmt.Sprintf("%s (%.1f s)", n.Name, time.Duration(n.Count).Seconds()))
		}
	}
	if len(within) == 0 {
		within = []string{"a library"}
	}
	return took, most, within
}

func (l library) has(pkg string) bool {
	for _, p := range l.packages {
		if pkg == p || strings.HasPrefix(pkg, p+"/") {
			return true
		}
	}
	return false
}
