package rewrite

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"os/exec"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/policy/tier"
)

// TestDigestOf compares what a shell's pipelines print with what is read from their text.
func TestDigestOf(t *testing.T) {
	for _, name := range []string{"openssl", "awk", "sed"} {
		if _, err := exec.LookPath(name); err != nil {
			tier.Needs(t, name, err.Error())
		}
	}
	text := "it's 100% of \"that\" $HOME; `x`"
	sums := map[string][]byte{}
	md, one, two, five := md5.Sum([]byte(text)), sha1.Sum([]byte(text)), sha256.Sum256([]byte(text)), sha512.Sum512([]byte(text))
	sums["md5"], sums["sha1"], sums["sha256"], sums["sha512"] = md[:], one[:], two[:], five[:]
	for script, known := range map[string]bool{
		`printf "%s" X | openssl dgst -sha512 | sed 's/^.*= //'`:          true,
		`printf '%s' X | openssl sha1 | awk '{print $2}'`:                 true,
		`printf %s X|openssl dgst -md5|awk '{ print $NF }'|tr -d '\n'`:    true,
		`echo -n X | openssl dgst -sha256 | cut -d' ' -f2`:                true,
		`printf %s X | openssl dgst -sha256 -r`:                           true,
		`printf %s X | openssl dgst -sha256 -r | cut -d ' ' -f 1`:         true,
		`printf %s X | sha256sum`:                                         true,
		`printf %s X | sha512sum | cut -d" " -f1 | tr -d "\n"`:            true,
		`printf %s X | md5sum | awk '{print $1}'`:                         true,
		`printf %s X | sha1sum | sed 's/ .*//'`:                           true,
		`printf %s X | sha256sum | tr -d '\n' | sed 's/ .*//'`:            true,
		`printf %s X | sha256sum | tr -d '\n' | awk '{print $1}'`:         true,
		`printf %s X | sha256sum | tr -d '\n' | cut -d' ' -f1`:            true,
		`printf %s X | openssl sha256 | tr -d '\n' | sed 's/^.*= //'`:     true,
		`printf %s X | sha256sum | sed 's/^.*= //'`:                       true,
		`printf %s X | openssl dgst -sha512`:                              false, // its first word differs between versions
		`printf %s X | sha256sum | cut -d' ' -f2`:                         false,
		`printf %s X | sha256sum | awk '{print $3}'`:                      false,
		`printf %s X | openssl dgst -sha512 | tr a-z A-Z`:                 false,
		`printf %s X | openssl dgst -sha512 -hmac key | awk '{print $2}'`: false,
		`echo X | sha256sum`:                                              false,
	} {
		d, ok := digestOf(script)
		behind, first := d.behind()
		if (ok && first) != known {
			t.Errorf("%s: %+v, %v", script, d, ok)
		}
		if !ok || !first {
			continue
		}
		shell := strings.Replace(script, "X", "'"+strings.ReplaceAll(text, "'", `'\''`)+"'", 1)
		out, err := exec.CommandContext(t.Context(), "sh", "-c", shell).Output()
		if want := hex.EncodeToString(sums[d.algorithm]) + behind; err != nil || string(out) != want {
			t.Errorf("%s\nprints %q, %v\nread   %q", script, out, err, want)
		}
	}
}
