package sshdial

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A config is what the user's configuration of ssh says about one name.
type config struct {
	name string // as it was asked for
	own  string // Address.KnownHosts

	hostname, user, port string
	network              string // of net.Dial
	identities           []string
	certificates         []string
	identitiesOnly       bool
	agent                string // path of the socket; "" for none
	jumps                []string
	proxyCommand         string
	knownHosts           []string
	hostKeyAlias         string
	hostKeyKinds         []string // in the order in which they are asked for
	timeout              time.Duration
}

// usualTimeout is the time limit of a connection where the configuration has none.
const usualTimeout = 10 * time.Second

// An Address is a machine as a person names it.
type Address struct {
	User string // "" for that of the configuration
	Name string // a host name, an alias or an IP address
	Port int    // 0 for that of the configuration
	// KnownHosts is a file of host keys besides those of the configuration, which also gets
	// new ones; "" for none.
	KnownHosts string
}

// possible are names that ssh does not take for an option.
var possible = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.%:-]*$`)

// configOf asks ssh what the configuration says. More arguments are for tests.
func configOf(ctx context.Context, a Address, more []string) (*config, error) {
	if !possible.MatchString(a.Name) || a.User != "" && !possible.MatchString(a.User) {
		return nil, fmt.Errorf("%q of %q is no name that a machine can have", a.Name, a.User)
	}
	args := append([]string{"-G"}, more...)
	if a.User != "" {
		args = append(args, "-l", a.User)
	}
	if a.Port != 0 {
		args = append(args, "-p", strconv.Itoa(a.Port))
	}
	var out, said bytes.Buffer
	cmd := exec.CommandContext(ctx, "ssh", append(args, "--", a.Name)...)
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); errors.Is(err, exec.ErrNotFound) {
		return nil, errors.New("there is no ssh on this machine, which reads your configuration: install openssh-client")
	} else if err != nil {
		return nil, fmt.Errorf("asking ssh for the configuration of %s: %w: %s", a.Name, err, bytes.TrimSpace(said.Bytes()))
	}
	c, err := parseConfig(out.String())
	if err != nil {
		return nil, fmt.Errorf("the configuration of %s: %w", a.Name, err)
	}
	c.name, c.own = a.Name, a.KnownHosts
	c.expand()
	return c, nil
}

// parseConfig reads what `ssh -G` prints: a key and its value in each line. Keys that
// are not known are left out.
func parseConfig(text string) (*config, error) {
	c := &config{network: "tcp", timeout: usualTimeout, agent: "SSH_AUTH_SOCK"}
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		value = strings.TrimSpace(value)
		if value == "" {
			continue
		}
		if err := c.set(strings.ToLower(key), value); err != nil {
			return nil, err
		}
	}
	if c.hostname == "" || c.user == "" {
		return nil, errors.New("ssh names no host and no user")
	}
	if n, err := strconv.ParseUint(c.port, 10, 16); err != nil || n == 0 {
		return nil, fmt.Errorf("port is %q", c.port)
	}
	return c, nil
}

func (c *config) set(key, value string) error {
	switch key {
	case "hostname":
		c.hostname = value
	case "user":
		c.user = value
	case "port":
		c.port = value
	case "addressfamily":
		c.network = map[string]string{"inet": "tcp4", "inet6": "tcp6"}[value]
		if c.network == "" {
			c.network = "tcp"
		}
	case "identityfile":
		c.identities = append(c.identities, value)
	case "certificatefile":
		c.certificates = append(c.certificates, value)
	case "identitiesonly":
		c.identitiesOnly = value == "yes"
	case "identityagent":
		c.agent = value
	case "proxyjump":
		if value != "none" {
			c.jumps = strings.Split(value, ",")
		}
	case "proxycommand":
		if value != "none" {
			c.proxyCommand = value
		}
	case "userknownhostsfile", "globalknownhostsfile":
		c.knownHosts = append(c.knownHosts, strings.Fields(value)...)
	case "hostkeyalgorithms":
		c.hostKeyKinds = strings.Split(value, ",")
	case "hostkeyalias":
		c.hostKeyAlias = value
	case "connecttimeout":
		if n, err := strconv.ParseUint(value, 10, 16); err == nil && n > 0 {
			c.timeout = time.Duration(n) * time.Second
		} else if value != "none" && value != "0" {
			return fmt.Errorf("connecttimeout is %q", value)
		}
	}
	return nil
}

// expand replaces the tokens of paths, which ssh -G leaves as they are.
func (c *config) expand() {
	home, _ := os.UserHomeDir() // without one a path stays relative, and is no file
	local := ""
	if me, err := user.Current(); err == nil {
		local = me.Username
	}
	tokens := strings.NewReplacer("%%", "%", "%d", home, "%h", c.hostname, "%n", c.name, "%p", c.port, "%r", c.user, "%u", local)
	path := func(p string) string {
		if rest, ok := strings.CutPrefix(p, "~/"); ok {
			p = filepath.Join(home, rest)
		}
		return tokens.Replace(p)
	}
	for _, list := range [][]string{c.identities, c.certificates, c.knownHosts} {
		for i := range list {
			list[i] = path(list[i])
		}
	}
	switch {
	case c.agent == "none":
		c.agent = ""
	case c.agent == "SSH_AUTH_SOCK":
		c.agent = os.Getenv("SSH_AUTH_SOCK")
	case strings.HasPrefix(c.agent, "$"):
		c.agent = os.Getenv(strings.Trim(c.agent[1:], "{}"))
	default:
		c.agent = path(c.agent)
	}
}

// address is where the machine listens.
func (c *config) address() string { return net.JoinHostPort(strings.Trim(c.hostname, "[]"), c.port) }

// keyAddress is the name under which the host key is known, with a port. An alias has
// none, which is written as the usual one.
func (c *config) keyAddress() string {
	if c.hostKeyAlias != "" {
		return net.JoinHostPort(c.hostKeyAlias, "22")
	}
	return c.address()
}

// command is the proxy command with its tokens replaced.
func (c *config) command() string {
	return strings.NewReplacer("%%", "%", "%h", c.hostname, "%n", c.name, "%p", c.port, "%r", c.user).Replace(c.proxyCommand)
}

// jump reads one of proxyjump: [USER@]HOST[:PORT], also behind ssh://.
func jump(text string) (Address, error) {
	var a Address
	rest := strings.TrimPrefix(strings.TrimSpace(text), "ssh://")
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		a.User, rest = rest[:i], rest[i+1:]
	}
	a.Name = rest
	if name, port, err := net.SplitHostPort(rest); err == nil {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return a, fmt.Errorf("the jump %q has no possible port", text)
		}
		a.Name, a.Port = name, int(n)
	}
	a.Name = strings.Trim(a.Name, "[]")
	if a.Name == "" {
		return a, fmt.Errorf("the jump %q names no machine", text)
	}
	return a, nil
}
