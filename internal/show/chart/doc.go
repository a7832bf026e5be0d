// Package chart draws charts as SVG for pages and one-file reports. A chart needs
// no script and no request: values are in its text and in titles that browsers
// show on hover, and its colours are variables of the page's style sheet, see [CSS].
//
// Colour never carries a meaning alone: marks differ in shape, bars of a pair in
// their fill. The colours are those of Okabe and Ito, which the colour-blind can
// tell apart.
//
// All text is hostile: it is escaped, and control characters are replaced.
package chart
