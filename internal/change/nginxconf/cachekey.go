package nginxconf

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// credentials are the headers, besides cookies, by which clients authenticate.
// A request that has one is never answered from the cache, and its answer is
// never kept.
var credentials = []string{"$http_authorization", "$http_proxy_authorization", "$http_x_api_key", "$http_x_auth_token", "$http_x_access_token"}

var (
	variable = regexp.MustCompile(`\$\{?([A-Za-z0-9_]+)\}?`)
	// inURI are variables that follow from the URI, or are the same for all
	// requests of a location: a key with $request_uri tells all of them apart.
	inURI = regexp.MustCompile(`^(request_uri|uri|document_uri|args|query_string|is_args|arg_.*|proxy_host|proxy_port|hostname|nginx_version|document_root)$`)
	// fleeting are variables that differ in each request.
	fleeting = regexp.MustCompile(`^(request_id|msec|time_.*|connection|connection_requests|connection_time|remote_port|request_time|request_length)$`)
	captured = regexp.MustCompile(`^[0-9]+$`)
)

// variablesOf are the names of the variables in a text, in lower case.
func variablesOf(text string) []string {
	var names []string
	for _, m := range variable.FindAllStringSubmatch(text, -1) {
		names = append(names, strings.ToLower(m[1]))
	}
	return names
}

// public refuses a path where nginx authenticates clients: the app may answer
// each client differently.
func (a *cache) public(t *task, s spot) error {
	for _, name := range []string{"auth_request", "auth_basic", "auth_jwt", "ssl_verify_client"} {
		if v := t.value(s.chain, name); v != "" && v != "off" {
			return fmt.Errorf("path %q: %s is in effect there: answers may be for one client only", a.Path, name)
		}
	}
	return nil
}

// received are the variables of which the app receives the values in a location,
// by headers or otherwise, and that do not follow from the URI.
func (a *cache) received(t *task, s spot) ([]string, error) {
	var names []string
	for _, name := range []string{"proxy_set_header", "proxy_set_body", "proxy_method", "proxy_pass"} {
		found, _ := t.effective(s.chain, name)
		for _, d := range found {
			for _, v := range variablesOf(strings.Join(d.Args(), " ")) {
				switch {
				case captured.MatchString(v):
					return nil, fmt.Errorf("path %q: %s uses $%s, which an expression captures", a.Path, name, v)
				case fleeting.MatchString(v):
					return nil, fmt.Errorf("path %q: the app receives $%s, which differs in each request", a.Path, v)
				case inURI.MatchString(v) || slices.Contains(credentials, "$"+v):
				case !a.shared() && (v == "http_cookie" || strings.HasPrefix(v, "cookie_")):
				default:
					names = append(names, v)
				}
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
