package isublog

import "sync"

// All initial comments together take some 40 MB, so none are kept: what is needed of
// them is drawn again.

// latestCommented lists the articles by their newest initial comment, the newest
// first.
var latestCommented = sync.OnceValue(func() []int {
	order := make([]int, 0, Comments)
	if err := eachComment(func(c Comment) error { order = append(order, c.Article); return nil }); err != nil {
		panic("BUG: " + err.Error())
	}
	seen := make([]bool, Articles+1)
	var ids []int
	for i := len(order) - 1; i >= 0; i-- {
		if id := order[i]; !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	return ids
})

// drawn keeps the result of initialComments: a test runs many times on one article.
var drawn sync.Map // []Comment by article

// initialComments lists the initial comments of an article in their order.
func initialComments(article int) (list []Comment) {
	if known, ok := drawn.Load(article); ok {
		return known.([]Comment)
	}
	err := eachComment(func(c Comment) error {
		if c.Article == article {
			list = append(list, c)
		}
		return nil
	})
	if err != nil {
		panic("BUG: " + err.Error())
	}
	drawn.Store(article, list)
	return list
}
