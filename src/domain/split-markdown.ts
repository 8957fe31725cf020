/**
 * Splits a Markdown text into parts for a channel with a limit: between blocks (paragraphs, tables, code) if possible,
 * else between lines, sentences or words. Code and tables that are split continue as code and tables. Pure.
 * Invariants: no part is longer than the limit; nothing but white space is lost; no visible character is cut in half.
 */

/** Shortest limit that can be kept. */
const MIN_LENGTH = 16
/** A break before this share of a part is not worth the space that it leaves empty. */
const EARLIEST_BREAK = 0.5
/** A table or code block gets its head again in each part only if that leaves most of the part for the rest. */
const MAX_HEAD_SHARE = 0.5
/** Longest visible character that is looked at. */
const MAX_GRAPHEME = 100

interface Block {
  readonly kind: 'text' | 'heading' | 'code' | 'table'
  readonly lines: readonly string[]
  /** The line breaks between the previous block and this one. */
  readonly gap: string
}

/** Contract: at least one part, each of at most `max` UTF-16 units; a `max` below 16 counts as 16. */
export function splitMarkdown(text: string, max: number): readonly string[] {
  const limit = Math.max(MIN_LENGTH, Math.floor(max))
  if (text.length <= limit) return [text]
  const parts: string[] = []
  let current: readonly Block[] = []
  const flush = (): void => {
    if (current.length > 0) parts.push(joinBlocks(current))
    current = []
  }
  for (const block of parseBlocks(text)) {
    if (joinBlocks([...current, block]).length <= limit) {
      current = [...current, block]
      continue
    }
    // A heading at the end moves on with the block that it belongs to.
    const last = current.at(-1)
    const heading = current.length > 1 && last?.kind === 'heading' ? [last] : []
    current = heading.length > 0 ? current.slice(0, -1) : current
    flush()
    for (const piece of splitBlocks([...heading, block], limit)) {
      flush()
      current = piece
    }
  }
  flush()
  const visible = parts.filter((part) => part.trim() !== '')
  return visible.length > 0 ? visible : ['']
}

const joinBlocks = (blocks: readonly Block[]): string =>
  blocks.map(({ lines, gap }, at) => `${at === 0 ? '' : gap}${lines.join('\n')}`).join('')

/** The blocks of one part after the other. */
function splitBlocks(blocks: readonly Block[], limit: number): readonly (readonly Block[])[] {
  if (joinBlocks(blocks).length <= limit) return [blocks]
  return blocks.flatMap((block) =>
    splitBlock(block, limit).map((piece): readonly Block[] => [{ ...block, lines: [piece] }]),
  )
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/
const closingFence = (marker: string): RegExp => new RegExp(`^ {0,3}${marker[0]}{${marker.length},}\\s*$`)

/** The lines of the text as blocks. A code block without an end reaches to the end of the text. */
function parseBlocks(text: string): readonly Block[] {
  const blocks: Block[] = []
  let lines: string[] = []
  let gap = ''
  let fence: RegExp | undefined
  const close = (): void => {
    if (lines.length > 0) {
      blocks.push({ kind: kindOf(lines), lines, gap })
      gap = '\n'
    }
    lines = []
  }
  for (const line of text.split('\n')) {
    if (fence) {
      lines.push(line)
      if (fence.test(line)) {
        fence = undefined
        close()
      }
      continue
    }
    const [, marker] = FENCE.exec(line) ?? []
    const isBlank = line.trim() === ''
    if (marker !== undefined || isBlank || (lines[0] !== undefined && isRow(line) !== isRow(lines[0]))) close()
    if (isBlank) gap += '\n'
    else lines.push(line)
    if (marker !== undefined) fence = closingFence(marker)
  }
  close()
  return blocks
}

const isRow = (line: string): boolean => line.trimStart().startsWith('|')

function kindOf([first = '', ...rest]: readonly string[]): Block['kind'] {
  if (FENCE.test(first)) return 'code'
  if (isRow(first)) return 'table'
  return rest.length === 0 && /^#{1,6} /.test(first) ? 'heading' : 'text'
}

/** Contract: pieces of at most `limit` characters. */
function splitBlock({ kind, lines }: Block, limit: number): readonly string[] {
  if (lines.join('\n').length <= limit) return [lines.join('\n')]
  if (kind === 'code') return splitCode(lines, limit)
  if (kind === 'table') return splitTable(lines, limit)
  return packLines(lines, limit, breakText)
}

/** Each piece is a code block of its own. */
function splitCode([opening = '', ...rest]: readonly string[], limit: number): readonly string[] {
  const marker = FENCE.exec(opening)?.[1] ?? ''
  const last = rest.at(-1) ?? ''
  const isClosed = closingFence(marker).test(last)
  const [body, closing] = isClosed ? [rest.slice(0, -1), last.trim()] : [rest, marker]
  const frame = opening.length + closing.length + 2
  if (frame > limit * MAX_HEAD_SHARE) return packLines([opening, ...rest], limit, breakText)
  return packLines(body.length > 0 ? body : [''], limit - frame, breakCode).map(
    (piece) => `${opening}\n${piece}\n${closing}`,
  )
}

/** Each piece begins with the head of the table. */
function splitTable(lines: readonly string[], limit: number): readonly string[] {
  const hasHead = /^[\s|:-]+$/.test(lines[1] ?? '')
  const head = hasHead ? `${lines.slice(0, 2).join('\n')}\n` : ''
  if (!hasHead || head.length > limit * MAX_HEAD_SHARE) return packLines(lines, limit, breakText)
  return packLines(lines.slice(2), limit - head.length, breakText).map((piece) => `${head}${piece}`)
}

/** Finds where a line that is longer than `limit` is broken: where its first piece ends, and where the rest begins. */
type BreakLine = (line: string, limit: number) => { readonly end: number; readonly next: number }

/** Contract: as many lines as fit into each piece; a longer line is broken. */
function packLines(lines: readonly string[], limit: number, breakLine: BreakLine): readonly string[] {
  const pieces: string[] = []
  let current: string | undefined
  for (const line of lines) {
    const joined: string = current === undefined ? line : `${current}\n${line}`
    if (joined.length <= limit) {
      current = joined
      continue
    }
    if (current !== undefined) pieces.push(current)
    let rest = line
    while (rest.length > limit) {
      const { end, next } = breakLine(rest, limit)
      pieces.push(rest.slice(0, end))
      rest = rest.slice(next)
    }
    current = rest
  }
  return current === undefined ? pieces : [...pieces, current]
}

/** Breaks after a sentence, else at a space, else between characters. */
const breakText: BreakLine = (line, limit) => {
  const window = line.slice(0, limit)
  const sentence = lastEnd(window, /[。！？；…](?=.)|[.!?;](?=\s)/gu)
  const word = lastEnd(window, /[，、：](?=.)|\S(?=\s)/gu)
  const end = [sentence, word].find((at) => at >= limit * EARLIEST_BREAK) ?? breakCode(line, limit).end
  const spaces = /^\s*/.exec(line.slice(end))?.[0].length ?? 0
  return { end, next: end + spaces }
}

const lastEnd = (text: string, pattern: RegExp): number => {
  let end = 0
  for (const match of text.matchAll(pattern)) end = match.index + match[0].length
  return end
}

const breakCode: BreakLine = (line, limit) => {
  const near = line.slice(0, limit + MAX_GRAPHEME)
  const start = graphemes.segment(near).containing(limit)?.index ?? limit
  // A character of hundreds of code points is cut between two of them.
  const isPair = /[\uD800-\uDBFF]/.test(line[limit - 1] ?? '')
  const end = start > 0 ? start : isPair ? limit - 1 : limit
  return { end, next: end }
}

const graphemes = new Intl.Segmenter()
