/**
 * Converts HTML to text: keeps headings, lists, tables, links and preformatted text; drops what is not displayed.
 *
 * The tokenizer of htmlparser2 finds tags, attributes and character references. Its parser is not used: it searches
 * the list of open elements at each tag, so that a page of 1 MB can keep it busy for minutes. This takes linear time.
 */

import { createRequire } from 'node:module'
import { PageWriter } from './page-writer.ts'

/** Elements whose content is not text of the page. */
const HIDDEN = new Set(
  'script style noscript template svg math iframe object canvas audio video select noembed noframes'.split(' '),
)

interface PageText {
  readonly title: string
  readonly text: string
}

/** `base`: the address of the page, against which relative links are resolved. */
export function htmlToText(html: string, base: string): PageText {
  // Loaded here because few commands read a page.
  const { Tokenizer } = createRequire(import.meta.url)('htmlparser2') as typeof import('htmlparser2')
  const page = new PageReader(html, base)
  const tokenizer = new Tokenizer({}, page)
  tokenizer.write(html)
  tokenizer.end()
  return page.toPageText()
}

type TokenizerEvents = ConstructorParameters<typeof import('htmlparser2').Tokenizer>[1]

/** Receives the tokens of a page as positions in `html`, and writes what is displayed. */
class PageReader implements TokenizerEvents {
  readonly #html: string
  readonly #writer: PageWriter
  /** The text that was read last and is not yet written: text that contains `<` or `&` comes in many pieces. */
  #text = { start: 0, end: 0 }
  #title: string | undefined
  #inTitle = false
  /** The outermost open element whose content is not displayed, and how many of its name are open. */
  #hidden: { readonly tag: string; depth: number } | undefined
  #tag = ''
  #attributeName = ''
  #attributes: { href?: string; alt?: string } = {}

  constructor(html: string, base: string) {
    this.#html = html
    this.#writer = new PageWriter(base)
  }

  toPageText(): PageText {
    this.#flushText()
    return { title: (this.#title ?? '').replaceAll(/\s+/g, ' ').trim(), text: this.#writer.toText() }
  }

  ontext(start: number, end: number): void {
    if (this.#hidden !== undefined) return
    if (start !== this.#text.end) this.#flushText()
    this.#text = { start: start === this.#text.end ? this.#text.start : start, end }
  }

  #flushText(): void {
    const { start, end } = this.#text
    this.#text = { start: end, end }
    if (end > start) this.#addText(this.#html.slice(start, end))
  }

  ontextentity(codePoint: number): void {
    this.#flushText()
    if (this.#hidden === undefined) this.#addText(String.fromCodePoint(codePoint))
  }

  #addText(text: string): void {
    if (this.#inTitle) this.#title += text
    else this.#writer.write(text)
  }

  onopentagname(start: number, end: number): void {
    this.#tag = this.#html.slice(start, end).toLowerCase()
    this.#attributes = {}
  }

  onattribname(start: number, end: number): void {
    this.#attributeName = this.#html.slice(start, end).toLowerCase()
  }

  onattribdata(start: number, end: number): void {
    this.#addToAttribute(this.#html.slice(start, end))
  }

  onattribentity(codePoint: number): void {
    this.#addToAttribute(String.fromCodePoint(codePoint))
  }

  #addToAttribute(text: string): void {
    const name = this.#attributeName
    if (name === 'href' || name === 'alt') this.#attributes[name] = (this.#attributes[name] ?? '') + text
  }

  onopentagend(): void {
    const tag = this.#tag
    this.#flushText()
    if (this.#hidden !== undefined) this.#hidden.depth += this.#hidden.tag === tag ? 1 : 0
    else if (HIDDEN.has(tag)) this.#hidden = { tag, depth: 1 }
    else if (tag === 'title') this.#openTitle()
    else this.#writer.openElement(tag, this.#attributes)
  }

  /** Only elements of SVG and MathML can close themselves; HTML ignores the slash. */
  onselfclosingtag(): void {
    if (this.#tag !== 'svg' && this.#tag !== 'math') this.onopentagend()
  }

  onclosetag(start: number, end: number): void {
    const tag = this.#html.slice(start, end).toLowerCase()
    this.#flushText()
    if (this.#hidden !== undefined) this.#closeHidden(tag)
    else if (tag === 'title') this.#inTitle = false
    else this.#writer.closeElement(tag)
  }

  #closeHidden(tag: string): void {
    if (this.#hidden?.tag !== tag) return
    this.#hidden.depth -= 1
    if (this.#hidden.depth === 0) this.#hidden = undefined
  }

  /** The first title is the page's; a later one is dropped. */
  #openTitle(): void {
    if (this.#title === undefined) {
      this.#title = ''
      this.#inTitle = true
    } else this.#hidden = { tag: 'title', depth: 1 }
  }

  isInForeignContext(): boolean {
    return this.#hidden?.tag === 'svg' || this.#hidden?.tag === 'math'
  }

  // A repeated attribute is ignored by browsers; this reader appends it, which no page relies on.
  onattribend(): void {}
  oncomment(): void {}
  oncdata(): void {}
  ondeclaration(): void {}
  onprocessinginstruction(): void {}
  onend(): void {}
}
