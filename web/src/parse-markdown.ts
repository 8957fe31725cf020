/** Markdown as a tree of parts. Pure. HTML stays text. */

import MarkdownIt, { type StateInline, type Token } from 'markdown-it'

/** A part of a text. Unknown kinds are drawn as their text. */
export interface Part {
  /** The token's type in markdown-it, without `_open`. */
  readonly kind: string
  /** Of a part without parts. */
  readonly text: string
  readonly parts: readonly Part[]
  /** `h1` and so on. */
  readonly tag: string
  readonly attributes: Readonly<Record<string, string>>
}

interface OpenPart extends Part {
  readonly parts: Part[]
}

/** Longer texts are not parsed: that would keep the page busy. */
const MAX_CHARS = 60_000
/** Ordinary texts of that length need fewer than 10,000, lists of single words 60,000. */
const MAX_STEPS = 150_000
/** Of lists and quotes, of which each is one or two. */
const MAX_LEVELS = 24
/** Emphasis in emphasis comes on top. */
const MAX_DEPTH = 60

class TooMuch extends Error {}

let steps = 0

/** A rule that is tried wherever the parser tries others, and never matches. */
function limitSteps(state: { readonly level: number }): false {
  steps += 1
  if (steps > MAX_STEPS || state.level > MAX_LEVELS) throw new TooMuch()
  return false
}

// Blocks that nest deeper than the parser's own limit would be left out.
const parser = new MarkdownIt({ linkify: true, maxNesting: MAX_LEVELS * 2 })
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false })
parser.block.ruler.before('table', 'limit', limitSteps, {
  alt: ['paragraph', 'reference', 'blockquote', 'list', 'table'],
})
parser.inline.ruler.before('text', 'limit', limitSteps)

const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u

/** Between Chinese characters there are no blanks that would tell where emphasis begins and ends. */
class InlineState extends parser.inline.State {
  override scanDelims(start: number, canSplitWord: boolean): ReturnType<StateInline['scanDelims']> {
    const found = super.scanDelims(start, canSplitWord)
    if (!canSplitWord) return found
    const before = [...this.src.slice(Math.max(0, start - 2), start)].at(-1) ?? ' '
    const next = String.fromCodePoint(this.src.codePointAt(start + found.length) ?? 0x20)
    const canOpen = found.can_open || (CJK.test(before) && next.trim() !== '')
    const canClose = found.can_close || (CJK.test(next) && before.trim() !== '')
    return { ...found, can_open: canOpen, can_close: canClose }
  }
}
parser.inline.State = InlineState

/** Contract: undefined if the text is too long or would take too long; such a text is shown as it is. */
export function parseMarkdown(text: string): readonly Part[] | undefined {
  if (text.length > MAX_CHARS) return undefined
  steps = 0
  try {
    return toTree(parser.parse(text, {}))
  } catch (error) {
    if (error instanceof TooMuch) return undefined
    throw error
  }
}

function toTree(tokens: readonly Token[]): readonly Part[] {
  const root: Part[] = []
  const open: Part[][] = [root]
  for (const token of tokens) {
    const parts = open.at(-1) ?? root
    if (token.type === 'inline') parts.push(...toTree(token.children ?? []))
    // The paragraphs of a list without empty lines.
    else if (token.hidden) continue
    else if (token.nesting === -1) open.pop()
    else {
      const part = toPart(token)
      parts.push(part)
      if (token.nesting === 1) open.push(part.parts)
      if (open.length > MAX_DEPTH) throw new TooMuch()
    }
  }
  return root
}

function toPart({ type, tag, content, attrs }: Token): OpenPart {
  const attributes = Object.fromEntries(attrs?.map(([name, value]) => [name, String(value)]) ?? [])
  return { kind: type.replace(/_open$/, ''), text: content, tag, attributes, parts: [] }
}

const TASK = /^\[([ x])\]\s+/i

/** Contract: whether a task in a list is done, and its content without the box; undefined for other items. */
export function readTask({ parts }: Part): { readonly isDone: boolean; readonly parts: readonly Part[] } | undefined {
  const [first, ...others] = parts
  if (first?.kind === 'paragraph') {
    const task = readTask(first)
    return task && { ...task, parts: [{ ...first, parts: task.parts }, ...others] }
  }
  const box = first?.kind === 'text' ? TASK.exec(first.text) : null
  if (!first || !box) return undefined
  return { isDone: box[1] !== ' ', parts: [{ ...first, text: first.text.slice(box[0].length) }, ...others] }
}
