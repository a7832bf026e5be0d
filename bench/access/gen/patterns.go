package gen

// A Pattern is a route of the generated logs: the template to be learned, and a
// regular expression for tools that need one.
type Pattern struct {
	Method, Route, Regexp string
}

// Patterns are the routes of the generated logs.
func Patterns() []Pattern {
	const u = `[0-9a-f-]{36}`
	return []Pattern{
		{"GET", "/", `^/$`},
		{"GET", "/api/isu", `^/api/isu$`},
		{"GET", "/api/isu/:uuid", `^/api/isu/` + u + `$`},
		{"GET", "/api/isu/:uuid/icon", `^/api/isu/` + u + `/icon$`},
		{"GET", "/api/isu/:uuid/graph", `^/api/isu/` + u + `/graph$`},
		{"GET", "/api/condition/:uuid", `^/api/condition/` + u + `$`},
		{"POST", "/api/condition/:uuid", `^/api/condition/` + u + `$`},
		{"POST", "/api/isu", `^/api/isu$`},
		{"GET", "/api/trend", `^/api/trend$`},
		{"POST", "/api/auth", `^/api/auth$`},
		{"POST", "/api/signout", `^/api/signout$`},
		{"GET", "/api/user/me", `^/api/user/me$`},
		{"GET", "/isu/:uuid", `^/isu/` + u + `$`},
		{"GET", "/isu/:uuid/condition", `^/isu/` + u + `/condition$`},
		{"GET", "/isu/:uuid/graph", `^/isu/` + u + `/graph$`},
		{"GET", "/register", `^/register$`},
		{"GET", "/posts", `^/posts$`},
		{"GET", "/posts/:id", `^/posts/[0-9]+$`},
		{"POST", "/posts/:id/comments", `^/posts/[0-9]+/comments$`},
		{"GET", "/image/:id.jpg", `^/image/[0-9]+\.jpg$`},
		{"GET", "/image/:id.png", `^/image/[0-9]+\.png$`},
		{"GET", "/users/:any", `^/users/[a-z0-9]+$`},
		{"GET", "/users/:any/followers", `^/users/[a-z0-9]+/followers$`},
		{"GET", "/@:name", `^/@[a-z0-9]+$`},
		{"GET", "/api/items/:id", `^/api/items/[0-9]+$`},
		{"PUT", "/api/items/:id", `^/api/items/[0-9]+$`},
		{"DELETE", "/api/items/:id", `^/api/items/[0-9]+$`},
		{"GET", "/api/search", `^/api/search$`},
		{"GET", "/assets/:file.js", `^/assets/[a-z]+\.[0-9a-f]+\.js$`},
		{"GET", "/assets/:file.css", `^/assets/[a-z]+\.[0-9a-f]+\.css$`},
		{"GET", "/favicon.ico", `^/favicon\.ico$`},
		{"GET", "/healthz", `^/healthz$`},
		{"GET", "/orders/:uuid/receipt.pdf", `^/orders/` + u + `/receipt\.pdf$`},
		{"PATCH", "/api/settings", `^/api/settings$`},
	}
}
