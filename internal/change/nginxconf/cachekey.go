package nginxconf

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// credentials are headers by which clients say who they are, besides cookies.
// A request that has one is never answered from the cache, nor is its answer
// kept.
var credentials = []string{"$http_authorization", "$http_proxy_authorization", "$http_x_api_key", "$http_x_auth_token", "$http_x_access_token"}

var (
	variable = regexp.MustCompile(`\$\{?([A-Za-z0-9_]+)\}?`)
	// inURI are what a URI says, and what is the same for all requests of a
	// location: a key with $request_uri tells all of these apart.
	inURI = regexp.MustCompile(`^(request_uri|uri|document_uri|args|query_string|is_args|arg_.*|proxy_host|proxy_port|hostname|nginx_version|document_root)$`)
	// fleeting are another one for each request.
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

// everyoneMay refuses a path where nginx itself asks who somebody is: the app
// may answer by that, and the answers are not everyone's.
func (t *task) everyoneMay(s spot) error {
	for _, name := range []string{"auth_request", "auth_basic", "auth_jwt", "ssl_verify_client"} {
		if v := t.value(s.chain, name); v != "" && v != "off" {
			return fmt.Errorf("path %q: %s is in effect there: its answers may be one person's", t.args["path"], name)
		}
	}
	return nil
}

// told are the variables that the app is told in a location, by headers or
// otherwise, and that do not follow from the URI.
func (t *task) told(s spot, o cacheOptions) ([]string, error) {
	var names []string
	for _, name := range []string{"proxy_set_header", "proxy_set_body", "proxy_method", "proxy_pass"} {
		found, _ := t.effective(s.chain, name)
		for _, d := range found {
			for _, v := range variablesOf(strings.Join(d.args(), " ")) {
				switch {
				case captured.MatchString(v):
					return nil, fmt.Errorf("path %q: %s uses $%s, what an expression captured", t.args["path"], name, v)
				case fleeting.MatchString(v):
					return nil, fmt.Errorf("path %q: the app is told $%s, which is another one for each request", t.args["path"], v)
				case inURI.MatchString(v) || slices.Contains(credentials, "$"+v):
				case !o.ignoreCookies && (v == "http_cookie" || strings.HasPrefix(v, "cookie_")):
				default:
					names = append(names, v)
				}
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// keyOf is the key of a location's answers: by it all are told apart that the
// app is told apart. nginx's own key gets what it lacks; one that a remedy
// brings is refused.
func (t *task) keyOf(s spot, o cacheOptions) (string, error) {
	told, err := t.told(s, o)
	if err != nil {
		return "", err
	}
	key, in := o.key, variablesOf(o.key)
	var lacks []string
	for _, v := range told {
		if !slices.Contains(in, v) {
			lacks = append(lacks, "$"+v)
		}
	}
	if len(lacks) == 0 {
		return key, nil
	}
	if t.args["key"] != "" {
		return "", fmt.Errorf("key %q: the app is told %s, too: want all of it in the key", key, strings.Join(lacks, " "))
	}
	t.says += ", apart for each " + strings.Join(lacks, " ")
	return key + " " + strings.Join(lacks, " "), nil
}
