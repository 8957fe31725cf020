/**
 * Converts HTML to text in one pass: keeps headings, lists, tables and links; drops everything that is not displayed.
 */

const HIDDEN = new Set([
  'script',
  'style',
  'noscript',
  'template',
  'svg',
  'math',
  'iframe',
  'object',
  'canvas',
  'audio',
  'video',
  'select',
])
const BLOCKS = new Set([
  ...[
    'address',
    'article',
    'aside',
    'blockquote',
    'body',
    'details',
    'dialog',
    'dd',
    'div',
    'dl',
    'dt',
    'fieldset',
    'figcaption',
    'figure',
  ],
  ...[
    'footer',
    'form',
    'header',
    'hr',
    'legend',
    'main',
    'nav',
    'ol',
    'p',
    'pre',
    'section',
    'summary',
    'table',
    'tbody',
    'thead',
    'tr',
    'ul',
  ],
])
const NAMED: Readonly<Record<string, string>> = {
  ...{
    amp: '&',
    lt: '<',
    gt: '>',
    quot: '"',
    apos: "'",
    nbsp: ' ',
    copy: '©',
    reg: '®',
    trade: '™',
    hellip: '…',
    mdash: '—',
    ndash: '–',
  },
  ...{
    lsquo: '‘',
    rsquo: '’',
    ldquo: '“',
    rdquo: '”',
    laquo: '«',
    raquo: '»',
    bull: '•',
    middot: '·',
    times: '×',
    deg: '°',
    euro: '€',
  },
  ...{
    pound: '£',
    yen: '¥',
    sect: '§',
    para: '¶',
    auml: 'ä',
    ouml: 'ö',
    uuml: 'ü',
    Auml: 'Ä',
    Ouml: 'Ö',
    Uuml: 'Ü',
    szlig: 'ß',
    eacute: 'é',
  },
}

export interface PageText {
  readonly title: string
  readonly text: string
}

/** `base`: the address of the page, against which relative links are resolved. */
export function htmlToText(html: string, base: string): PageText {
  const page = new Page(base)
  for (let at = 0; at < html.length; ) {
    const next = html.indexOf('<', at)
    page.addText(html.slice(at, next < 0 ? html.length : next))
    at = next < 0 ? html.length : readMarkup(html, next, page)
  }
  return page.toText()
}

/** Contract: handles the markup at `at` and returns the position after it. */
function readMarkup(html: string, at: number, page: Page): number {
  if (html.startsWith('<!--', at)) return indexAfter(html, '-->', at + 4)
  if (/[!?]/.test(html[at + 1] ?? '')) return indexAfter(html, '>', at + 1)
  const [, slash = '', name = ''] = matchAt(/<(\/?)([a-z][a-z0-9-]*)/iy, html, at) ?? []
  if (name === '') {
    page.addText('<')
    return at + 1
  }
  const start = at + 1 + slash.length + name.length
  const end = endOfTag(html, start)
  const tag = name.toLowerCase()
  if (slash !== '') page.close(tag)
  else page.open(tag, html.slice(start, end))
  return slash === '' && HIDDEN.has(tag) ? endOfElement(html, tag, end) : end + 1
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}

function indexAfter(html: string, mark: string, at: number): number {
  const end = html.indexOf(mark, at)
  return end < 0 ? html.length : end + mark.length
}

/** The index of the `>` that ends the tag. A `>` inside a quoted attribute does not end it. */
function endOfTag(html: string, at: number): number {
  let quote = ''
  for (let i = at; i < html.length; i += 1) {
    const char = html[i] ?? ''
    if (quote !== '') quote = char === quote ? '' : quote
    else if (char === '>') return i
    else if ((char === '"' || char === "'") && /=\s*$/.test(html.slice(Math.max(at, i - 8), i))) quote = char
  }
  return html.length
}

function endOfElement(html: string, tag: string, at: number): number {
  const end = matchAt(new RegExp(`</${tag}(?![a-z0-9-])`, 'gi'), html, at)
  return end ? indexAfter(html, '>', end.index) : html.length
}

function attribute(attributes: string, name: string): string | undefined {
  const found = new RegExp(`(?:^|\\s)${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, 'i').exec(
    attributes.slice(0, 4096),
  )
  const value = found?.[1] ?? found?.[2] ?? found?.[3]
  return value === undefined ? undefined : decodeEntities(value).trim()
}

function decodeEntities(text: string): string {
  return text.replaceAll(/&(#\d{1,7}|#x[0-9a-f]{1,6}|[a-z]{2,8});/gi, (whole, word: string) => {
    if (!word.startsWith('#')) return NAMED[word] ?? whole
    const point = /^#x/i.test(word) ? Number.parseInt(word.slice(2), 16) : Number(word.slice(1))
    return point > 0 && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff) ? String.fromCodePoint(point) : '\ufffd'
  })
}

class Page {
  readonly #base: string
  #text: string[] = []
  #title = ''
  #inTitle = false
  #preDepth = 0
  readonly #links: (string | undefined)[] = []

  constructor(base: string) {
    this.#base = base
  }

  addText(raw: string): void {
    if (raw === '') return
    const text = decodeEntities(raw)
    if (this.#inTitle) this.#title += text
    else this.#text.push(this.#preDepth > 0 ? text : text.replaceAll(/\s+/g, ' '))
  }

  open(tag: string, attributes: string): void {
    const heading = /^h([1-6])$/.exec(tag)
    if (tag === 'title') this.#inTitle = true
    else if (heading) this.#text.push(`\n\n${'#'.repeat(Number(heading[1]))} `)
    else if (tag === 'br') this.#text.push('\n')
    else if (tag === 'li') this.#text.push('\n- ')
    else if (tag === 'td' || tag === 'th') this.#text.push(' | ')
    else if (tag === 'img') this.#text.push(imageText(attribute(attributes, 'alt')))
    else if (tag === 'a') this.#openLink(attribute(attributes, 'href'))
    else if (BLOCKS.has(tag)) this.#text.push('\n\n')
    if (tag === 'pre') this.#preDepth += 1
  }

  close(tag: string): void {
    if (tag === 'title') this.#inTitle = false
    else if (tag === 'a') this.#closeLink()
    else if (tag === 'tr') this.#text.push('\n')
    else if (BLOCKS.has(tag) || /^h[1-6]$/.test(tag)) this.#text.push('\n\n')
    if (tag === 'pre') this.#preDepth = Math.max(0, this.#preDepth - 1)
  }

  #openLink(href: string | undefined): void {
    const to = href !== undefined && URL.canParse(href, this.#base) ? new URL(href, this.#base) : undefined
    const link = to && /^https?:$/.test(to.protocol) && !href?.startsWith('#') ? to.href : undefined
    this.#links.push(link)
    if (link !== undefined) this.#text.push('[')
  }

  #closeLink(): void {
    const link = this.#links.pop()
    if (link !== undefined) this.#text.push(`](${link})`)
  }

  toText(): PageText {
    const lines = this.#text
      .join('')
      .split('\n')
      .map((line) =>
        line
          .trimEnd()
          .replace(/^ +(?=\S)/, ' ')
          .replace(/^ (?! )/, ''),
      )
    const text = lines
      .join('\n')
      .replaceAll(/\n{3,}/g, '\n\n')
      .replaceAll(/\[\s*\]\([^)]*\)/g, '')
      .trim()
    return { title: this.#title.replaceAll(/\s+/g, ' ').trim(), text }
  }
}

const imageText = (alt: string | undefined): string => (alt === undefined || alt === '' ? '' : `[image: ${alt}]`)
