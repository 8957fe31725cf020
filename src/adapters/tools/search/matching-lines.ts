/** Finds the lines of a text that satisfy a condition. */

export interface MatchingLine {
  /** Line number, counted from 1. */
  readonly line: number
  readonly text: string
}

/** Only this many characters of a line are searched; longer lines are usually generated data. */
const MOST_OF_A_LINE = 20_000

export function findLines(matches: (line: string) => boolean, text: string, most: number): MatchingLine[] {
  const hits: MatchingLine[] = []
  let line = 0
  for (let at = 0; at < text.length && hits.length < most; ) {
    const next = text.indexOf('\n', at)
    const end = next < 0 ? text.length : next
    const content = text.slice(at, Math.min(end, at + MOST_OF_A_LINE)).replace(/\r$/, '')
    line += 1
    if (matches(content)) hits.push({ line, text: content })
    at = end + 1
  }
  return hits
}
