package accesslog

import (
	"bytes"
	"strings"
)

func wordSet(s string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(s) {
		set[w] = true
	}
	return set
}

// reservedWords are segments that routers define as words beside parameters
// ("/users/me", "/settings" beside "/:user"). Sites do not allow them as names.
var reservedWords = wordSet(`login logout signin signout sign-in sign-out signup sign-up register auth oauth oauth2 callback password
	forgot-password reset-password settings preferences me self new edit search explore discover trending popular recent latest random
	feed rss about contact help faq terms privacy legal api graphql admin dashboard static assets public health healthz healthcheck
	ping metrics status version versions upload uploads download downloads notifications inbox cart checkout account profile home index
	timeline create update delete export import bulk batch count stats all current default list raw webhook webhooks docs robots.txt
	favicon.ico sitemap.xml index.php index.html feed.xml rss.xml subscribe unsubscribe recent-changes livez readyz cgi-bin css js img
	images fonts media vendor dist build _next socket.io ws initialize`)

// collectionWords are nouns of collections: a segment behind one of them is
// usually the name of a member.
var collectionWords = wordSet(`user users u member members people profile profiles author authors player players customer customers post posts
	blog blogs article articles entry entries story stories news note notes page pages wiki doc docs tag tags topic topics label labels
	category categories cat product products item items p shop shops store stores brand brands book books movie movies song songs
	album albums artist artists genre genres channel channels room rooms group groups team teams org orgs organization organizations
	company companies tenant tenants t workspace workspaces project projects repo repos site sites city cities place places country
	countries event events course courses lesson lessons recipe recipes game games forum forums board boards r c s w lang locale
	section sections collection collections event tournament tournaments series show shows hotel hotels restaurant restaurants watch
	account accounts merchant merchants seller sellers client clients student students teacher teachers driver drivers stream streams
	thread threads playlist playlists episode episodes podcast podcasts station stations venue venues listing listings
	embed video videos home homes files dataset datasets package packages plugin plugins theme themes job-board keyword keywords`)

// looseCollections are collection words that are common before words too:
// "/game/start", "/shop/returns".
var looseCollections = wordSet("game games home homes shop shops store stores site sites event events series show shows watch embed lang note c s w r cat files docs doc")

// weakReserved are reserved words that may be members of a collection
// ("/tags/css").
var weakReserved = wordSet("css js img images fonts media vendor dist build docs health static assets public api privacy terms legal version home index profile password auth contact about help faq raw download downloads metrics ws")

// procedureFolders are segments before names of procedures and pages of administration.
var procedureFolders = wordSet(`rpc jsonrpc twirp trpc xrpc functions function fn procedures procedure methods method actions action cmd command
	commands services service ajax admin administrator manage management manager backend backoffice panel console staff intranet servlet
	cgi-bin control dashboard portal system internal`)

// isCollection reports whether the segment behind a text is usually the name of
// a member: the text is a known noun, a letter ("/u/…"), or a plural.
func isCollection(text string) (strict, loose bool) {
	n := len(text)
	switch {
	case looseCollections[text] || n == 1 && !collectionWords[text]:
		return false, true
	case collectionWords[text]:
		return true, false
	}
	plural := n >= 4 && text[n-1] == 's' && text[n-2] != 's'
	return false, plural && !reservedWords[text] && !routeWords[text]
}

// genericBelow are segments below names of any kind: they prove neither values
// nor words.
var genericBelow = wordSet("new edit create update delete search list all count export import bulk batch stats health healthz metrics ping version docs")

// routeWords are other words that are common in routes: resources, pages,
// actions. As names of values they are rare.
var routeWords = wordSet(`sessions session devices device orders order invoices invoice payments payment reviews review comments comment coupons
	shipments warehouses suppliers messages message tasks task documents document folders folder bookings booking meetings meeting
	milestones releases release badges badge roles role permissions permission audit billing plans plan quotas quota jobs job queues queue
	workers worker caches cache logs log alerts alert backups backup mail email emails templates template languages currencies currency
	taxes tax shipping pricing careers press partners partner enterprise security cookies support developers api-reference changelog
	roadmap newsletter webinars podcast community features integrations gallery demo case-studies followers following likes like follow
	unfollow reports report analytics charts chart graph summary overview history activity activities favorites favourites bookmarks
	wishlist address addresses cards card wallet balance transactions transaction transfers refunds refund subscriptions subscription
	tokens token keys key secrets config configuration system internal debug info meta types kinds options filters sort autocomplete
	suggest suggestions recommendations recommended validate verify confirm cancel approve reject activate deactivate enable disable
	start stop restart run sync refresh reset clear close open lock unlock archive restore publish unpublish share invite join leave
	accept decline send receive read unread mark reply forward move copy rename merge split compare preview render print customers
	low_priced condition conditions areas area regions region locations location maps map contacts leads deals tickets ticket
	leaderboard leaderboards ranking rankings ladder lobby deals offers sale sales market markets watchlist compose draft drafts lists
	moments spaces premium pro business certificate certificates catalog catalogue usage limit limits weather forecast today tomorrow
	calendar schedule agenda planner budget insights trends hot best rising onboarding welcome tour install installation quickstart
	tutorial tutorials guide guides examples playground reference glossary manual license licenses accessibility sitemap imprint
	returns gift gifts voucher redeem loyalty rewards points referral referrals invites affiliate affiliates sponsors sponsor donate
	donations volunteer
	issues issue pulls pull commits branches wiki tree blob blame actions packages insights network code attachments`)

// verbs begin the names of procedures: GetUser, list_items.
var verbs = wordSet(`get list create update delete set add remove search find fetch load save send post put patch check validate verify
	generate compute calculate process handle run start stop cancel approve reject export import upload download sync refresh reset
	register login logout sign batch bulk count query lookup resolve publish archive restore is has do make mark move copy notify
	subscribe unsubscribe enable disable lock unlock open close read write stream watch exchange revoke issue confirm submit`)

// isReserved reports whether a literal keeps its place among values: a
// reserved word in any case, or a version such as v1 or 2.0.
func isReserved(text []byte) bool {
	if len(text) < 2 || len(text) > 20 {
		return false
	}
	if isVersion(text) {
		return true
	}
	if reservedWords[string(text)] { // does not allocate
		return true
	}
	if maskOf(text)&cUpper == 0 {
		return false
	}
	return reservedWords[string(bytes.ToLower(text))]
}

// isVersion accepts v1, V2, v1.2, v1beta1, 2.0: versions of interfaces. 1.25.3
// is that of a release, which may be a value.
func isVersion(text []byte) bool {
	if text[0]|0x20 == 'v' && len(text) > 1 {
		text = text[1:]
	} else if bytes.Count(text, []byte(".")) != 1 {
		return false
	}
	if len(text) > 8 || classOf[text[0]] != cDigit || bytes.Count(text, []byte(".")) > 1 {
		return false
	}
	for _, part := range []string{"alpha", "beta", "rc"} {
		if i := bytes.Index(text, []byte(part)); i > 0 {
			text = append(bytes.Clone(text[:i]), text[i+len(part):]...)
		}
	}
	return maskOf(text)&^(cDigit|cDot) == 0
}

// movingReleases are names of releases that move.
var movingReleases = wordSet("stable latest dev main master nightly next edge current develop devel head trunk")

// areReleases reports whether all names are those of releases: numbers with points, and at
// least one that moves. Versions of an interface have none.
func areReleases(names []*branch) bool {
	moving := 0
	for _, c := range names {
		text := string(c.shape.text)
		switch {
		case movingReleases[text]:
			moving++
		case !strings.Contains(text, ".") || !isVersion(c.shape.text) && !isRelease(text):
			return false
		}
	}
	return moving > 0 && len(names) >= 3
}

// wordsOf splits a name at dashes, underscores and dots, and before capitals,
// into lower-case words.
func wordsOf(text string) (words []string) {
	start := 0
	cut := func(end int) {
		if end > start {
			words = append(words, strings.ToLower(text[start:end]))
		}
	}
	for i := 0; i < len(text); i++ {
		switch k := classOf[text[i]]; {
		case k&(cJoin|cDot) != 0:
			cut(i)
			start = i + 1
		case k&cUpper != 0 && i > start && (classOf[text[i-1]]&cUpper == 0 || i+1 < len(text) && classOf[text[i+1]]&cLower != 0):
			cut(i)
			start = i
		}
	}
	cut(len(text))
	return words
}

func isRouteWord(w string) bool {
	return reservedWords[w] || routeWords[w] || collectionWords[w] && len(w) > 2
}

// knownWords is the score of a name whose words are all common in routes.
const knownWords = -2

// lexical scores the text of a name: positive for the forms of values (slugs,
// user names, random texts), negative for words and procedures. The unit is
// that of [evidence].
func lexical(text string) float64 {
	text, script := withoutEnding(text)
	if script {
		return -1
	}
	mask := maskOf([]byte(text))
	words := wordsOf(text)
	known := 0
	for _, w := range words {
		if isRouteWord(w) || verbs[w] {
			known++
		}
	}
	camel := mask&cUpper != 0 && mask&(cJoin|cDigit) == 0 && len(words) > 1
	switch {
	case mask&cOther != 0: // percent-encoded or not ASCII
		return 2
	case len(words) == 0:
		return 0
	case mask == mask&cUpper && len(text) <= 6: // codes: AAPL, HND
		return 2
	case len(words) > 1 && verbs[words[0]] && (mask&cDigit == 0 || mask&cJoin == 0) && (camel || mask&cUnder != 0 || len(words) == 2):
		return -3
	case known == len(words):
		return knownWords
	case isRelease(text):
		return 2.5
	case mask&cDigit != 0:
		return digitScore(text)
	case camel:
		return -1
	case len(words) >= 3:
		return 2.5
	case len(words) == 2 && known == 0:
		return 1.7
	}
	return 0
}

// withoutEnding removes the ending of a page or of data; script reports an
// ending of server-side scripts, which are routes.
func withoutEnding(text string) (without string, script bool) {
	stem, ext, ok := ending([]byte(text))
	if !ok {
		return text, false
	}
	switch strings.ToLower(string(ext)) {
	case "php", "jsp", "asp", "aspx", "do", "cgi", "action", "pl", "ashx", "asmx", "cfm":
		return string(stem), true
	case "json", "html", "htm", "xml", "md", "txt", "rss", "atom":
		return string(stem), false
	}
	return text, false
}

// isRelease reports whether a name is the version of a release: v1.19.14, 2.4.1-rc2.
func isRelease(text string) bool {
	if text[0]|0x20 == 'v' {
		text = text[1:]
	}
	core, _, _ := strings.Cut(text, "-")
	return strings.Count(core, ".") >= 2 && maskOf([]byte(core))&^(cDigit|cDot) == 0
}

// digitScore scores a name with digits: at its end (user12) or elsewhere.
func digitScore(text string) float64 {
	i := len(text)
	for i > 0 && classOf[text[i-1]] == cDigit {
		i--
	}
	if maskOf([]byte(text[:i]))&cDigit == 0 {
		return 1.5
	}
	return 2
}

// looksRandom reports whether a literal may be a random text at a position
// that has other random texts. Words do not mix cases or digits this way.
func looksRandom(text []byte) bool {
	mask := maskOf(text)
	if bytes.Count(text, []byte("%")) >= 3 {
		return true // percent-encoded, as longer ones that are tokens
	}
	if len(text) < 6 || mask&(cOther|cDot) != 0 || mask&(cDigit|cUpper) == 0 {
		return false
	}
	if mask&cDigit == 0 {
		return mask&cLower != 0 && !isTitle(text)
	}
	changes := 0
	for i := 1; i < len(text); i++ {
		a, b := classOf[text[i-1]], classOf[text[i]]
		if (a&cUpper != 0) != (b&cUpper != 0) || (a == cDigit) != (b == cDigit) {
			changes++
		}
	}
	return changes >= 2 || mask&cLower == 0
}

// hashTail reports whether the stem of a file ends in a hash: index-BfX3q9aZ,
// app.3f2a1bc9. With weak, any tail of eight letters is one: bundlers write
// hashes of this length.
func hashTail(stem []byte, weak bool) bool {
	i := bytes.LastIndexAny(stem, "-._~")
	for i > 0 && len(stem)-i-1 < 6 { // dashes are part of base64
		i = bytes.LastIndexAny(stem[:i], "-._~")
	}
	if i <= 0 {
		return false
	}
	tail := stem[i+1:]
	if k := bytes.LastIndexByte(stem, '-'); len(tail) > 12 && k > i {
		return false
	}
	mask := maskOf(tail)
	if weak && len(tail) == 8 {
		return true
	}
	if mask&cDigit != 0 && isNamedPlatform(tail) {
		return false
	}
	return len(tail) >= 6 && len(tail) <= 40 && (mask&cDigit != 0 || mask&cUpper != 0 && mask&cLower != 0 && !isTitle(tail))
}

// isTitle reports whether a text is words that begin with capitals: each has at
// least three letters and a vowel. Small letters before the first capital need a vowel.
func isTitle(text []byte) bool {
	letters, vowel := 3, len(text) == 0 || classOf[text[0]]&cLower == 0
	for _, c := range text {
		k := classOf[c]
		switch {
		case k&cUpper != 0 || k&cLetter == 0:
			if letters > 0 && (letters < 3 || !vowel) {
				return false
			}
			letters, vowel = 0, false
		}
		if k&cLetter != 0 {
			letters++
			vowel = vowel || isVowel(c|0x20)
		}
	}
	return letters == 0 || letters >= 3 && vowel
}

func isVowel(c byte) bool {
	return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u' || c == 'y'
}
