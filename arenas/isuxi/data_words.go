package isuxi

import "strings"

// Names that people are called by, in katakana.
var nickNames = strings.Fields(`アイ アオイ アキ アキラ アツシ アヤ イサム イズミ エイジ エミ カオル カズキ カナ カヨ ケイコ ケン ケンジ
	コウイチ コトネ サキ サトシ サヤカ シオリ シゲル シズカ シンジ スミレ セイラ ソウタ タカシ タクミ チカ チヒロ ツバサ テツヤ トオル
	トモコ ナオキ ナツキ ノゾミ ハルカ ハルト ヒカリ ヒロシ フミコ マコト マサル ミキ ミサキ ミノル メグミ モモカ ヤスシ ユイ ユウキ
	ヨウコ リク リョウ レイナ ワタル`)

// Family and given names in hiragana.
var (
	lastNames = strings.Fields(`あおき あんどう いしだ いとう うえだ えんどう おおの おかだ かとう かわぐち きむら くどう こばやし さいとう さくらい
		しみず すぎやま たかはし たなか ちば つちや なかむら にしだ のぐち はせがわ はらだ ひらの ふじい ほんだ まえだ みうら むらた
		もりた やまぐち よしだ わたなべ`)
	firstNames = strings.Fields(`あい あかり あきと いつき えいた えり かいと かえで かずや きょうこ けんた こうじ さくら さとみ しおり しゅん すず
		そら たいち たける ちなつ つむぎ とうま なお なつみ のりこ はな はると ひなた ひろと まい まさし みお みなと もえ やまと
		ゆい ゆうた りこ りん`)
)

// mailDomains are reserved for examples.
var mailDomains = []string{"example.com", "example.net", "example.org", "mail.example.com", "post.example.net"}

var sexes = []string{"男性", "女性"}

const otherSex = "その他"

var prefectures = strings.Fields(`北海道 青森県 岩手県 宮城県 秋田県 山形県 福島県 茨城県 栃木県 群馬県 埼玉県 千葉県 東京都 神奈川県 新潟県
	富山県 石川県 福井県 山梨県 長野県 岐阜県 静岡県 愛知県 三重県 滋賀県 京都府 大阪府 兵庫県 奈良県 和歌山県 鳥取県 島根県
	岡山県 広島県 山口県 徳島県 香川県 愛媛県 高知県 福岡県 佐賀県 長崎県 熊本県 大分県 宮崎県 鹿児島県 沖縄県`)
