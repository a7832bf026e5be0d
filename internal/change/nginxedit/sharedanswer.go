package nginxedit

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/nginx"
)

// Credentials are the headers, besides cookies, by which clients authenticate.
// A request that has one is never answered from the cache, and its answer is
// never kept.
var Credentials = []string{"$http_authorization", "$http_proxy_authorization", "$http_x_api_key", "$http_x_auth_token", "$http_x_access_token"}

var (
	variable = regexp.MustCompile(`\$\{?([A-Za-z0-9_]+)\}?`)
	// inURI are variables that follow from the URI, or are the same for all
	// requests of a location: a key with $request_uri distinguishes all of them.
	inURI = regexp.MustCompile(`^(request_uri|uri|document_uri|args|query_string|is_args|arg_.*|proxy_host|proxy_port|hostname|nginx_version|document_root)$`)
	// fleeting are variables that differ in each request.
	fleeting = regexp.MustCompile(`^(request_id|msec|time_.*|connection|connection_requests|connection_time|remote_port|request_time|request_length)$`)
	captured = regexp.MustCompile(`^[0-9]+$`)
)

// VariablesOf are the names of the variables in a text, in lower case.
func VariablesOf(text string) []string {
	var names []string
	for _, m := range variable.FindAllStringSubmatch(text, -1) {
		names = append(names, strings.ToLower(m[1]))
	}
	return names
}

// Public refuses a path where nginx authenticates clients: the app may answer
// each client differently.
func (t *Plan) Public(path string, s Spot) error {
	for _, name := range []string{"auth_request", "auth_basic", "auth_jwt", "ssl_verify_client"} {
		if v := t.Value(s.Chain, name); v != "" && v != "off" {
			return fmt.Errorf("path %q: %s is in effect there: answers may be for one client only", path, name)
		}
	}
	return nil
}

// Received are the variables of which the app receives the values in a location,
// by headers or otherwise, and that do not follow from the URI.
func (t *Plan) Received(path string, s Spot, shared bool) ([]string, error) {
	var names []string
	for _, name := range []string{"proxy_set_header", "proxy_set_body", "proxy_method", "proxy_pass"} {
		found, _ := t.Effective(s.Chain, name)
		for _, d := range found {
			for _, v := range VariablesOf(strings.Join(d.Args(), " ")) {
				switch {
				case captured.MatchString(v):
					return nil, fmt.Errorf("path %q: %s uses $%s, which an expression captures", path, name, v)
				case fleeting.MatchString(v):
					return nil, fmt.Errorf("path %q: the app receives $%s, which differs in each request", path, v)
				case inURI.MatchString(v) || slices.Contains(Credentials, "$"+v):
				case !shared && (v == "http_cookie" || strings.HasPrefix(v, "cookie_")):
				default:
					names = append(names, v)
				}
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// Passing is the spot from which requests are passed on to the app: for a
// location that tries files first, its fallback, if there is no file.
func (t *Plan) Passing(path string, s Spot) (Spot, error) {
	if t.Passes(s.Last()) {
		return s, nil
	}
	tries := t.Get(s.Last(), "try_files")
	if len(s.Chain) == 2 || len(tries) == 0 {
		return s, fmt.Errorf("path %q: no location passes it on to the app", path)
	}
	args := tries[0].Args()
	named := args[len(args)-1]
	if at := filepath.Join(t.Value(s.Chain, "root"), s.Want.What); !s.Want.IsExpression() && t.Exists(at) {
		return s, fmt.Errorf("path %q: %s is on disk", path, at)
	}
	for _, l := range t.Get(s.Server(), "location") {
		if l.Arg(0) == named && t.Passes(l.Directive) && len(s.Chain) == 3 && !s.Is() {
			s.Chain = []*nginx.Directive{s.Chain[0], s.Server(), l.Directive}
			return s, nil
		}
	}
	return s, fmt.Errorf("path %q: location %s does not pass it on to the app in a way that is supported", path, nginx.PatternOf(s.Last()))
}

// WithoutCookies removes the cookies from a location's requests. An answer that
// sets a cookie is not kept, and its cookie reaches the client.
func (t *Plan) WithoutCookies(s Spot) {
	t.EnsureOneOf(s.Chain, "proxy_set_header", SameHeader("Cookie"), "Cookie", "")
}

// appDecides are headers by which an application states that an answer must not be
// kept, or for which clients. nginx obeys them unless proxy_ignore_headers names them.
var appDecides = []string{"Cache-Control", "Expires", "Set-Cookie", "Vary", "X-Accel-Expires"}

// Obeys refuses a location where nginx ignores what the application states.
func (t *Plan) Obeys(path string, s Spot) error {
	found, _ := t.Effective(s.Chain, "proxy_ignore_headers")
	for _, d := range found {
		for _, name := range appDecides {
			if slices.ContainsFunc(d.Args(), func(arg string) bool { return strings.EqualFold(arg, name) }) {
				return fmt.Errorf("path %q: proxy_ignore_headers %s is in effect there: the app could not keep an answer to itself", path, name)
			}
		}
	}
	return nil
}
