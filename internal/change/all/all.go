// Package all links every kind of change, in alphabetical order.
package all

import (
	_ "github.com/iikanji/iikanji/internal/change/appenv"
	_ "github.com/iikanji/iikanji/internal/change/ddl"
	_ "github.com/iikanji/iikanji/internal/change/gocode"
	_ "github.com/iikanji/iikanji/internal/change/httpcache"
	_ "github.com/iikanji/iikanji/internal/change/mysqlconf"
	_ "github.com/iikanji/iikanji/internal/change/nginxconf"
	_ "github.com/iikanji/iikanji/internal/change/ondemand"
	_ "github.com/iikanji/iikanji/internal/change/parameter"
	_ "github.com/iikanji/iikanji/internal/change/patch"
	_ "github.com/iikanji/iikanji/internal/change/sysctl"
	_ "github.com/iikanji/iikanji/internal/change/topology"
	_ "github.com/iikanji/iikanji/internal/change/unit"
	_ "github.com/iikanji/iikanji/internal/change/workers"
)
