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

// drawn keeps the result of initialComments: a test runs many times on one article, also
// side by side.
var drawn sync.Map // func() []Comment by article

// initialComments lists the initial comments of an article in their order.
func initialComments(article int) []Comment {
	once, _ := drawn.LoadOrStore(article, sync.OnceValue(func() []Comment { return drawComments(article) }))
	return once.(func() []Comment)()
}

// drawComments draws the initial comments of an article.
func drawComments(article int) (list []Comment) {
	err := eachComment(func(c Comment) error {
		if c.Article == article {
			list = append(list, c)
		}
		return nil
	})
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return list
}
