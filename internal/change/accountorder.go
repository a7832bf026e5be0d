package change

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/iikanji/iikanji"
)

// AccountPlace is the place of an op on an account of a database: "service/user@host".
func AccountPlace(service string, a AccountName) string {
	return service + "/" + a.User + "@" + a.Host
}

// An AccountName is the name of an account of a server with the MySQL protocol.
type AccountName struct{ User, Host string }

func (a AccountName) String() string { return a.User + "@" + a.Host }

// accountForm leaves out what would need quotes in a statement.
var accountForm = regexp.MustCompile(`^([A-Za-z0-9_.-]+)@([A-Za-z0-9_.%:/-]+)$`)

// ParseAccount reads a name as String formats it.
func ParseAccount(text string) (AccountName, error) {
	m := accountForm.FindStringSubmatch(text)
	if m == nil {
		return AccountName{}, fmt.Errorf("%.100q is no account of the form user@host", text)
	}
	return AccountName{m[1], m[2]}, nil
}

// An AccountOrder is the body of an op on an account of a database, as text:
//
//	as isu@localhost
//	digest 5f…
//
// The account gets the authentication and the grants of another one, which the server is
// asked for when the order is performed: no secret is in a change. The first line is
// "absent" in an order that removes the account. The digest is that of the account while it
// is there, so that one that another program has changed is recognized.
type AccountOrder struct {
	As     AccountName
	Remove bool
	Digest string
}

// String formats the order as the body of an op.
func (o AccountOrder) String() string {
	first := "as " + o.As.String()
	if o.Remove {
		first = "absent, was as " + o.As.String()
	}
	return first + "\ndigest " + o.Digest
}

func (o AccountOrder) states() (before, left iikanji.Fingerprint) {
	there := iikanji.Fingerprint(o.Digest)
	if o.Remove {
		return there, Absent
	}
	return Absent, there
}

func (o AccountOrder) text(state iikanji.Fingerprint) string {
	if state == iikanji.Fingerprint(o.Digest) {
		return "as " + o.As.String() + "\n"
	}
	return ""
}

var digestForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

// ParseAccountOrder parses what String formats.
func ParseAccountOrder(body string) (AccountOrder, error) {
	var o AccountOrder
	first, rest, _ := strings.Cut(body, "\n")
	as, ok := strings.CutPrefix(first, "as ")
	if !ok {
		if as, o.Remove = strings.CutPrefix(first, "absent, was as "); !o.Remove {
			return o, fmt.Errorf("reading an order on an account: %.100q", first)
		}
	}
	var err error
	if o.As, err = ParseAccount(as); err != nil {
		return o, fmt.Errorf("reading an order on an account: %w", err)
	}
	if o.Digest, ok = strings.CutPrefix(rest, "digest "); !ok || !digestForm.MatchString(o.Digest) {
		return o, errors.New("reading an order on an account: it has no digest")
	}
	return o, nil
}

// AccountOps are the op that makes an account of a service, on a host that it runs on, like
// another one, whose statements are given, and the op that removes it.
func AccountOps(on, service string, a, as AccountName, statements []string) [2]iikanji.Op {
	var ops [2]iikanji.Op
	for i, o := range []AccountOrder{{As: as, Digest: AccountDigest(statements)}, {As: as, Digest: AccountDigest(statements), Remove: true}} {
		before, _ := o.states()
		ops[i] = iikanji.Op{Verb: iikanji.Account, Host: on, Place: AccountPlace(service, a), Body: o.String(), Expect: before}
	}
	return ops
}
