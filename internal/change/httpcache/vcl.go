package httpcache

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The headers by which the VCL works. Clients cannot set them, and the app does
// not receive them.
//
// With writes purge, the key of every page has a generation: the id of an object
// that has no other content. A write drops this object after the app has answered
// it and before the client gets the answer. So each later request finds a new
// generation, and no page of the old one: also not a page whose fetch began before
// the write and ended after it, which a ban or a purge of pages would miss.
// vcl_recv first looks the generation up, vcl_deliver restarts the request with it.
//
// The write drops it by a ban whose expression has the write's own id. Of two bans with the
// same expression, Varnish evaluates the later one only (parameter ban_dups). If that one
// comes while a lookup compares the object with the bans before it, the lookup evaluates
// neither and finds the old generation: clients that read and write side by side got old
// pages every few seconds. The bans also match the pages, so that Varnish's ban lurker removes
// the old ones, and then the bans, after a minute.
const (
	stepHeader       = "X-Iikanji-Step"
	generationHeader = "X-Iikanji-Generation"
)

// anyGeneration is the value of generationHeader in kept pages.
const anyGeneration = "page"

// vcl is the text of a program for Varnish 6 or 7. The rest of each subroutine is
// Varnish's built-in one: it passes requests with credentials, and keeps no answer
// that sets a cookie or that is private.
func (p *program) vcl() string {
	var b strings.Builder
	b.WriteString("vcl 4.1;\n\n# Generated. A plan reads the lines that begin with \"" + strings.TrimSpace(mark) + "\".\n" + p.lines() + "\n")
	b.WriteString("import std;\n")
	if len(p.apps) > 1 {
		b.WriteString("import directors;\n")
	}
	b.WriteString("\n")
	p.backends(&b)
	p.receive(&b)
	p.hash(&b)
	p.fetch(&b)
	p.response(&b)
	p.deliver(&b)
	return b.String()
}

// backends are the app's servers. Varnish waits for an answer at least as long as
// nginx does by default, so that nginx's limits stay in force.
func (p *program) backends(b *strings.Builder) {
	for i, app := range p.apps {
		fmt.Fprintf(b, "backend app%d {\n", i)
		if socket, ok := strings.CutPrefix(app, "unix:"); ok {
			fmt.Fprintf(b, "    .path = \"%s\";\n", socket)
		} else {
			host, port := hostPort(app)
			fmt.Fprintf(b, "    .host = \"%s\";\n    .port = \"%s\";\n", host, port)
		}
		b.WriteString("    .connect_timeout = 60s;\n    .first_byte_timeout = 3600s;\n    .between_bytes_timeout = 3600s;\n}\n\n")
	}
	if len(p.apps) > 1 {
		b.WriteString("sub vcl_init {\n    new apps = directors.round_robin();\n")
		for i := range p.apps {
			fmt.Fprintf(b, "    apps.add_backend(app%d);\n", i)
		}
		b.WriteString("}\n\n")
	}
}

// hostPort splits the address of an app; the port of HTTP is the default.
func hostPort(app string) (host, port string) {
	host, port, err := net.SplitHostPort(app)
	if err != nil {
		return app, "80"
	}
	return host, port
}

// receive passes what is not kept, and looks up the rest.
func (p *program) receive(b *strings.Builder) {
	b.WriteString("sub vcl_recv {\n")
	if len(p.apps) > 1 {
		b.WriteString("    set req.backend_hint = apps.backend();\n")
	}
	fmt.Fprintf(b, `    unset req.http.%s;
    if (req.restarts == 0 && req.esi_level == 0) {
        unset req.http.%s;
        # Varnish has added nginx's address: the app receives what nginx sent.
        set req.http.X-Forwarded-For = regsub(req.http.X-Forwarded-For, "(^|, )[^,]*$", "");
        if (req.http.X-Forwarded-For == "") {
            unset req.http.X-Forwarded-For;
        }
    }
    if (req.http.Upgrade) {
        return (pipe);
    }
    if (req.method != "GET" && req.method != "HEAD") {
        return (pass);
    }
    if (req.http.Proxy-Authorization || req.http.X-Api-Key || req.http.X-Auth-Token || req.http.X-Access-Token) {
        return (pass);
    }
`, stepHeader, generationHeader)
	p.eachPage(b, "req.url", func(g page) string {
		if g.shared {
			return "        unset req.http.Cookie;\n"
		}
		return "        # A request with a cookie is passed on.\n"
	}, "        return (pass);\n")
	if p.purge {
		fmt.Fprintf(b, "    if (!req.http.%s && !req.http.Cookie && !req.http.Authorization) {\n        set req.http.%s = \"generation\";\n    }\n", generationHeader, stepHeader)
	}
	b.WriteString("}\n\n")
}

// eachPage writes a chain of conditions on a URL.
func (p *program) eachPage(b *strings.Builder, url string, then func(page) string, otherwise string) {
	word := "    if"
	for _, g := range p.pages {
		fmt.Fprintf(b, "%s (%s ~ \"%s\") {\n%s    }", word, url, g.expression(), then(g))
		word = " elsif"
	}
	if otherwise != "" {
		b.WriteString(" else {\n" + otherwise + "    }")
	}
	b.WriteString("\n")
}

// hash adds to the key what tells answers apart, ahead of the URL and the host.
func (p *program) hash(b *strings.Builder) {
	b.WriteString("sub vcl_hash {\n")
	if p.purge {
		fmt.Fprintf(b, "    if (req.http.%s) {\n        hash_data(\"iikanji generation\");\n        return (lookup);\n    }\n    hash_data(req.http.%s);\n", stepHeader, generationHeader)
	}
	p.eachPage(b, "req.url", func(g page) string {
		var h strings.Builder
		for _, name := range g.headers {
			fmt.Fprintf(&h, "        hash_data(req.http.%s);\n", name)
		}
		return h.String()
	}, "")
	b.WriteString("}\n\n")
}

// fetch sends the app what nginx sent. A generation has no content to fetch.
func (p *program) fetch(b *strings.Builder) {
	b.WriteString("sub vcl_backend_fetch {\n")
	if p.purge {
		fmt.Fprintf(b, "    if (bereq.http.%s) {\n        return (error(200, \"generation\"));\n    }\n", stepHeader)
	}
	fmt.Fprintf(b, "    unset bereq.http.%s;\n    unset bereq.http.X-Varnish;\n    unset bereq.http.Via;\n", generationHeader)
	if slices.ContainsFunc(p.pages, func(g page) bool { return g.esi }) {
		b.WriteString("    # An app may send esi:include only to servers that announce it.\n    unset bereq.http.Surrogate-Capability;\n")
		p.eachPage(b, "bereq.url", func(g page) string {
			if !g.esi {
				return "        # It has no fragments.\n"
			}
			return "        set bereq.http.Surrogate-Capability = {\"iikanji=\"ESI/1.0\"\"};\n"
		}, "")
	}
	b.WriteString("}\n\n")
	p.fetchError(b)
}

// fetchError has an answer that the storage cannot hold fetched again, without
// keeping it.
func (p *program) fetchError(b *strings.Builder) {
	const again = `    if (bereq.retries == 0 && !bereq.uncacheable && (bereq.method == "GET" || bereq.method == "HEAD")) {
        return (retry);
    }
}

`
	b.WriteString("sub vcl_backend_error {\n")
	if !p.purge {
		b.WriteString(again)
		return
	}
	fmt.Fprintf(b, `    if (bereq.http.%[1]s) {
        set beresp.http.%[2]s = bereq.xid;
        set beresp.ttl = 365d;
        set beresp.grace = 0s;
        set beresp.body = "";
        return (deliver);
    }
    call iikanji_written;
`+again+`# The app may have written although it did not answer.
sub iikanji_written {
    if (bereq.method != "GET" && bereq.method != "HEAD" && bereq.method != "OPTIONS") {
        ban("obj.http.%[2]s ~ . && obj.http.%[2]s != " + bereq.xid);
    }
}

`, stepHeader, generationHeader)
}

// response decides how long an answer is kept: not longer than the app permits.
// The time that the app took counts, because the answer may be as old as the
// start of its request.
func (p *program) response(b *strings.Builder) {
	b.WriteString(`sub iikanji_not_kept {
    set beresp.ttl = 1s;
    set beresp.grace = 0s;
    set beresp.uncacheable = true;
    return (deliver);
}

sub vcl_backend_response {
`)
	fmt.Fprintf(b, "    unset beresp.http.%s;\n", generationHeader)
	if p.purge {
		fmt.Fprintf(b, "    call iikanji_written;\n    set beresp.http.%s = \"%s\";\n", generationHeader, anyGeneration)
	}
	b.WriteString(`    if (bereq.uncacheable) {
        return (deliver);
    }
    if (beresp.status != 200 || bereq.retries > 0) {
        call iikanji_not_kept;
    }
    # An answer that is larger than the storage would be cut off.
    if (!beresp.http.Content-Length) {
        set beresp.do_stream = false;
    } elsif (std.integer(beresp.http.Content-Length, 0) > 1048576) {
        call iikanji_not_kept;
    }
    set beresp.keep = 0s;
    # Answers with a short age would be in a storage without a limit.
    set beresp.storage = storage.s0;
`)
	p.eachPage(b, "bereq.url", page.kept, "")
	b.WriteString("}\n\n")
}

// kept is the age of a page's answers. From half of it on, one request renews the
// answer in the background.
func (g page) kept() string {
	text := fmt.Sprintf(`        if (now - bereq.time >= %[1]s) {
            call iikanji_not_kept;
        }
        if ((beresp.http.Expires || beresp.http.Cache-Control ~ "(?i)(max-age|s-maxage)=") && beresp.ttl < %[1]s) {
            set beresp.ttl = beresp.ttl - (now - bereq.time);
            set beresp.grace = 0s;
        } elsif (now - bereq.time < %[2]s) {
            set beresp.ttl = %[2]s - (now - bereq.time);
            set beresp.grace = %[2]s;
        } else {
            set beresp.ttl = 1ms;
            set beresp.grace = %[1]s - (now - bereq.time);
        }
`, duration(g.valid), duration(g.valid/2))
	if g.esi {
		text += "        set beresp.do_esi = true;\n"
	}
	return text
}

// duration is a length of time in VCL.
func duration(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) + "ms" }

// deliver restarts a request that has found the generation, and removes the
// headers by which Varnish names itself.
func (p *program) deliver(b *strings.Builder) {
	b.WriteString("sub vcl_deliver {\n")
	if p.purge {
		fmt.Fprintf(b, "    if (req.http.%[1]s) {\n        set req.http.%[2]s = resp.http.%[2]s;\n        return (restart);\n    }\n    unset resp.http.%[2]s;\n", stepHeader, generationHeader)
	}
	b.WriteString("    unset resp.http.X-Varnish;\n    unset resp.http.Via;\n}\n")
}
