/** Writes the text of a page as Markdown. White space is collapsed as a browser does it, except in `<pre>`. */

const BLOCKS = new Set(
  [
    'address article aside blockquote body center details dialog dd div dl dt fieldset figcaption figure footer form',
    'header hr legend main nav ol p pre section summary table tbody thead tfoot tr ul',
  ]
    .join(' ')
    .split(' '),
)

/** Deeper lists are not indented further, else a page of nested lists would grow with the square of its length. */
const DEEPEST_INDENT = 8

interface OpenList {
  /** The number of the next item; undefined in a list without numbers. */
  next: number | undefined
}

export class PageWriter {
  readonly #base: string
  readonly #parts: string[] = []
  readonly #lists: OpenList[] = []
  #preDepth = 0
  #isAtPreStart = false
  /** The line breaks before the next text. */
  #breaks = 0
  #hasSpace = false
  /** The text starts here, or a cell of a table: no line break comes before the next text. */
  #isFresh = true
  #isInRow = false
  /** The mark of a heading or an item; written with its text, so that an empty one leaves nothing. */
  #marker = ''
  #link: { readonly to: string; isWritten: boolean } | undefined

  /** `base`: the address of the page. */
  constructor(base: string) {
    this.#base = base
  }

  toText(): string {
    this.#closeLink()
    return this.#parts.join('').trimEnd()
  }

  write(text: string): void {
    if (this.#preDepth > 0) this.#writeAsIs(text)
    else this.#writeWords(text)
  }

  #writeWords(text: string): void {
    const words = text.replaceAll(/\s+/g, ' ')
    if (words.startsWith(' ')) this.#hasSpace = true
    const trimmed = words.trim()
    if (trimmed === '') return
    this.#startText()
    this.#parts.push(trimmed)
    this.#hasSpace = words.endsWith(' ')
  }

  /** Line breaks at the end wait for the next text: those before `</pre>` are not displayed. */
  #writeAsIs(raw: string): void {
    // Nor is the one right after `<pre>`.
    const text = this.#isAtPreStart ? raw.replace(/^\r?\n/, '') : raw
    this.#isAtPreStart = false
    let end = text.length
    while (text[end - 1] === '\n' || text[end - 1] === '\r') end -= 1
    if (end > 0) {
      this.#startText()
      this.#parts.push(text.slice(0, end))
    }
    this.#breaks += text.slice(end).split('\n').length - 1
  }

  openElement(tag: string, { href, alt }: { readonly href?: string; readonly alt?: string }): void {
    const heading = /^h([1-6])$/.exec(tag)
    if (heading) this.#openMarked(2, `${'#'.repeat(Number(heading[1]))} `)
    else if (tag === 'br') this.#breaks = Math.min(this.#breaks + 1, 2)
    else if (tag === 'li') this.#openItem()
    else if (tag === 'td' || tag === 'th') this.#openCell()
    else if (tag === 'img') this.write(imageText(alt))
    else if (tag === 'a') this.#openLink(href)
    else if (BLOCKS.has(tag)) this.#openBlock(tag)
  }

  closeElement(tag: string): void {
    if (tag === 'a') this.#closeLink()
    else if (tag === 'li') this.#closeMarked(1)
    else if (/^h[1-6]$/.test(tag)) this.#closeMarked(2)
    else if (BLOCKS.has(tag)) this.#closeBlock(tag)
  }

  #openMarked(breaks: number, marker: string): void {
    this.#break(breaks)
    this.#marker = marker
  }

  #closeMarked(breaks: number): void {
    this.#marker = ''
    this.#break(breaks)
  }

  #openItem(): void {
    const list = this.#lists.at(-1)
    const indent = '  '.repeat(Math.max(0, Math.min(this.#lists.length - 1, DEEPEST_INDENT)))
    this.#openMarked(1, `${indent}${list?.next === undefined ? '-' : `${list.next}.`} `)
    if (list?.next !== undefined) list.next += 1
  }

  #openBlock(tag: string): void {
    this.#breakForBlock(tag)
    if (tag === 'ul') this.#lists.push({ next: undefined })
    if (tag === 'ol') this.#lists.push({ next: 1 })
    if (tag === 'pre') {
      this.#preDepth += 1
      this.#isAtPreStart = true
    }
  }

  #closeBlock(tag: string): void {
    if (tag === 'ul' || tag === 'ol') this.#lists.pop()
    if (tag === 'pre') {
      this.#preDepth = Math.max(0, this.#preDepth - 1)
      this.#breaks = 0
    }
    this.#breakForBlock(tag)
  }

  #breakForBlock(tag: string): void {
    if (tag === 'tr' || tag === 'table') {
      // The last cell of a row may be empty: the next row starts a new line nevertheless.
      this.#isFresh = this.#parts.length === 0
      this.#isInRow = false
    }
    this.#break(tag === 'tr' || this.#lists.length > 0 ? 1 : 2)
  }

  #break(lines: number): void {
    if (!this.#isFresh) this.#breaks = Math.max(this.#breaks, lines)
  }

  #openCell(): void {
    // Blocks in a cell do not end its row.
    if (this.#isInRow) this.#breaks = 0
    this.#hasSpace = true
    this.#startText()
    this.#parts.push('|')
    this.#hasSpace = true
    this.#isFresh = true
    this.#isInRow = true
  }

  /** Writes what comes before a text: line breaks or a space, the mark of a heading or item, the start of a link. */
  #startText(): void {
    if (this.#breaks > 0 && !this.#isFresh) this.#parts.push('\n'.repeat(this.#breaks))
    else if (this.#hasSpace && this.#parts.length > 0) this.#parts.push(' ')
    this.#parts.push(this.#marker)
    this.#marker = ''
    this.#breaks = 0
    this.#hasSpace = false
    this.#isFresh = false
    if (this.#link === undefined || this.#link.isWritten) return
    this.#parts.push('[')
    this.#link.isWritten = true
  }

  /** Links cannot be nested: an open one ends here. */
  #openLink(href: string | undefined): void {
    this.#closeLink()
    const link = href?.trim() ?? '#'
    const to = !link.startsWith('#') && URL.canParse(link, this.#base) ? new URL(link, this.#base) : undefined
    if (to && /^https?:$/.test(to.protocol)) this.#link = { to: to.href, isWritten: false }
  }

  #closeLink(): void {
    if (this.#link?.isWritten) this.#parts.push(`](${this.#link.to})`)
    this.#link = undefined
  }
}

const imageText = (alt: string | undefined): string => (alt?.trim() ? `[image: ${alt.trim()}]` : '')
