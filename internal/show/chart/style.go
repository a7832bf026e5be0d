package chart

// CSS is the style sheet of the charts, with the colours of a light and of a dark
// page. A page includes it once.
const CSS = `:root{--ink:#1c1f24;--dim:#5b6370;--rule:#d5d9e0;--page:#ffffff;--box:#f5f6f8;` +
	`--c1:#0072b2;--c2:#c04a00;--c3:#007a5a;--c4:#8a5a00;--c5:#9a4f84;--c6:#5b6370}
@media (prefers-color-scheme:dark){:root{--ink:#e8eaee;--dim:#a3abb8;--rule:#3a404b;--page:#15171b;--box:#1e2127;` +
	`--c1:#56b4e9;--c2:#ff9a5c;--c3:#35c79c;--c4:#e6b73c;--c5:#e39acb;--c6:#a3abb8}}
@media print{:root{--ink:#000;--dim:#444;--rule:#bbb;--page:#fff;--box:#f5f6f8;` +
	`--c1:#0072b2;--c2:#c04a00;--c3:#007a5a;--c4:#8a5a00;--c5:#9a4f84;--c6:#5b6370}}
svg.chart{display:block;width:100%;height:auto;font:12px/1.2 system-ui,"Noto Sans JP","Hiragino Sans",sans-serif}
svg.chart text{fill:var(--ink)}
svg.chart text.dim{fill:var(--dim)}
svg.chart .rule{stroke:var(--rule);stroke-width:1}
svg.chart .axis{stroke:var(--dim);stroke-width:1}
svg.chart .line{fill:none;stroke-width:1.6}
svg.chart .dashed{stroke-dasharray:6 4}
svg.chart .bound{stroke-width:1.6}
svg.chart .open{fill:var(--page);stroke-width:1.6}
svg.chart .span{fill-opacity:.12}
svg.chart .area{fill-opacity:.28;stroke-width:1}
svg.chart .likely{fill-opacity:.25;stroke-width:1.4;stroke-dasharray:3 2}
svg.chart a:hover{opacity:.6}
svg.chart .k1{fill:var(--c1);stroke:var(--c1)}svg.chart .k2{fill:var(--c2);stroke:var(--c2)}
svg.chart .k3{fill:var(--c3);stroke:var(--c3)}svg.chart .k4{fill:var(--c4);stroke:var(--c4)}
svg.chart .k5{fill:var(--c5);stroke:var(--c5)}svg.chart .k6{fill:var(--c6);stroke:var(--c6)}
svg.chart .open.k1,svg.chart .open.k2,svg.chart .open.k3,svg.chart .open.k4,svg.chart .open.k5,svg.chart .open.k6{fill:var(--page)}
svg.chart .line.k1,svg.chart .line.k2,svg.chart .line.k3,svg.chart .line.k4,svg.chart .line.k5,svg.chart .line.k6{fill:none}
svg.chart .span.k1,svg.chart .span.k2,svg.chart .span.k3,svg.chart .span.k4,svg.chart .span.k5,svg.chart .span.k6{stroke:none}
`

// A Colour is one of the six colours of the style sheet, 1 to 6; 6 is grey.
type Colour int

// Colours of the style sheet.
const (
	Blue Colour = 1 + iota
	Orange
	Green
	Yellow
	Purple
	Grey
)
