// Finds what somebody means by some of its letters.

export { fuzzyFilter } from "@earendil-works/pi-tui/dist/fuzzy.js";
