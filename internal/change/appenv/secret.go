package appenv

import (
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/iikanji/iikanji/internal/change"
)

// secretName matches parts of variable names whose values are never shown.
var secretName = regexp.MustCompile(`(?i)KEY|SECRET|PASS|PWD|TOKEN|CRED|AUTH|SALT`)

// withoutSecrets refuses an environment file that holds a secret: a change
// contains the whole file, so the history, its diffs and exports would contain
// the secret. Secrets are recognized by the variable's name and by the form of
// addresses.
func withoutSecrets(e change.Edit) error {
	for line := range strings.Lines(string(e.New)) {
		name, value, ok := change.EnvVariable(line)
		if !ok || !(secretName.MatchString(name) && value != "" || hasPassword(value)) {
			continue
		}
		return fmt.Errorf("%s would hold a secret (in %s), and with it the history: set it where %s comes from, by hand", filepath.Base(e.Path), name, name)
	}
	return nil
}

// hasPassword reports whether a value is a DSN or a URL with a password.
func hasPassword(value string) bool {
	if c, err := mysql.ParseDSN(value); err == nil && c.Passwd != "" {
		return true
	}
	u, err := url.Parse(value)
	if err != nil || u.User == nil {
		return false
	}
	password, _ := u.User.Password()
	return password != ""
}
