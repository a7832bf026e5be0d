package sites

// Tuned are the sites by which the learner was developed.
var Tuned = []Site{
	{Name: "blog, 30 slugs", Lines: 3000, Pools: map[string]Pool{"slug": {slug, 30, true}, "tag": {from(tags), 20, true}}, Routes: `
		GET / 5
		GET /about
		GET /posts 2
		GET /posts/{slug} 10
		GET /tags/{tag} 3
		GET /feed.xml
		GET /static/app.css
		GET /static/app.js`},
	{Name: "blog, 24 slugs, 300 lines", Lines: 300, Model: Content, Pools: map[string]Pool{"slug": {longSlug, 24, false}}, Routes: `
		GET / 5
		GET /about
		GET /blog/{slug} 12
		GET /contact
		POST /contact`},
	{Name: "users at the root", Lines: 8000, Pools: map[string]Pool{"user": {user, 60, true}}, Routes: `
		GET /{user} 20
		GET /{user}/followers 5
		GET /{user}/following 3
		POST /{user}/follow 2
		GET /settings 4
		POST /settings
		GET /login 2
		POST /login 2
		GET /explore 3
		GET /notifications 3
		GET /search 3
		GET / 5`},
	{Name: "users below /u, same times", Lines: 2000, Model: Same, Pools: map[string]Pool{"user": {user, 40, false}}, Routes: `
		GET /u/{user} 10
		GET /u/{user}/posts 4
		GET /u/me 3
		GET /timeline 3
		POST /posts 2`},
	{Name: "tenants below /t", Lines: 5000, Pools: map[string]Pool{"tenant": {from(companies), 20, false}}, Routes: `
		GET /t/{tenant}/players 5
		GET /t/{tenant}/scores 8
		POST /t/{tenant}/scores 3
		GET /login
		GET /health`},
	{Name: "tenants at the root", Lines: 6000, Pools: map[string]Pool{"tenant": {from(companies), 25, true}}, Routes: `
		GET /{tenant}/dashboard 3
		GET /{tenant}/orders 5
		GET /{tenant}/orders/{id} 8
		POST /{tenant}/orders 3
		GET /{tenant}/settings
		GET /login
		POST /login
		GET /assets/app.js
		GET /api/status`},
	{Name: "twelve resources", Lines: 6000, Routes: crud("/api/v1/", "users posts comments orders invoices shipments warehouses suppliers coupons reviews sessions devices")},
	{Name: "twelve resources, same times", Lines: 4000, Model: Same, Routes: crud("/api/v2/", "users posts comments orders invoices shipments warehouses suppliers coupons reviews sessions devices")},
	{Name: "resources with forms", Lines: 8000, Routes: forms("/", "recipes ingredients members meetings rooms bookings payments documents folders projects tasks labels milestones releases badges")},
	{Name: "80 RPC names", Lines: 8000, Routes: rpc("POST /rpc/", "Get List Create Update Delete Search Export Archive", "User Order Invoice Product Session Report Team Ticket Device Payment")},
	{Name: "80 RPC names, same times", Lines: 3000, Model: Same, Routes: rpc("POST /twirp/shop.v1.Shop/", "Get List Create Update Delete Search Export Archive", "Customer Basket Parcel Voucher Review Address Refund Supplier Shelf Badge")},
	{Name: "40 pages at the root", Lines: 4000, Routes: words("GET /", `about pricing contact careers press team partners customers enterprise security privacy terms cookies legal
		support help faq status docs developers api-reference changelog roadmap blog newsletter events webinars podcast community forum
		features integrations templates gallery download demo login signup forgot-password case-studies`)},
	{Name: "shop", Lines: 12000, Model: Content, Pools: map[string]Pool{"product": {shortSlug, 80, true}, "category": {from(genres), 14, true}}, Routes: `
		GET / 6
		GET /products/{product} 20
		GET /products/{product}/reviews 4
		POST /products/{product}/reviews
		GET /category/{category} 8
		GET /cart 4
		POST /cart/items 3
		DELETE /cart/items/{id}
		GET /checkout 2
		POST /checkout
		GET /account
		GET /account/orders
		GET /account/orders/{id}
		GET /search 4`},
	{Name: "videos", Lines: 5000, Pools: map[string]Pool{"video": {random("", base64, 11), 400, true}, "channel": {random("UC", base64, 22), 100, true}}, Routes: `
		GET /watch/{video} 10
		GET /embed/{video} 4
		POST /watch/{video}/like 2
		GET /channel/{channel} 3
		GET /trending`},
	{Name: "payments", Lines: 4000, Pools: map[string]Pool{"cus": {random("cus_", base62, 14), 0, false}, "pi": {random("pi_", base62, 24), 300, false}}, Routes: `
		POST /v1/customers 2
		GET /v1/customers/{cus} 5
		POST /v1/customers/{cus} 2
		GET /v1/payment_intents 2
		GET /v1/payment_intents/{pi} 6
		POST /v1/payment_intents/{pi}/confirm 4
		POST /v1/payment_intents/{pi}/cancel
		GET /v1/balance`},
	{Name: "Next.js", Lines: 5000, Pools: map[string]Pool{"build": {random("", base64, 21), 6, false}, "page": {slug, 40, true}, "chunk": {chunk(hex, 16), 30, false}}, Routes: `
		GET / 5
		GET /articles/{page} 8
		GET /_next/data/{build}/articles/{page}.json 8
		GET /_next/data/{build}/index.json 2
		GET /_next/static/{build}/_buildManifest.js 3
		GET /_next/static/chunks/{chunk}.js 9
		GET /_next/image 3`},
	{Name: "Vite", Lines: 4000, Pools: map[string]Pool{"asset": {chunk(base64, 8), 25, false}, "style": {chunk(base64, 8), 5, false}}, Routes: `
		GET / 3
		GET /assets/{asset}.js 10
		GET /assets/{style}.css 3
		GET /api/todos 5
		GET /api/todos/{id} 3
		PUT /api/todos/{id} 2`},
	{Name: "short ids", Lines: 3000, Pools: map[string]Pool{"short": {random("", base36, 7), 60, true}}, Routes: `
		GET /p/{short} 10
		GET /p/{short}/raw 3
		POST /p 2
		GET /recent`},
	{Name: "documentation", Lines: 4000, Model: Content, Pools: map[string]Pool{"page": {shortSlug, 50, true}}, Routes: `
		GET /docs/{page} 12 like=page
		GET /docs/api/{page} 4 like=page
		GET /docs 2
		GET /search 2
		GET /versions`},
	{Name: "wiki", Lines: 4000, Pools: map[string]Pool{"title": {title, 70, true}}, Routes: `
		GET /wiki/{title} 12
		GET /wiki/{title}/history 2
		POST /wiki/{title}/edit
		GET /recent-changes
		GET /random`},
	{Name: "owners and repositories", Lines: 15000, Pools: map[string]Pool{"owner": {user, 40, true}, "repo": {shortSlug, 50, true}}, Routes: `
		GET /{owner} 5
		GET /{owner}/{repo} 10
		GET /{owner}/{repo}/issues 4
		GET /{owner}/{repo}/issues/{id} 6
		GET /{owner}/{repo}/pulls 2
		GET /login
		GET /explore 2`},
	{Name: "eight locales", Lines: 5000, Pools: map[string]Pool{"locale": {from(locales), 8, true}, "slug": {slug, 30, true}}, Routes: `
		GET /{locale} 5
		GET /{locale}/about 2
		GET /{locale}/pricing 2
		GET /{locale}/blog/{slug} 6
		GET /{locale}/blog 2
		GET /robots.txt`},
	{Name: "scanners", Lines: 6000, Noise: 0.3, Routes: `
		GET / 5
		GET /login 2
		POST /login
		GET /items/{id} 8
		GET /cart`},
	{Name: "chat", Lines: 20000, Pools: map[string]Pool{"room": {shortSlug, 25, true}, "user": {user, 50, true}}, Routes: `
		GET /api/rooms 2
		GET /api/rooms/{room} 4
		GET /api/rooms/{room}/messages 10
		POST /api/rooms/{room}/messages 6
		GET /api/users/{user} 5
		GET /api/users/me 3
		GET /api/emoji`},
	{Name: "administration", Lines: 5000, Routes: words("GET /admin/", `dashboard users roles permissions audit billing invoices plans quotas jobs queues workers caches logs metrics alerts
		backups settings mail templates themes plugins languages currencies taxes shipping`) + words("POST /admin/", "users roles backups settings mail")},
	{Name: "dated news", Lines: 8000, Pools: map[string]Pool{"section": {from(list("politics business technology science health sports opinion arts travel style food weather")), 12, true}, "slug": {slug, 200, true}}, Routes: `
		GET / 5
		GET /{section} 4
		GET /{section}/{year}/{mm}/{slug} 10
		GET /search
		GET /subscribe`},
	{Name: "rental contest", Lines: 10000, Routes: `
		POST /initialize 0.01
		GET /api/chair/{id} 8
		GET /api/chair/low_priced 3
		GET /api/chair/search 6
		GET /api/chair/search/condition 1
		POST /api/chair/buy/{id} 2
		GET /api/estate/{id} 8
		GET /api/estate/low_priced 3
		GET /api/estate/search 6
		POST /api/estate/req_doc/{id}
		GET /api/recommended_estate/{id} 2`},
	{Name: "forum", Lines: 10000, Pools: map[string]Pool{"sub": {from(tags), 30, true}, "thread": {random("", base36, 6), 500, true}, "slug": {slug, 500, true}}, Routes: `
		GET / 3
		GET /r/{sub} 8
		GET /r/{sub}/new 2
		GET /r/{sub}/comments/{thread}/{slug} 10
		POST /r/{sub}/submit
		GET /message/inbox
		GET /user/settings`},
	{Name: "200 lines", Lines: 200, Routes: `
		POST /graphql 10
		GET /health 5
		GET /metrics 3
		GET /`},
	{Name: "homes with users", Lines: 3000, Users: "user", Pools: map[string]Pool{"user": {from(people), 15, false}}, Routes: `
		GET /home/{user} 6
		GET /home/{user}/files 4
		GET /shared 2
		GET /search 2`},
	{Name: "spaces of five users", Lines: 400, Model: Same, Users: "user", Pools: map[string]Pool{"user": {from(people), 6, false}}, Routes: `
		GET /space/{user} 6
		GET /shared 4
		GET /trash`},
}
