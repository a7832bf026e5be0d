package cause_test

import (
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/site/facts"
)

// configured adds a configuration of nginx as a text.
func configured(t *testing.T, s *scene, text string) *scene {
	t.Helper()
	f, err := facts.NginxFact("nginx", "# configuration file /etc/nginx/nginx.conf:\n"+text)
	if err != nil {
		t.Fatal(err)
	}
	s.Facts = append(s.Facts, f)
	return s
}

// uploads is a configuration with a place for uploads; what is in it, in the server and at the top
// are added.
func uploads(top, server, place string) string {
	return top + `
http {
    access_log off;
    upstream app { server 127.0.0.1:3000; keepalive 64; }
    server {
        listen 80;
        proxy_http_version 1.1; proxy_set_header Connection "";
        ` + server + `
        location /api/ { proxy_pass http://app; ` + place + ` }
        location / { root /srv/public; }
    }
}`
}

// TestUnloggedBodies: where nginx logs no warnings, bodies that are larger than the buffer in
// effect are found by their mean size.
func TestUnloggedBodies(t *testing.T) {
	sent := func(mean iikanji.Bytes) *scene { // as the load generator counts it
		s := newScene().route("POST /api/files/:id", "/api/files/7", 2000, 10, iikanji.WebRow{})
		return stepped(s, iikanji.StepStat{Step: "POST /api/files/:id", Count: 2000, Sent: 2000 * mean})
	}
	logged := newScene().route("POST /api/files/:id", "/api/files/7", 2000, 10, iikanji.WebRow{ReqBytes: 2000 * 28_000, MaxReqBytes: 30_000})
	for _, c := range []struct {
		name, conf string
		in         *scene
		remedy     string // of WEB103; "" for no finding
	}{
		{"as the generator sent them", uploads("", "", ""), sent(28_000), "act=buffers body=64k"},
		{"as the log has them", uploads("", "", ""), logged, "act=buffers body=64k"},
		{"the log has errors only", uploads("error_log /var/log/nginx/error.log error;", "", ""), sent(28_000), "act=buffers"},
		{"a buffer that is too small", uploads("", "client_body_buffer_size 20k;", ""), sent(28_000), "act=buffers"},
		{"very large", uploads("", "client_max_body_size 1g;", ""), sent(8 << 20), "proxy_request_buffering value=off"},
		{"the log has warnings, and none of these", uploads("error_log /var/log/nginx/error.log warn;", "", ""), sent(28_000), ""},
		{"the place has a log with warnings", uploads("", "", "error_log /var/log/nginx/api.log info;"), sent(28_000), ""},
		{"they fit", uploads("", "", ""), sent(12_000), ""},
		{"a head makes the difference", uploads("", "", ""), sent(16<<10 + 400), ""},
		{"a buffer that holds them", uploads("", "client_body_buffer_size 128k;", ""), sent(28_000), ""},
		{"passed on as they arrive", uploads("", "", "proxy_request_buffering off;"), sent(28_000), ""},
		{"another protocol", strings.ReplaceAll(uploads("", "", ""), "proxy_pass http://app", "uwsgi_pass app"), sent(28_000), ""},
		{"nginx answers by itself", strings.ReplaceAll(uploads("", "", ""), "proxy_pass http://app", "return 204"), sent(28_000), ""},
	} {
		if got := remedyOf(t, configured(t, c.in, c.conf), "WEB103"); c.remedy == "" && got != "" || !hasWords(got, c.remedy) {
			t.Errorf("%s: %q, want %q", c.name, got, c.remedy)
		}
		c.in.Facts = nil // the scene is used again
	}
}

// TestUnloggedAnswers: the same for answers, with a gain that begins at 0.
func TestUnloggedAnswers(t *testing.T) {
	answers := func(mean iikanji.Bytes) *scene {
		return newScene().route("GET /api/zips/:id", "/api/zips/7", 2000, mean, iikanji.WebRow{})
	}
	for _, c := range []struct {
		name, conf string
		in         *scene
		remedy     string
	}{
		{"larger than the buffers", uploads("", "", ""), answers(90_000), "act=buffers answer=256k"},
		{"very large", uploads("", "", ""), answers(9 << 20), "act=buffers spill=off"},
		{"larger than those that are set", uploads("", "proxy_buffers 4 16k;", ""), answers(90_000), "act=buffers"},
		{"they fit", uploads("", "", ""), answers(30_000), ""},
		{"buffers that hold them", uploads("", "proxy_buffers 8 32k;", ""), answers(90_000), ""},
		{"no file may be written", uploads("", "", "proxy_max_temp_file_size 0;"), answers(90_000), ""},
		{"no buffering", uploads("", "", "proxy_buffering off;"), answers(90_000), ""},
		{"the log has warnings", uploads("error_log /var/log/nginx/error.log warn;", "", ""), answers(90_000), ""},
		{"a script", uploads("", "", ""), newScene().route("GET /api/app.js", "/api/app.js", 2000, 90_000, iikanji.WebRow{}), ""},
	} {
		in := configured(t, c.in, c.conf)
		if got := remedyOf(t, in, "WEB104"); c.remedy == "" && got != "" || !hasWords(got, c.remedy) {
			t.Errorf("%s: %q, want %q", c.name, got, c.remedy)
		}
		fs, _ := findAll(in.Input)
		for _, f := range fs {
			if f.Code == "WEB104" && f.Gain.Lo != 0 {
				t.Errorf("%s: %v", c.name, f.Gain)
			}
		}
	}
}

// remedyOf are the arguments of the first remedy of a code's only finding; "" for none.
func remedyOf(t *testing.T, s *scene, code iikanji.Code) (args string) {
	t.Helper()
	fs, err := findAll(s.Input)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fs {
		if f.Code != code {
			continue
		}
		if args != "" || len(f.Evidence) < 2 {
			t.Errorf("%+v", f)
		}
		for k, v := range f.Remedies[0].Args {
			args += k + "=" + v + " "
		}
	}
	return args
}

// hasWords reports whether a text has all words of another one.
func hasWords(text, words string) bool {
	for w := range strings.FieldsSeq(words) {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}
