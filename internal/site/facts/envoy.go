package facts

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// maxEnvoyReply is the longest answer of Envoy's administration that is read, in bytes: some
// hundred bytes for each of a thousand clusters.
const maxEnvoyReply = 4 << 20

// Parts of the address in Envoy's configuration.
var (
	envoyHost = regexp.MustCompile(`\baddress:\s*"?([0-9a-fA-F.:]+|localhost)"?\s*(?:[,}]|$)`)
	envoyPort = regexp.MustCompile(`\bport_value:\s*(\d{1,5})\b`)
)

// EnvoyAdmin is the address of the administration of an Envoy, by the text of its configuration
// in YAML: the first address and port_value below admin. "" if it has none.
func EnvoyAdmin(config string) string {
	inside, at, port := false, "", ""
	for line := range strings.Lines(config) {
		text := strings.TrimRight(line, " \r\n")
		word := strings.TrimSpace(text)
		if word == "" || word[0] == '#' {
			continue
		}
		if text[0] != ' ' { // a key of the file
			inside = strings.HasPrefix(word, "admin:")
		}
		if !inside {
			continue
		}
		if m := envoyHost.FindStringSubmatch(word); m != nil && at == "" {
			at = m[1]
		}
		if m := envoyPort.FindStringSubmatch(word); m != nil && port == "" {
			port = m[1]
		}
	}
	switch at {
	case "":
		return ""
	case "0.0.0.0", "localhost":
		at = "127.0.0.1"
	case "::":
		at = "::1"
	}
	if strings.Contains(at, ":") {
		at = "[" + at + "]"
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return ""
	}
	return at + ":" + port
}

// ReadEnvoy asks Envoy's administration for its counters and gauges. It only reads.
func ReadEnvoy(ctx context.Context, h host.Host, address string) (counters map[string]float64, err error) {
	conn, err := dialToAsk(ctx, h, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("connecting to Envoy's administration: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if _, err := fmt.Fprintf(conn, "GET /stats?usedonly HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", address); err != nil {
		return nil, fmt.Errorf("asking Envoy for its counters: %w", err)
	}
	res, err := http.ReadResponse(bufio.NewReader(io.LimitReader(conn, maxEnvoyReply)), nil)
	if err != nil {
		return nil, fmt.Errorf("asking Envoy for its counters: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("asking Envoy for its counters: it answered %s", res.Status)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, fmt.Errorf("asking Envoy for its counters: %w", err)
	}
	return EnvoyCounters(string(body)), nil
}

// EnvoyCounters reads lines "cluster.web.upstream_cx_total: 12". Lines of other forms, such as
// histograms, are passed over.
func EnvoyCounters(text string) map[string]float64 {
	out := map[string]float64{}
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), ": ")
		n, err := strconv.ParseUint(value, 10, 63)
		if ok && err == nil && name != "" && len(name) < 300 {
			out[name] = float64(n)
		}
	}
	return out
}

// EnvoyFacts are the counters of Envoy that grew between two readings. A counter that is
// smaller than before is none, or Envoy was started again: it is left out.
func EnvoyFacts(service string, before, after map[string]float64) []iikanji.Fact {
	var out []iikanji.Fact
	for name, n := range after {
		if grown := n - before[name]; grown > 0 {
			out = append(out, fact.TopicProxyCounter.Fact(service, name, grown, true))
		}
	}
	return out
}
