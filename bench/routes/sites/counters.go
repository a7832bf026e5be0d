package sites

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// counters are shops and services that people look things up in.
var counters = []Site{
	{Name: "shop with categories and numbered slugs", Pools: map[string]Pool{"cat": {from(genres), 16, true}, "sub": {dashed, 60, true}, "product": {func(r *rand.Rand) string { return fmt.Sprintf("%s-p%d", headline(r), 1000+r.IntN(90000)) }, 1500, true}}, Routes: `
		GET / 5
		GET /{cat} 3
		GET /{cat}/{sub} 5
		GET /{cat}/{sub}/{product} 12
		GET /cart 3
		POST /cart/add 2
		GET /checkout 1
		POST /checkout 1
		GET /search 4
		GET /account/orders 1
		GET /account/orders/{id} 1`},
	{Name: "Magento", Pools: map[string]Pool{"slug": {headline, 500, true}, "md5": {random("", hex, 32), 3, false}, "a": {random("", lower, 1), 20, false}, "file": {func(r *rand.Rand) string { return fmt.Sprintf("%s%d_1.jpg", letters(r, lower, 3), r.IntN(90000)) }, 900, true}}, Routes: `
		GET / 4
		GET /{slug}.html 12
		GET /catalog/product/view/id/{id} 2
		GET /catalogsearch/result/ 3
		GET /media/catalog/product/cache/{md5}/{a}/{a}/{file} 15
		GET /checkout/cart/ 2
		GET /checkout/ 1
		GET /customer/account/login/ 1
		POST /customer/account/loginPost/ 1
		GET /customer/section/load/ 5
		POST /rest/default/V1/guest-carts/{md5}/items 1`},
	{Name: "prices, all alike", Model: Flat, Pools: map[string]Pool{"price": {decimal(500, 2), 0, false}, "ean": {random("49", digit, 11), 800, true}, "pair": {versus, 200, true}}, Routes: `
		GET /price/{price} 8
		GET /p/{ean} 8
		GET /p/{ean}/offers 4
		GET /compare/{pair} 3
		GET /below/{price}/above/{price} 3
		GET /about 2
		GET /alerts 2`},
	{Name: "homes for sale", Model: Content, Pools: map[string]Pool{"zpid": {func(r *rand.Rand) string { return fmt.Sprintf("%s-%d_zpid", headline(r), 10000000+r.IntN(80000000)) }, 900, true},
		"place": {func(r *rand.Rand) string { return pick(r, places) + "-" + pick(r, list("ca ny tx wa or fl")) }, 60, true}, "zip": {random("9", digit, 4), 200, true}, "agent": {shortSlug, 50, true}}, Routes: `
		GET /homedetails/{zpid}/ 12
		GET /{place}/ 5
		GET /{place}/{zip}/ 4
		GET /agents/{agent} 2
		GET /mortgage-calculator 1
		POST /graphql 6
		GET /saved 1`},
	{Name: "tickets by row and seat", Pools: map[string]Pool{"day": {day, 0, false}, "event": {headline, 60, true}, "seat": {func(r *rand.Rand) string {
		return letters(r, "ABCDEFGHJK", 1) + "-" + fmt.Sprint(1+r.IntN(40))
	}, 0, false}, "venue": {dashed, 16, true}}, Routes: `
		GET /events/{day} 4
		GET /events/{day}/{event} 8
		GET /venues/{venue} 2
		GET /venues/{venue}/map 2
		POST /holds/{seat} 4
		DELETE /holds/{seat} 2
		GET /orders/{uuid} 3
		POST /orders 1
		GET /events 2`},
	{Name: "bank", Pools: map[string]Pool{"iban": {func(r *rand.Rand) string { return "DE" + letters(r, digit, 20) }, 400, true}, "pair": {func(r *rand.Rand) string { return pick(r, currencies) + "-" + pick(r, currencies) }, 90, true}, "rate": {decimal(9, 4), 0, false}}, Routes: `
		GET /accounts 3
		GET /accounts/{iban} 4
		GET /accounts/{iban}/transactions 8
		GET /accounts/{iban}/transactions/{id} 3
		POST /transfers 2
		GET /fx/{pair} 4
		GET /fx/{pair}/at/{rate} 2
		GET /cards 1
		POST /cards/{id}/freeze 1
		POST /token 3`},
	{Name: "maps and coordinates", Pools: map[string]Pool{"lat": {degree(90), 0, false}, "lon": {degree(180), 0, false}, "z": upTo(18), "zip": {random("", digit, 5), 0, false}}, Routes: `
		GET /geo/{lat}/{lon} 8
		GET /reverse/{lat},{lon} 5
		GET /elevation/{lat}/{lon}/{lat}/{lon} 3
		GET /tiles/{z}/{id}/{id}.png 20
		GET /tiles/{z}/{id}/{id}@2x.png 6
		GET /zip/{zip} 3
		GET /style/dark.json 2
		GET /style/light.json 2
		GET /health 1`},
	{Name: "job board", Model: Content, Pools: map[string]Pool{"job": {func(r *rand.Rand) string { return fmt.Sprintf("%s-%d", headline(r), 10000+r.IntN(900000)) }, 900, true}, "company": {from(companies), 46, true}, "title": {shortSlug, 60, true}}, Routes: `
		GET /jobs 4
		GET /jobs/{job} 14
		POST /jobs/{job}/apply 1
		GET /companies/{company} 4
		GET /companies/{company}/jobs 3
		GET /companies/{company}/reviews 2
		GET /salaries/{title} 3
		GET /login 1
		GET /for-employers 1`},
	{Name: "videos with ids of eleven", Pools: map[string]Pool{"video": {random("", base64, 11), 1500, true}, "list": {random("PL", base64, 32), 200, true}, "handle": {func(r *rand.Rand) string { return "@" + member(r) }, 300, true}, "short": {random("", base62, 5), 300, true}}, Routes: `
		GET /v/{video} 14
		GET /embed/{video} 5
		GET /shorts/{video} 6
		GET /playlist/{list} 2
		GET /{handle} 4
		GET /{handle}/videos 3
		GET /s/{short} 5
		GET /feed/subscriptions 2
		GET /feed/history 1
		POST /youtubei/v1/player 6
		POST /youtubei/v1/log_event 8`},
	{Name: "look-ups of numbers and addresses", Pools: map[string]Pool{"phone": {phone, 0, false}, "ip": {ipv4, 0, false}, "ip6": {ipv6, 0, false}, "mail": {email, 0, false}, "domain": {domain, 500, true}, "type": {from(list("A AAAA MX TXT NS CNAME")), 6, true}}, Routes: `
		GET /phone/{phone} 5
		GET /ip/{ip} 8
		GET /ip6/{ip6} 3
		GET /email/{mail} 4
		GET /whois/{domain} 6
		GET /dns/{domain}/{type} 6
		GET /ip/me 3
		GET /usage 2
		POST /bulk 1`},
}

// initials are two or three capitals.
func initials(r *rand.Rand) string { return strings.ToUpper(letters(r, lower, 2+r.IntN(2))) }
