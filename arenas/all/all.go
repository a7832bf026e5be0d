// Package all links every arena into the program. It holds nothing else.
package all

import (
	_ "github.com/iikanji/iikanji/arenas/goldrush"     // HighLoad Cup 2021
	_ "github.com/iikanji/iikanji/arenas/isublog"      // the first ISUCON
	_ "github.com/iikanji/iikanji/arenas/isucholar"    // ISUCON 11 final
	_ "github.com/iikanji/iikanji/arenas/isucondition" // ISUCON 11 qualifier
	_ "github.com/iikanji/iikanji/arenas/isuports"     // ISUCON 12 qualifier
	_ "github.com/iikanji/iikanji/arenas/isutrain"     // ISUCON 9 final
	_ "github.com/iikanji/iikanji/arenas/isuumo"       // ISUCON 10 qualifier
	_ "github.com/iikanji/iikanji/arenas/isuxi"        // ISUCON 5 qualifier
	_ "github.com/iikanji/iikanji/arenas/xsuportal"    // ISUCON 10 final
)
