package discover

import (
	"cmp"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// defaultPorts are the ports of the schemes by which apps name other servers.
var defaultPorts = map[string]string{"http": "80", "https": "443", "redis": "6379", "rediss": "6379", "valkey": "6379", "memcached": "11211", "memcache": "11211",
	"amqp": "5672", "nats": "4222", "beanstalk": "11300", "postgres": "5432", "postgresql": "5432", "mysql": "3306", "mariadb": "3306"}

// mostAddresses bounds the addresses that are read of one value.
const mostAddresses = 20

// addressesIn are the addresses in a value of an app's environment or arguments: a URL,
// HOST:PORT, or a list of them.
func addressesIn(value string) []string {
	var out []string
	for _, word := range strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ';' || r == ' ' }) {
		if a := addressInWord(word); a != "" && len(out) < mostAddresses {
			out = append(out, a)
		}
	}
	return out
}

// addressInWord is the address that one word names, "" for none.
func addressInWord(word string) string {
	if host, port, err := net.SplitHostPort(word); err == nil && !strings.ContainsAny(word, "/@") {
		n, err := strconv.Atoi(port)
		if err != nil || n < 1 || n > 65535 || host == "" {
			return ""
		}
		return word
	}
	u, err := url.Parse(word)
	if err != nil || u.Hostname() == "" {
		return ""
	}
	port := cmp.Or(u.Port(), defaultPorts[u.Scheme])
	if port == "" {
		return ""
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// A namedAddress is an address whose host and port are in two variables.
type namedAddress struct{ names, address string }

// hostsAndPorts are the addresses in pairs of variables such as CACHE_HOST and
// CACHE_PORT.
func hostsAndPorts(env []string) []namedAddress {
	values := map[string]string{}
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		values[name] = value
	}
	var out []namedAddress
	for _, kv := range env {
		name, host, _ := strings.Cut(kv, "=")
		stem, ok := strings.CutSuffix(name, "HOST")
		port := values[stem+"PORT"]
		if !ok || port == "" {
			continue
		}
		if a := addressInWord(net.JoinHostPort(host, port)); a != "" {
			out = append(out, namedAddress{name + " and " + stem + "PORT", a})
		}
	}
	return out
}
