package sites

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// everyday are common words, as titles, tags and names of routes have them alike.
var everyday = list(`account action advice album answer apple archive article artist autumn balance basket beach beauty bicycle birthday board book
	border bottle box branch breakfast brother budget building business butter cable camera campaign card carpet case ceiling chain chair chapter
	charge cheese child choice church circle city class client clock cloth cloud club coach coast code collection colour comment committee
	company concert contact contract copy corner cost cottage country course cousin cover crime culture cup customer damage dance daughter day
	deal debt decision degree delivery design desk detail device dinner direction doctor document dog door draft dream dress drink driver
	earth edge education effect effort energy evening event exam example exchange exercise factory failure family farm fashion father feature
	feedback field figure film finger fire fish flight floor flower folder food foot form freedom friend fruit future gallery game gate gift
	girl glass goal gold grass group guest guide hair hall hand health heart help history hobby holiday home hope horse hospital hotel hour house
	idea image income industry insect invoice island issue item job journey juice key king knife lake language laptop law leader leaf lesson
	letter level library light line list loan location lunch machine magazine mail manager map mark market match meal meeting member memory
	menu message metal milk mind minute mirror model moment money month moon morning mother mouse mouth movie museum music name nation nature
	network news night noise north note notice number object offer office oil option orange order owner page painting paper parent park part
	partner party path pattern payment peace pencil people person phone photo picture piece place plan plane plant plate player poem point
	police policy pool post power prize problem process product profile project promise proof quality queen question radio rain reason recipe
	record region report request rest result review reward rice ring river road rock role roof room root rule salad sale salt sample sand
	scene school science score screen sea search season seat second secret section series service session share sheep ship shirt shop sign
	silver sister size skill sky smile snow soap society solution song soup south space speech speed sport spring staff stage star start
	state station status step stock stone story street student study style success sugar summer sun support surface survey system table task tax
	teacher team test theatre theme thing thought ticket time tomato tool topic tour tower town toy trade traffic train travel tree trip
	truth type uncle union unit update user valley value version video view village visit voice wall war water wave way weather web wedding
	week weight wheel window wine winter wish woman wood word work world writer year youth zone`)

// headline is a slug of two to five everyday words.
func headline(r *rand.Rand) string {
	all := []string{pick(r, everyday)}
	for range 1 + r.IntN(4) {
		all = append(all, pick(r, everyday))
	}
	return strings.Join(all, "-")
}

// entry is a title of an encyclopedia: one to three everyday words.
func entry(r *rand.Rand) string {
	t := strings.ToUpper(letters(r, lower, 1)) + pick(r, everyday)[1:]
	for range r.IntN(3) {
		t += "_" + pick(r, everyday)
	}
	return t
}

func decimal(max float64, digits int) func(*rand.Rand) string {
	return func(r *rand.Rand) string { return fmt.Sprintf("%.*f", digits, max*r.Float64()) }
}

// degree is a latitude or longitude.
func degree(max float64) func(*rand.Rand) string {
	return func(r *rand.Rand) string { return fmt.Sprintf("%.*f", 2+r.IntN(4), max*(2*r.Float64()-1)) }
}

func release(r *rand.Rand) string {
	v := fmt.Sprintf("v%d.%d.%d", 1+r.IntN(3), r.IntN(20), r.IntN(12))
	if r.IntN(8) == 0 {
		v += fmt.Sprintf("-rc%d", 1+r.IntN(3))
	}
	return v
}

func semver(r *rand.Rand) string { return fmt.Sprintf("%d.%d.%d", r.IntN(6), r.IntN(20), r.IntN(12)) }

func ipv4(r *rand.Rand) string {
	return fmt.Sprintf("%d.%d.%d.%d", 1+r.IntN(220), r.IntN(256), r.IntN(256), 1+r.IntN(254))
}

func ipv6(r *rand.Rand) string { return "2001:db8::" + letters(r, hex, 4) + ":" + letters(r, hex, 3) }

func phone(r *rand.Rand) string { return "+81" + letters(r, "789", 1) + "0" + letters(r, digit, 8) }

func email(r *rand.Rand) string {
	return pick(r, people) + "." + pick(r, everyday) + "@" + pick(r, companies) + ".com"
}

func domain(r *rand.Rand) string {
	return pick(r, everyday) + pick(r, nouns) + "." + pick(r, list("com net org io dev jp co.uk"))
}

func monthName(r *rand.Rand) string {
	return pick(r, list("jan feb mar apr may jun jul aug sep oct nov dec"))
}

func dayOfMonth(r *rand.Rand) string { return fmt.Sprintf("%02d", 1+r.IntN(28)) }

func commonULID(r *rand.Rand) string {
	return "01J" + letters(r, "0123456789ABCDEFGHJKMNPQRSTVWXYZ", 23)
}

// member is the name of a user: a word, two words, or a word with digits.
func member(r *rand.Rand) string {
	switch r.IntN(5) {
	case 0:
		return pick(r, everyday) + pick(r, nouns)
	case 1:
		return pick(r, people) + "-" + pick(r, everyday)
	case 2:
		return pick(r, people) + fmt.Sprint(1+r.IntN(2000))
	case 3:
		return strings.ToUpper(letters(r, lower, 1)) + pick(r, nouns)
	}
	return pick(r, everyday)
}

// dashed is a name of one or two words, as packages and repositories have it.
func dashed(r *rand.Rand) string {
	if r.IntN(2) == 0 {
		return pick(r, everyday)
	}
	return pick(r, everyday) + "-" + pick(r, nouns)
}

// objectKey is a key in a bucket: folders of one to four parts and a file.
func objectKey(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(3) {
		switch r.IntN(4) {
		case 0:
			fmt.Fprintf(&b, "%d/", 2020+r.IntN(7))
		case 1:
			b.WriteString(letters(r, hex, 8) + "/")
		default:
			b.WriteString(pick(r, everyday) + "/")
		}
	}
	return b.String() + pick(r, nouns) + "-" + fmt.Sprint(r.IntN(900)) + "." + pick(r, list("parquet csv json.gz log bin jpg"))
}

// repoFile is a path of a file in a repository.
func repoFile(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(4) {
		b.WriteString(pick(r, list("src lib cmd internal docs test pkg app core util")) + "/")
	}
	return b.String() + pick(r, everyday) + "." + pick(r, list("go rb py md ts yml"))
}

// capital writes a word with a capital.
func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// someOf gives n different values of a maker as a list of words.
func someOf(seed uint64, n int, make func(*rand.Rand) string) string {
	r, seen, all := rand.New(rand.NewPCG(seed, 2)), map[string]bool{}, []string{}
	for len(all) < n {
		if v := make(r); !seen[v] {
			seen[v], all = true, append(all, v)
		}
	}
	return strings.Join(all, " ")
}

// each lists a route for each word, with weights that fall, behind a prefix and before a suffix.
func each(prefix, names, suffix string) string {
	var b strings.Builder
	for i, n := range list(names) {
		fmt.Fprintf(&b, "%s%s%s %.2f\n", prefix, n, suffix, 4/(1+float64(i%17)/3))
	}
	return "\n" + b.String()
}
