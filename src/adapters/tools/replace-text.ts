/** Replaces a passage that occurs exactly once in a text, or explains why that is not possible. */

export type TextReplacement =
  | { readonly kind: 'replaced'; readonly text: string; readonly line: number }
  | { readonly kind: 'refused'; readonly why: string }

/** `look`: words that tell the model how to view the current text. */
export function replaceText(text: string, old: string, fresh: string, name: string, look: string): TextReplacement {
  const refuse = (why: string): TextReplacement => ({ kind: 'refused', why })
  if (old === fresh) return refuse('old and new are the same')
  const [at, ...more] = occurrences(text, old)
  if (at === undefined) return refuse(`old does not occur in ${name}; ${hint(text, old, look)}`)
  if (more.length > 0) return refuse(describeAmbiguity(text, [at, ...more]))
  const after = text.slice(0, at) + fresh + text.slice(at + old.length)
  return { kind: 'replaced', text: after, line: lineOf(text, at) }
}

/** Where the passage occurs. Overlapping occurrences count, because they make an edit ambiguous too. */
function occurrences(text: string, passage: string): number[] {
  const found: number[] = []
  for (let at = text.indexOf(passage); at !== -1; at = text.indexOf(passage, at + 1)) found.push(at)
  return found
}

const MOST_LINES = 20

function describeAmbiguity(text: string, found: readonly number[]): string {
  const lines = found.slice(0, MOST_LINES).map((at) => lineOf(text, at))
  const where = `${lines.join(', ')}${found.length > MOST_LINES ? ', …' : ''}`
  return `old occurs ${found.length} times, at lines ${where}; include more text so that it occurs once`
}

const MOST_HINTED = 4000

function hint(text: string, passage: string, look: string): string {
  const words = passage.length > MOST_HINTED ? [] : passage.split(/\s+/).filter((word) => word !== '')
  const near = words.length === 0 ? -1 : text.search(new RegExp(words.map(RegExp.escape).join('\\s+')))
  if (near === -1) return `${look} and copy the passage exactly`
  const breaks = text.includes('\r\n') && !passage.includes('\r\n') ? ' (the file ends its lines with \\r\\n)' : ''
  return `a passage that differs only in white space starts at line ${lineOf(text, near)}${breaks}`
}

function lineOf(text: string, at: number): number {
  let line = 1
  for (let next = text.indexOf('\n'); next !== -1 && next < at; next = text.indexOf('\n', next + 1)) line += 1
  return line
}
