package isuxi

import (
	"sync"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/verify"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// styleSum is the sum of the style sheet.
var styleSum = sync.OnceValue(func() verify.Sum { return verify.SumOf(staticFiles()[0].body) })

// checkStyleBytes compares every byte of the style sheet.
func checkStyleBytes(res *scenario.Response) error { return verify.File(res, styleSum(), false) }
