/** How many columns a text takes in a terminal: Chinese characters and most emoji take two. */

import { createRequire } from 'node:module'

export function textWidth(text: string): number {
  return isPlain(text) ? text.length : measureWidth(text)
}

/** Contract: at most `max` columns, the last one an ellipsis if the text is longer. No character is cut in two. */
export function truncateToWidth(text: string, max: number): string {
  if (textWidth(text) <= max) return text
  if (isPlain(text)) return `${text.slice(0, max - 1)}…`
  let kept = ''
  let width = 0
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    width += textWidth(segment)
    if (width > max - 1) break
    kept += segment
  }
  return `${kept}…`
}

const isPlain = (text: string): boolean => /^[\x20-\x7e]*$/.test(text)

/** Loaded at the first text that needs it: most tables have plain text only, and loading takes milliseconds. */
function measureWidth(text: string): number {
  const { default: stringWidth } = createRequire(import.meta.url)('string-width') as typeof import('string-width')
  return stringWidth(text)
}
