/** Truncates a text. No cut splits a character that takes two UTF-16 units. Prompts are truncated by tokens instead. */

export interface TruncateOptions {
  /** What ends a truncated text, by default `…`. A function receives the number of missing UTF-16 units. */
  readonly mark?: string | ((missing: number) => string)
  /** Whether the mark counts towards `max`, by default not. A mark that is a function never does. */
  readonly includesMark?: boolean
  /** What `max` counts, by default UTF-16 units, as `length` does. */
  readonly unit?: 'utf16' | 'code_point'
}

export function truncateText(text: string, max: number, options: TruncateOptions = {}): string {
  const { mark = '…', includesMark = false, unit = 'utf16' } = options
  const endAt = unit === 'utf16' ? endOfUnits : endOfCodePoints
  if (text.length <= max || endAt(text, max) === text.length) return text
  const room = includesMark && typeof mark === 'string' ? Math.max(0, max - mark.length) : max
  const end = endAt(text, room)
  return text.slice(0, end) + (typeof mark === 'string' ? mark : mark(text.length - end))
}

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff

function endOfUnits(text: string, max: number): number {
  if (max >= text.length) return text.length
  return isHighSurrogate(text.charCodeAt(max - 1)) ? max - 1 : max
}

function endOfCodePoints(text: string, max: number): number {
  let end = 0
  for (let count = 0; count < max && end < text.length; count += 1) end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1
  return end
}
