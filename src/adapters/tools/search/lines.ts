/** The lines of a text that something is true of. */

export interface Hit {
  /** Counted from 1. */
  readonly line: number
  readonly text: string
}

/** Longer ones are no lines that anybody wrote; of them only the beginning is looked at. */
const MOST_OF_A_LINE = 20_000

export function linesWith(fits: (line: string) => boolean, text: string, most: number): Hit[] {
  const hits: Hit[] = []
  let line = 0
  for (let at = 0; at < text.length && hits.length < most; ) {
    const next = text.indexOf('\n', at)
    const end = next < 0 ? text.length : next
    const content = text.slice(at, Math.min(end, at + MOST_OF_A_LINE)).replace(/\r$/, '')
    line += 1
    if (fits(content)) hits.push({ line, text: content })
    at = end + 1
  }
  return hits
}
